"""What files with a library of their own hold: arrays in chunks and sparse matrices (HDF5, Zarr), Parquet columns."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from eigensieve._extras import require
from eigensieve._types import Array, IntArray
from eigensieve.data.disk.sources import ALIVE, Source, Watch, show_bytes

_SCAN = 1 << 22  # non-zeros read at once when features must be picked out of compressed rows


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
            raise ValueError(
                "The 'max_memory' parameter of open_data must be at least "
                f"{show_bytes(min(by_features, by_samples))} for {name}: its chunks are {chunks[0]} samples x "
                f"{chunks[1]} features, and {ALIVE} rows or columns of chunks must fit, or every chunk would be "
                f"read many times per pass. Got {show_bytes(max_memory)} instead."
            )

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

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Any:
        if not self.by_samples:
            return csc_array(self._cut(start, stop), shape=(self.shape[0], stop - start))
        height = max(1, int(_SCAN / max(1.0, self.indptr[-1] / self.shape[0])))
        rows = (self.rows(at, min(at + height, self.shape[0])) for at in range(0, self.shape[0], height))
        return vstack([some[:, start:stop] for some in rows], format="csc")

    def rows(self, start: int, stop: int) -> Any:
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
