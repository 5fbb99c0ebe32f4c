"""Some samples of stored data: what subsamples and folds are made of."""

from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.disk.sources import Source


class SampleSubset(Source):
    """Some of the samples of another source.

    Everything is read as from the whole, and the other samples are left out: a pass takes as long.

    Parameters
    ----------
    base : Source
    rows : ndarray of int
        Which samples, in increasing order.
    """

    def __init__(self, base: Source, rows: Array) -> None:
        super().__init__(f"{base.name} ({len(rows)} samples)", (len(rows), base.shape[1]), base.dtype, base.itemsize)
        self.base = base
        self.chosen = rows
        self.step, self.by_samples, self.threads = base.step, base.by_samples, base.threads
        self.feature_names, self.watch = base.feature_names, base.watch
        if self.by_samples:
            self.step = 1

    def largest(self, count: int) -> float:
        if not self.by_samples:
            return self.base.largest(count) + super().largest(count)
        last = np.minimum(np.arange(count - 1, len(self.chosen) + count - 1), len(self.chosen) - 1)
        span = int((self.chosen[last] - self.chosen).max()) + 1
        return self.base.largest(span) + super().largest(count)

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


def chosen_samples(key: Any, n_samples: int) -> Array:
    """The samples an index names: indices or a mask of the first axis, all of the second."""
    if isinstance(key, tuple):
        key, *others = key
        if any(other is not Ellipsis and other != slice(None) for other in others):
            raise TypeError("Stored data is indexed by samples only; use take for features.")
    rows = np.atleast_1d(np.arange(n_samples)[key])
    if rows.ndim > 1 or len(rows) == 0 or (np.diff(rows) <= 0).any():
        raise IndexError("Samples of stored data must be named once each, in increasing order, and at least one.")
    return rows
