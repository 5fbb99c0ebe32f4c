"""How stored data is read: the few calls that each kind of storage answers, its changes, and amounts of memory."""

import os
import re
from abc import ABC, abstractmethod
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigensieve._types import Array, IntArray

ALIVE = 3
"""Pieces in memory at a time: one in use, one being read, and one that is being finished or filled again."""

DEFAULT_MEMORY = "1GB"
"""Memory for data read from disk, unless the user sets another amount."""

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
    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Any:
        """Return features start..stop as (n_samples, stop - start): an array, or a sparse matrix. `buffer` is memory
        that `memory` returned for as many features or more; an array may be placed in it."""

    def rows(self, start: int, stop: int) -> Any:
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
        count = size = latest = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                status = os.stat(os.path.join(folder, name))
                count, size, latest = count + 1, size + status.st_size, max(latest, status.st_mtime_ns)
        return count, size, latest, 0

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

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Any:
        return self.base.columns(start, stop, buffer)[self.chosen]

    def rows(self, start: int, stop: int) -> Any:
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
        raise ValueError(
            "The 'max_memory' parameter of open_data must be a number of bytes or text such as '500MB' or '2GiB'. "
            f"Got {amount!r} instead."
        )
    return size


def show_bytes(size: float) -> str:
    """Write a number of bytes the way people read it."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
