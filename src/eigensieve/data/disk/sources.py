"""How stored data is read: the few calls that each kind of storage answers, its changes, and amounts of memory; and the
kinds with a library of their own: arrays in chunks and sparse matrices (HDF5, Zarr), Parquet columns."""

import os
import re
from abc import ABC, abstractmethod
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csc_array, csr_array, vstack

from eigensieve._errors import wrong_parameter
from eigensieve._extras import require
from eigensieve._types import Array, IntArray, Raw

ALIVE = 3
"""Pieces in memory at a time: one in use, one being read, and one that is being finished or filled again."""

DEFAULT_MEMORY = "1GB"
"""Memory for data read from disk, unless the user sets another amount."""

_SCAN = 1 << 22  # non-zeros read at once when features must be picked out of compressed rows
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class Source(ABC):
    """A stored matrix, samples x features, that is read piece by piece. Its name in messages is usually the path."""

    step: int = 1  # features that one chunk holds (samples, with `by_samples`): reads begin at multiples of it
    by_samples: bool = False  # reading whole samples is much cheaper than reading whole features
    sparse: bool = False  # reads return sparse matrices, compressed along the axis that is cheap to read
    feature_names: Array | None = None
    threads: int = 1  # how many reads may usefully run at the same time

    def __init__(self, name: str, shape: tuple[int, int], dtype: DTypeLike, itemsize: float | None = None) -> None:
        self.name = name
        self.shape = shape
        self.dtype = np.dtype(dtype)
        # bytes that one entry takes in memory, on average: for sparse data much less than a dense entry
        self.itemsize = float(self.dtype.itemsize if itemsize is None else itemsize)
        self.watch: Watch | None = None

    @property
    def nbytes(self) -> float:
        return self.shape[0] * self.shape[1] * self.itemsize

    def largest(self, count: int) -> float:
        """Bytes of the largest piece of `count` features (or samples, with `by_samples`)."""
        return count * self.shape[1 if self.by_samples else 0] * self.itemsize

    def memory(self, count: int) -> Array:
        """Flat memory that `columns` can place `count` features in."""
        return np.empty(self.shape[0] * count, dtype=self.dtype)

    def settle(self, count: int) -> None:  # noqa: B027  (most sources have nothing to decide)
        """Choose how to read, once it is known how many features a piece has."""

    @abstractmethod
    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Raw:
        """Return features start..stop as (n_samples, stop - start): an array, or a sparse matrix. `buffer` is memory
        that `memory` returned for as many features or more; an array may be placed in it."""

    def rows(self, start: int, stop: int) -> Raw:
        """Return samples start..stop as (stop - start, n_features); only for sources with `by_samples`."""
        raise TypeError(f"{self.name} is read along the features only.")

    def subset(self, rows: IntArray) -> "Source":
        """Return some of the samples, named in increasing order."""
        return SampleSubset(self, rows)

    def check(self) -> None:
        """Raise an OSError if the storage has changed since it was opened."""
        if self.watch is not None:
            self.watch.check()


class Watch:
    """Detect changes of a file or folder after it was opened: Zarr reads a chunk that is gone as zeros."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.folder = self.path.is_dir()
        self.seen = self._figures()

    def _figures(self) -> tuple[int, int, int, int]:
        """Return the number of files, their size together, the time of the last change, and the file's identity."""
        if not self.folder:
            status = self.path.stat()
            return 1, status.st_size, status.st_mtime_ns, status.st_ino
        found = [os.stat(os.path.join(folder, name)) for folder, _, names in os.walk(self.path) for name in names]
        return len(found), sum(s.st_size for s in found), max((s.st_mtime_ns for s in found), default=0), 0

    def check(self) -> None:
        """Raise an OSError if the storage has changed."""
        try:
            now = self._figures()
        except FileNotFoundError:  # also a file of the folder, removed during the search
            now = (-1, 0, 0, 0)
        if now == self.seen:
            return
        what, fix = "was written to or replaced", "Let whatever writes it finish, then open it again."
        if now[0] != self.seen[0] and self.folder:
            what, fix = "has chunks that were added or removed", f"Restore them. {fix}"
        elif now[0] != self.seen[0]:
            what, fix = "was removed", "Restore it and run again."
        elif now[1] != self.seen[1] and not self.folder:
            what, fix = "changed size", f"It had {self.seen[1]} bytes and has {now[1]} now. {fix}"
        raise OSError(f"{self.path} {what} while it was being read. {fix}")


class DerivedSource(Source):
    """A source computed from another one."""

    def __init__(self, base: Source, name: str, n_samples: int, dtype: DTypeLike, itemsize: float) -> None:
        super().__init__(name, (n_samples, base.shape[1]), dtype, itemsize)
        self.base = base
        self.step, self.by_samples, self.threads, self.sparse = base.step, base.by_samples, base.threads, base.sparse
        self.feature_names, self.watch = base.feature_names, base.watch

    def memory(self, count: int) -> Array:
        return self.base.memory(count)

    def settle(self, count: int) -> None:
        self.base.settle(count)


class SampleSubset(DerivedSource):
    """Some of the samples of another source, named in increasing order, for subsamples and folds. Everything is read
    and the other samples are left out, so a pass takes as long as over the whole."""

    def __init__(self, base: Source, rows: IntArray) -> None:
        super().__init__(base, f"{base.name} ({len(rows)} samples)", len(rows), base.dtype, base.itemsize)
        self.chosen = rows
        if self.by_samples:
            self.step = 1

    def largest(self, count: int) -> float:
        if not self.by_samples:
            return self.base.largest(count) + super().largest(count)
        last = np.minimum(np.arange(count - 1, len(self.chosen) + count - 1), len(self.chosen) - 1)
        read = int((self.chosen[last] - self.chosen).max()) + 1
        return self.base.largest(read) + super().largest(count)

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Raw:
        return self.base.columns(start, stop, buffer)[self.chosen]

    def rows(self, start: int, stop: int) -> Raw:
        wanted = self.chosen[start:stop]
        first = int(wanted[0])
        return self.base.rows(first, int(wanted[-1]) + 1)[wanted - first]


def chosen_samples(key: Any, n_samples: int) -> IntArray:
    """Return the samples that an index names: indices or a mask for the first axis, everything for the second."""
    if isinstance(key, tuple):
        key, *others = key
        if any(other is not Ellipsis and other != slice(None) for other in others):
            raise TypeError("Stored data is indexed by samples only; use take for features.")
    rows = np.atleast_1d(np.arange(n_samples)[key])
    if rows.ndim > 1 or len(rows) == 0 or (np.diff(rows) <= 0).any():
        raise IndexError("Samples of stored data must be named once each, in increasing order, and at least one.")
    return rows


def parse_bytes(amount: float | str) -> int:
    """Return a number of bytes from a number or from text such as "500MB" or "1.5 GiB"."""
    size = None
    if isinstance(amount, Real) and not isinstance(amount, bool):
        size = int(amount)
    elif isinstance(amount, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]i?)?b?\s*", amount.lower())
        if match:
            size = int(float(match[1]) * _UNITS[match[2] or ""])
    if size is None or size < 1:
        must = "be a number of bytes or text such as '500MB' or '2GiB'"
        raise wrong_parameter("max_memory", "open_data", must, repr(amount))
    return size


def too_little(needed: float, name: str, why: str, max_memory: int) -> ValueError:
    must = f"be at least {show_bytes(needed)} for {name}{why}"
    return wrong_parameter("max_memory", "open_data", must, show_bytes(max_memory))


def show_bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


class ChunkedSource(Source):
    """A chunked array, read along the axis that lets each chunk be read once per pass. `chunks` is the shape of the
    stored chunks; None for contiguous storage. The data is read along the features where all chunks of some features
    fit in `max_memory`, else along the samples."""

    def __init__(
        self,
        array: Any,
        name: str,
        chunks: tuple[int, int] | None,
        max_memory: int,
        path: Any = None,
        feature_names: Array | None = None,
    ) -> None:
        if len(array.shape) != 2 or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} must be a 2-dimensional numeric array (samples x features). "
                f"Got shape {array.shape} and type {array.dtype} instead."
            )
        super().__init__(name, (int(array.shape[0]), int(array.shape[1])), array.dtype)
        self.array = array
        self.feature_names = feature_names
        self.watch = None if path is None else Watch(path)
        n_samples, n_features = self.shape
        if chunks is None:
            return
        high, wide = min(chunks[0], n_samples), min(chunks[1], n_features)
        by_features, by_samples = (size * ALIVE * self.itemsize for size in (n_samples * wide, high * n_features))
        if by_features <= max_memory or wide == 1:
            self.step = wide
        elif by_samples <= max_memory:
            self.by_samples, self.step = True, high
        else:
            shape = f"{chunks[0]} samples x {chunks[1]} features"
            why = f": its chunks are {shape}, and {ALIVE} rows or columns of them must fit to be read once per pass"
            raise too_little(min(by_features, by_samples), name, why, max_memory)

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Array:
        where, shape = (slice(None), slice(start, stop)), (self.shape[0], stop - start)
        if buffer is None or not hasattr(self.array, "read_direct"):
            return np.asarray(self.array[where])
        out = buffer[: shape[0] * shape[1]].reshape(shape)
        self.array.read_direct(out, where)
        return out

    def rows(self, start: int, stop: int) -> Array:
        return np.asarray(self.array[start:stop])


def hdf5_source(dataset: Any, max_memory: int, feature_names: Array | None = None) -> ChunkedSource:
    path = dataset.file.filename
    return ChunkedSource(dataset, f"{path}:{dataset.name}", dataset.chunks, max_memory, path, feature_names)


def zarr_source(array: Any, max_memory: int) -> ChunkedSource:
    """A source for an open Zarr array; a shard counts as a chunk, because it is read as a whole."""
    chunks = getattr(array, "shards", None) or array.chunks
    source = ChunkedSource(array, str(array.store_path if hasattr(array, "store_path") else array), chunks, max_memory)
    source.threads = 2
    folder = getattr(getattr(array, "store", None), "root", None)  # of a store on the local disk
    source.watch = None if folder is None else Watch(folder)
    return source


class SparseSource(Source):
    """Compressed columns (read along the features) or compressed rows (read along the samples). `group` has the members
    ``data``, ``indices``, ``indptr``. Only the pointers, one per column or row, are held in memory."""

    def __init__(
        self,
        group: Any,
        shape: tuple[int, int],
        by_rows: bool,
        name: str,
        watch: Watch,
        feature_names: Array | None = None,
    ) -> None:
        self.values, self.indices = group["data"], group["indices"]
        self.indptr = np.asarray(group["indptr"][:], dtype=np.int64)
        dtype = np.dtype(self.values.dtype)
        stored = int(self.indptr[-1])
        rising = self.indptr[0] == 0 and bool(np.all(np.diff(self.indptr) >= 0))
        if len(self.indptr) != shape[0 if by_rows else 1] + 1 or stored != self.values.shape[0] or not rising:
            raise ValueError(
                f"{name} is not a whole compressed matrix: shape {shape}, {len(self.indptr)} pointers, {stored} "
                f"entries announced, {self.values.shape[0]} stored. The file may be truncated; write it again."
            )
        # Compressed rows take twice the memory: each piece is turned into columns.
        entry = (dtype.itemsize + np.dtype(self.indices.dtype).itemsize) * (2 if by_rows else 1)
        super().__init__(name, shape, dtype, entry * max(1, stored) / max(1, shape[0] * shape[1]))
        self.entry = entry
        self.by_samples, self.sparse = by_rows, True
        self.feature_names = feature_names
        self.watch = watch

    @property
    def nbytes(self) -> float:
        return float(self.indptr[-1]) * self.entry

    def largest(self, count: int) -> float:
        along = self.indptr[:: max(1, count)]
        return float(np.diff(np.append(along, self.indptr[-1])).max(initial=0)) * self.entry

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Raw:
        if not self.by_samples:
            return csc_array(self._cut(start, stop), shape=(self.shape[0], stop - start))
        height = max(1, int(_SCAN / max(1.0, self.indptr[-1] / self.shape[0])))
        rows = (self.rows(at, min(at + height, self.shape[0])) for at in range(0, self.shape[0], height))
        return vstack([some[:, start:stop] for some in rows], format="csc")

    def rows(self, start: int, stop: int) -> Raw:
        found = csr_array(self._cut(start, stop), shape=(stop - start, self.shape[1]))
        found.sum_duplicates()  # does nothing where there are none
        return found

    def _cut(self, start: int, stop: int) -> tuple[Array, IntArray, IntArray]:
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        indices = np.asarray(self.indices[first:last])
        # scipy would turn all indices into the larger type of the two
        pointers = (self.indptr[start : stop + 1] - first).astype(indices.dtype if last - first < 2**31 else np.int64)
        if len(indices) and not 0 <= indices.min() <= indices.max() < self.shape[1 if self.by_samples else 0]:
            raise ValueError("an index is beyond the shape")  # computing with it would crash
        return np.asarray(self.values[first:last]), indices, pointers


def sparse_source(group: Any, name: str, path: Any, feature_names: Array | None = None) -> SparseSource:
    """Return a source for a group in AnnData's encoding of sparse matrices; `path` is watched for changes."""
    kind = group.attrs.get("encoding-type", "")
    if kind not in ("csr_matrix", "csc_matrix"):
        raise ValueError(
            f"{name} must be a dense array or a sparse matrix in AnnData's encoding ('csr_matrix', 'csc_matrix'). "
            f"Got encoding {kind!r} instead."
        )
    rows, columns = (int(size) for size in group.attrs["shape"])
    return SparseSource(group, (rows, columns), kind == "csr_matrix", name, Watch(path), feature_names)


class ParquetSource(Source):
    """A Parquet file whose columns are the features, all numeric."""

    def __init__(self, path: Path) -> None:
        parquet, arrow = require("pyarrow.parquet", extra="disk"), require("pyarrow", extra="disk")
        try:
            self.file = parquet.ParquetFile(path)
            self.names = self.file.schema_arrow.names
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{path} cannot be read as Parquet: {error}. It may be truncated; write it again."
            ) from error
        schema = self.file.schema_arrow
        types = arrow.types
        wrong = [
            f"{field.name!r} ({field.type})"
            for field in schema
            if not (types.is_floating(field.type) or types.is_integer(field.type) or types.is_boolean(field.type))
        ]
        if wrong:
            raise ValueError(
                f"All columns of {path} must be numeric. Got {', '.join(wrong[:5])}"
                f"{f' and {len(wrong) - 5} more' if len(wrong) > 5 else ''} instead; drop or encode them first."
            )
        single = all(field.type == arrow.float32() for field in schema)
        shape = (self.file.metadata.num_rows, len(schema))
        super().__init__(str(path), shape, np.float32 if single else np.float64)
        self.feature_names = np.asarray(self.names, dtype=object)
        self.watch = Watch(path)

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Array:
        count = stop - start
        flat = np.empty(self.shape[0] * count, self.dtype) if buffer is None else buffer[: self.shape[0] * count]
        out = flat.reshape((self.shape[0], count), order="F")
        table = self.file.read(columns=self.names[start:stop], use_threads=False)
        for position, column in enumerate(table.columns):
            out[:, position] = column.to_numpy(zero_copy_only=False)
        return out
