"""Features cut into bins of equal width, and sums of weights over the samples in each bin."""

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np

from eigensieve._types import Array
from eigensieve.elements._guided_numba import bin_sums, order_by_bin

BINS = 32
SCREENED = 4096
"""Candidates are screened on at most this many samples."""

_SHARED = 1 << 18  # entries; the sums of fewer are done before a second thread has started


def bin_codes(values: Array, low: Array, step: Array) -> Array:
    """Return the bin of each value (samples x features). Values outside the range go to the first or the last bin."""
    return np.ascontiguousarray(np.clip((values - low) / step, 0, BINS - 1).astype(np.uint8))


class FeatureBins:
    """The samples of every feature, ordered by bin.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_features)
        As `bin_codes` returns them.
    pool : Executor
        Two threads share the features, if there are many.
    """

    def __init__(self, codes: Array, pool: Executor) -> None:
        self.pool = pool
        codes = np.ascontiguousarray(codes.T)
        self.order = np.empty(codes.shape, dtype=np.uint16)
        self.edges = np.empty((len(codes), BINS + 1), dtype=np.int32)
        order_by_bin(codes, self.order, self.edges)
        self.shared = codes.size >= _SHARED

    def share(self, work: Callable[[slice], None], count: int) -> None:
        """Do the work on all of `count` items, in two threads if there are many entries."""
        middle = count // 2
        parts = (slice(0, middle), slice(middle, count)) if self.shared and middle else (slice(0, count),)
        list(self.pool.map(work, parts) if len(parts) > 1 else map(work, parts))

    def sums(self, weights: Array) -> Array:
        """Return the sums of the weights (samples x m) in each feature's bins (features x bins x m)."""
        n, m = weights.shape
        groups = -(-m // 4)
        padded = np.zeros((groups, n, 4), np.float32)
        for k in range(m):
            padded[k // 4, :, k % 4] = weights[:, k]
        bins = np.empty((groups, len(self.order), BINS, 4), np.float32)

        def add(features: slice) -> None:
            for group, some in zip(padded, bins, strict=True):
                bin_sums(self.order[features], self.edges[features], group, some[features])

        self.share(add, len(self.order))
        return bins.transpose(1, 2, 0, 3).reshape(len(self.order), BINS, -1)[:, :, :m]
