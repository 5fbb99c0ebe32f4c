"""The subset of a given size with the largest trace ratio, exactly (Nie et al. 2008, Table 2).

Only the diagonals matter: b_i = B_ii (between), e_i = E_ii (within), and

    score(I) = sum_{i in I} b_i / sum_{i in I} e_i.
"""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray

_STRIDE = 8
_ALIKE = 1e-12  # relative difference of values that differ by rounding alone


@dataclass(frozen=True)
class SubsetResult:
    """The chosen subset and how it was reached."""

    subset: IntArray  # chosen features, in column order
    score: float  # subset-level score, lambda*; infinite if the chosen features have no within scatter
    ranking: IntArray  # all features, best first: the chosen ones lead, features without any scatter come last
    history: tuple[float, ...]  # lambda before the first step and after every step that raised it
    n_iter: int  # each step sorts the n scores; the last one confirms the optimum


def usable_features(b: FloatArray, e: FloatArray) -> BoolArray:
    """Return which features have any scatter. The others (B_ii = E_ii = 0) are never chosen."""
    return (b > 0) | (e > 0)


def feature_scores(b: FloatArray, e: FloatArray) -> FloatArray:
    """Return the feature-level scores b_i / e_i (equation 14).

    They are infinite where e_i = 0 < b_i; NaN where both are zero, as in scikit-learn's ``f_classif``.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return b / e


def feature_ranking(b: FloatArray, e: FloatArray) -> IntArray:
    """Return all features by feature-level score, best first.

    Features with infinite score are ordered by their between scatter, equal scores by column. Features without any
    scatter come last.
    """
    scores = feature_scores(b, e)
    first = np.where(np.isnan(scores), -np.inf, merge_close(scores))
    second = np.where(np.isinf(scores), b, 0.0)
    return np.lexsort((np.arange(len(b)), -second, -first))


def check_size(m: int, n_usable: int) -> None:
    """Raise a ValueError unless m can be the size of a subset."""
    if not 1 <= m <= n_usable:
        raise ValueError(
            f"The size m of a subset must be between 1 and {n_usable}, the number of usable features. Got {m} instead."
        )


def merge_close(values: FloatArray) -> FloatArray:
    """Give values that differ by rounding alone one common value, so that ties are ties.

    Sums taken in another order (a column at the edge of a block) differ in their last bits. Without this function, two
    copies of a feature would be ranked by that noise instead of by column.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    with np.errstate(invalid="ignore"):
        step = np.diff(ordered) > _ALIKE * np.abs(ordered[1:])
    step |= np.isinf(ordered[1:]) & ~np.isinf(ordered[:-1])
    group = np.concatenate([[0], np.cumsum(step)]) if len(values) else np.zeros(0, dtype=int)
    first_of_group = np.flatnonzero(np.concatenate([[True], step])) if len(values) else group
    merged = np.empty_like(values)
    merged[order] = ordered[first_of_group][group]
    return merged


def top(scores: FloatArray, m: int) -> IntArray:
    """Return the columns of the m largest scores in O(n). Of equal scores the first columns are taken."""
    n = len(scores)
    if m >= n:
        return np.arange(n)
    threshold = np.partition(scores, n - m)[n - m]
    chosen = scores > threshold
    tied = np.flatnonzero(scores == threshold)
    chosen[tied[: m - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


def best_subset(b: FloatArray, e: FloatArray, m: int) -> SubsetResult:
    """Maximise sum b / sum e over all subsets of m features by Dinkelbach's iteration.

    The start is the subset of the feature-level ranking, or a better one found from a sample of the features. Then
    "score b_i - lambda e_i, keep the m largest, recompute lambda" is repeated (Table 2). lambda rises strictly until
    the optimum (Theorem 1), so the iteration ends after finitely many steps, usually three.

    Let r be the number of features with e_i = 0 < b_i. For m > r they are always part of an optimum: at lambda* the m
    kept scores sum to zero, so one of them is at most zero, below any b_i > 0. For m <= r the score is infinite, and
    those with the largest b_i are taken.
    """
    check_size(m, int(np.count_nonzero(usable_features(b, e))))
    b, e = merge_close(b), merge_close(e)
    if m <= np.count_nonzero((e == 0) & (b > 0)):
        by_feature = feature_ranking(b, e)
        return SubsetResult(np.sort(by_feature[:m]), np.inf, by_feature, (np.inf,), 0)

    unusable = ~usable_features(b, e)
    history = [_start(b[~unusable], e[~unusable], m)]
    n_iter = 0
    while True:
        scores = b - history[-1] * e
        scores[unusable] = -np.inf
        chosen = top(scores, m)
        n_iter += 1
        ratio = subset_ratio(b, e, chosen)
        # Up to rounding, because at the optimum the new subset may only tie with the old one.
        if ratio <= history[-1] * (1 + 1e-15):
            break
        history.append(ratio)
    ranking = np.argsort(-scores, kind="stable")
    return SubsetResult(chosen, history[-1], ranking, tuple(history), n_iter)


def _start(b: FloatArray, e: FloatArray, m: int) -> float:
    """Return the score of a good subset of size m: lambda before the first step.

    If the scales of the features differ much, the feature-level subset is far from the optimum, and lambda needs three
    or four steps to come near. The same problem on every eighth feature has nearly the same lambda* and costs less than
    one step.
    """
    lam = subset_ratio(b, e, top(feature_scores(b, e), m))
    if m < 2 * _STRIDE:
        return lam
    coarse_b, coarse_e = b[::_STRIDE], e[::_STRIDE]
    size = m // _STRIDE
    if size <= np.count_nonzero(coarse_e == 0):
        return lam
    coarse = best_subset(coarse_b, coarse_e, size).score
    return max(lam, subset_ratio(b, e, top(b - coarse * e, m)))


def feature_subset(b: FloatArray, e: FloatArray, m: int) -> SubsetResult:
    """Return the m features with the largest feature-level scores (Table 1), and their subset-level score."""
    check_size(m, int(np.count_nonzero(usable_features(b, e))))
    ranking = feature_ranking(b, e)
    subset = np.sort(ranking[:m])
    score = subset_ratio(b, e, subset)
    return SubsetResult(subset, score, ranking, (score,), 0)


def subset_ratio(b: FloatArray, e: FloatArray, subset: IntArray) -> float:
    """Return the subset-level score (equation 8): infinite without within scatter, 0 without any scatter."""
    between, within = float(b[subset].sum()), float(e[subset].sum())
    if within > 0:
        return between / within
    return np.inf if between > 0 else 0.0
