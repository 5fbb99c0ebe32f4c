"""The whole path: the optimal subset and its score for every size, and the choice of a size."""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.traceratio.dinkelbach import check_size, feature_ranking, merge_close, top, usable_features


@dataclass(frozen=True)
class TraceRatioPath:
    """Optimal trace ratio of every subset size.

    Parameters
    ----------
    n_features : ndarray of int
        Sizes 1, 2, ..., number of usable features.
    scores : ndarray of float
        Optimal subset-level score per size. It falls as the size grows (Nie et al. 2008, Theorem 2). It is infinite as
        long as features without within scatter suffice.
    feature_level_scores : ndarray of float
        Subset-level score of the features that lead the feature-level ranking; never above `scores`.
    between, within : ndarray of shape (n_features_in,)
        The diagonals b and e that define the path.
    """

    n_features: IntArray
    scores: FloatArray
    feature_level_scores: FloatArray
    between: FloatArray
    within: FloatArray

    def subset(self, m: int) -> IntArray:
        """Return the columns of the optimal subset of m features, in their order, in O(n)."""
        check_size(m, len(self.scores))
        score = self.scores[m - 1]
        if np.isinf(score):
            return np.sort(feature_ranking(self.between, self.within)[:m])
        values = self.between - score * self.within
        values[~usable_features(self.between, self.within)] = -np.inf
        return top(values, m)

    def choose(self, *, min_score: float | None = None) -> int:
        """Return a size.

        With `min_score`, it is the largest size whose optimal score is at least that, or 1 if there is none.

        Without it, it is the knee of the curve of log score against log size: the size at which the curve lies furthest
        above the straight line between its ends. From there on the score falls faster than on average. Infinite scores
        are left out of the curve. If it nowhere rises above the line there is no knee, and all usable features are
        kept.
        """
        if min_score is not None:
            return max(int(np.count_nonzero(self.scores >= min_score)), 1)
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


def trace_ratio_path(b: FloatArray, e: FloatArray) -> TraceRatioPath:
    """Solve max sum b / sum e for every subset size in one sweep.

    The optimum falls as m grows, so the sizes are halved recursively. The middle size is solved by Dinkelbach's
    iteration, and its lambda* bounds both halves. Features that can no longer enter or leave within those bounds drop
    out of the recursion. On data seen so far this takes about O(n log^2 n), against O(n^2) for one solve per size.
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
