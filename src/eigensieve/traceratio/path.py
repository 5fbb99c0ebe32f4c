"""The whole path: the optimal subset and its score for every size, and a size read off it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigensieve.traceratio.dinkelbach import (
    Indices,
    Vector,
    feature_ranking,
    merge_close,
    top,
    usable_features,
)


@dataclass(frozen=True)
class TraceRatioPath:
    """Optimal trace ratio of every subset size.

    Attributes
    ----------
    n_features : ndarray of int
        Sizes 1, 2, ..., number of usable features.
    scores : ndarray of float
        Optimal subset-level score of each size: falls as the size grows (nie-2008, Theorem 2). Infinite
        as long as features without within scatter suffice.
    feature_level_scores : ndarray of float
        Subset-level score of the features taken by the feature-level ranking; never above `scores`.
    between, within : ndarray of shape (n_features_in,)
        The diagonals b and e that define the path.
    """

    n_features: NDArray[np.intp]
    scores: Vector
    feature_level_scores: Vector
    between: Vector
    within: Vector

    def subset(self, m: int) -> Indices:
        """The optimal subset of size m, in column order; O(n)."""
        self._check_size(m)
        score = self.scores[m - 1]
        if np.isinf(score):
            return np.sort(feature_ranking(self.between, self.within)[:m])
        values = self.between - score * self.within
        values[~usable_features(self.between, self.within)] = -np.inf
        return top(values, m)

    def choose(self, *, min_score: float | None = None) -> int:
        """A size read off the path.

        Parameters
        ----------
        min_score : float, optional
            The largest size whose optimal score is still at least this; 1 when none is. Without it, the
            knee: the size whose log score lies furthest above the straight line between the ends of the
            curve of log score against log size, where the score starts to fall faster than it has on
            the whole. Infinite scores count as the knee's left end. A curve that nowhere rises above
            that line has no knee, and all the usable features are kept.
        """
        if min_score is not None:
            return max(int(np.count_nonzero(self.scores >= min_score)), 1)
        return self._knee()

    def _knee(self) -> int:
        finite = np.isfinite(self.scores) & (self.scores > 0)
        sizes, scores = self.n_features[finite], self.scores[finite]
        if len(sizes) < 3:
            return int(self.n_features[-1])
        x, y = np.log(sizes), np.log(scores)
        chord = y[0] + (x - x[0]) / (x[-1] - x[0]) * (y[-1] - y[0])
        height = y - chord
        best = int(np.argmax(height))
        # A straight line has no knee; heights of this size are rounding.
        return int(sizes[best]) if height[best] > 1e-9 else int(self.n_features[-1])

    def _check_size(self, m: int) -> None:
        if not 1 <= m <= len(self.scores):
            raise ValueError(
                f"The size of a subset must be between 1 and {len(self.scores)}, the number of usable "
                f"features. Got {m} instead."
            )


def trace_ratio_path(b: Vector, e: Vector) -> TraceRatioPath:
    """Solve max sum b / sum e for every subset size in one sweep.

    The optimum falls as m grows, so the sizes are halved recursively: the middle size is solved by
    Dinkelbach's iteration and its lambda* bounds both halves; features that can no longer enter or leave
    within those bounds drop out of the recursion. About O(n log^2 n) on data seen so far, against
    O(n^2) for one solve a size.

    Parameters
    ----------
    b, e : ndarray of shape (n_features,)
        Diagonals of B and E, non-negative.
    """
    from eigensieve.traceratio._path_numba import all_sizes

    b, e = merge_close(b), merge_close(e)
    usable = usable_features(b, e)
    if not usable.any():
        raise ValueError("No feature has any scatter, so there is no path. Check that X varies.")
    free = usable & (e == 0)
    n_free, n_usable = int(free.sum()), int(usable.sum())
    scores = np.full(n_usable, np.inf)
    if n_usable > n_free:
        pairs = np.stack([b[usable & ~free], e[usable & ~free]], axis=1)
        lines, counts = np.unique(pairs, axis=0, return_counts=True)
        scores[n_free:] = all_sizes(
            np.ascontiguousarray(lines[:, 0]),
            np.ascontiguousarray(lines[:, 1]),
            counts.astype(np.int64),
            float(b[free].sum()),
        )
    order = feature_ranking(b, e)[:n_usable]
    with np.errstate(divide="ignore"):
        feature_level = np.cumsum(b[order]) / np.cumsum(e[order])
    return TraceRatioPath(np.arange(1, n_usable + 1), scores, feature_level, b, e)
