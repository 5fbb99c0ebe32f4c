"""How stored data is read: the few calls that each kind of storage answers, some of its samples, and a file watch."""

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._types import Array, IntArray

ALIVE = 3
"""Pieces in memory at a time: one in use, one being read, and one that is being finished or filled again."""


class Source(ABC):
    """A stored matrix, samples x features, that is read piece by piece.

    Attributes
    ----------
    name : str
        What messages call it, usually the path.
    shape : tuple of int
        (n_samples, n_features).
    dtype : dtype
        Of the stored values.
    itemsize : float
        Bytes one entry takes in memory, on average (for sparse data much less than a dense entry takes).
    step : int
        Features that one chunk holds (samples, with `by_samples`): reads begin at multiples of it.
    by_samples : bool
        True where reading whole samples is much cheaper than reading whole features.
    sparse : bool
        True where what is read are sparse matrices, compressed along the axis that is cheap to read.
    feature_names : ndarray of str or None
    threads : int
        How many reads may usefully run at the same time.
    """

    step: int = 1
    by_samples: bool = False
    sparse: bool = False
    feature_names: Array | None = None
    threads: int = 1

    def __init__(self, name: str, shape: tuple[int, int], dtype: Any, itemsize: float | None = None) -> None:
        self.name = name
        self.shape = shape
        self.dtype = np.dtype(dtype)
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
        """Return features start..stop as (n_samples, stop - start): an array, or a sparse matrix.

        `buffer` is memory that `memory` returned for as many features or more; an array may be placed in it.
        """

    def rows(self, start: int, stop: int) -> Any:
        """Return samples start..stop as (stop - start, n_features); only for sources with `by_samples`."""
        raise TypeError(f"{self.name} is read along the features only.")

    def subset(self, rows: IntArray) -> "Source":
        """Return some of the samples, named in increasing order."""
        return SampleSubset(self, rows)

    def check(self) -> None:
        """Raise when what is stored has changed since it was opened."""
        if self.watch is not None:
            self.watch.check()


class Watch(ABC):
    """Notice when what is stored is no longer what was opened.

    Parameters
    ----------
    path : path-like
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.seen = self._look()

    @abstractmethod
    def _look(self) -> tuple[int, int, int]:
        """Return figures that change with what is stored."""

    @abstractmethod
    def check(self) -> None:
        """Raise an OSError when the figures have changed."""


class FileWatch(Watch):
    """Notice when a file is no longer the one that was opened."""

    def _look(self) -> tuple[int, int, int]:
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns, status.st_ino

    def check(self) -> None:
        try:
            now = self._look()
        except FileNotFoundError as error:
            raise OSError(f"{self.path} was removed while it was being read. Restore it and run again.") from error
        if now[0] != self.seen[0]:
            raise OSError(
                f"{self.path} changed size while it was being read: {self.seen[0]} bytes when opened, {now[0]} now. "
                "Let whatever writes it finish, then open it again."
            )
        if now != self.seen:
            raise OSError(
                f"{self.path} was written to or replaced while it was being read. "
                "Let whatever writes it finish, then open it again."
            )


class FolderWatch(Watch):
    """Notice when files in a folder were added, removed or written to: Zarr reads a chunk that is gone as zeros."""

    def _look(self) -> tuple[int, int, int]:
        """How many files there are, how large they are together, and when the last of them was written."""
        count = size = latest = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                status = os.stat(os.path.join(folder, name))
                count, size, latest = count + 1, size + status.st_size, max(latest, status.st_mtime_ns)
        return count, size, latest

    def check(self) -> None:
        try:
            now = self._look()
        except FileNotFoundError:  # removed while we look
            now = (-1, 0, 0)
        if now[0] != self.seen[0]:
            raise OSError(
                f"Chunks of {self.path} were added or removed while it was being read. "
                "Restore them or let whatever writes it finish, then open it again."
            )
        if now != self.seen:
            raise OSError(
                f"{self.path} was written to while it was being read. "
                "Let whatever writes it finish, then open it again."
            )


class SampleSubset(Source):
    """Some of the samples of another source, for subsamples and folds.

    Everything is read and the other samples are left out, so a pass takes as long as over the whole.

    Parameters
    ----------
    base : Source
    rows : ndarray of int
        Which samples, in increasing order.
    """

    def __init__(self, base: Source, rows: IntArray) -> None:
        super().__init__(f"{base.name} ({len(rows)} samples)", (len(rows), base.shape[1]), base.dtype, base.itemsize)
        self.base = base
        self.chosen = rows
        self.step, self.by_samples, self.threads, self.sparse = base.step, base.by_samples, base.threads, base.sparse
        self.feature_names, self.watch = base.feature_names, base.watch
        if self.by_samples:
            self.step = 1

    def largest(self, count: int) -> float:
        if not self.by_samples:
            return self.base.largest(count) + super().largest(count)
        last = np.minimum(np.arange(count - 1, len(self.chosen) + count - 1), len(self.chosen) - 1)
        read = int((self.chosen[last] - self.chosen).max()) + 1
        return self.base.largest(read) + super().largest(count)

    def memory(self, count: int) -> Array:
        return self.base.memory(count)

    def settle(self, count: int) -> None:
        self.base.settle(count)

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
