"""The worth of a panel: how much of the structure, or of y, its features show."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array, BoolArray, FloatArray, IntArray, JsonDict
from eigensieve._words import counted
from eigensieve.graphs import nearest_among, nearest_donors

NEIGHBORS = 5
"""Samples that predict another one, as in the graph of the structure."""

_FOLDS = 5
_SHARED = 1.3
"""Neighbours share their errors: R2, and differences of R2, spread 1.15 to 1.5 times as far over 300 data sets of 60 to
300 samples, as over independent samples. Concordance does not (0.9 to 1.1)."""
_TAKEN = 2**23  # entries of the features that are read at once
_TRIED = 300  # features of a panel that are left out in turn
_SAME = 1e-9  # scores of the same features in another order differ by rounding


@dataclass(frozen=True)
class Scorer:
    """Predicts the structure, or y, of every sample from its nearest others on a panel, and scores the prediction."""

    columns: FloatArray  # the structure, or y: samples x columns
    later: BoolArray | None = None  # times to an event: pairs whose first has it while the second is without one
    groups: IntArray | None = None  # samples of one group, such as a donor, do not predict each other
    weights: FloatArray | None = None  # of the samples, for R2

    def parts(self, predicted: FloatArray) -> FloatArray:
        """Return each sample's part of the score, given its prediction from the others."""
        if self.later is not None:
            return concordance_parts(predicted[:, 0], self.later)
        r = 1.0 if self.weights is None else np.sqrt(self.weights)[:, None]
        return r2_parts(predicted * r, self.columns * r)

    def predicted(self, points: FloatArray) -> FloatArray:
        """Return for every sample the mean of the columns over its nearest others on the features `points`."""
        count, groups = min(NEIGHBORS, len(points) - 1), self.groups
        nearest = nearest_among(points, points, count) if groups is None else nearest_donors(points, groups, count)
        w = np.where(nearest >= 0, 1.0 if self.weights is None else self.weights[nearest], 0.0)
        sums = np.einsum("tn,tnj->tj", w, self.columns[nearest])
        return np.asarray(sums / np.maximum(w.sum(axis=1), np.finfo(np.float64).tiny)[:, None])

    def shown(self, points: FloatArray) -> FloatArray:
        """Return the parts of the score of a panel with these features."""
        return self.parts(self.predicted(points))

    @property
    def nothing(self) -> FloatArray:
        """The parts of a panel that predicts nothing."""
        n_samples = len(self.columns)
        return np.full(n_samples, 0.0 if self.later is None else 0.5 / n_samples)

    def error(self, parts: FloatArray) -> float:
        """Return the standard error of the sum of parts, or of a difference of parts."""
        sums = parts if self.groups is None else np.bincount(self.groups, weights=parts)
        shared = _SHARED if self.later is None else 1.0
        return float(shared * np.sqrt(len(sums)) * np.std(sums, ddof=1))


def r2_parts(predicted: FloatArray, V: FloatArray) -> FloatArray:
    """Return the parts of R2 = 1 - |V - E diag(b)|^2 / |V|^2, where b_j >= 0 is the factor that fits column j best.

    R2 is 1 where the prediction E of the neighbours equals V, and about 0 where it has nothing to do with V. Neighbours
    that contradict a column show nothing of it.
    """
    energy = np.maximum(np.sum(predicted**2, axis=0), np.finfo(np.float64).tiny)
    left = V - predicted * (np.maximum(np.sum(predicted * V, axis=0), 0.0) / energy)
    whole = np.sum(V**2, axis=1)
    return _ratio_parts(whole - np.sum(left**2, axis=1), whole)


def concordance_parts(risk: FloatArray, later: BoolArray) -> FloatArray:
    """Return the parts of Harrell's concordance: the share of pairs whose earlier event has the higher risk.

    Equal risks count one half.
    """
    right = later * (0.5 + 0.5 * np.sign(risk[:, None] - risk))
    parts = _ratio_parts(right.sum(axis=0) + right.sum(axis=1), later.sum(axis=0) + later.sum(axis=1))
    return np.asarray(2.0 * parts - parts.mean())  # of a mean over pairs: a sample is in both halves


def _ratio_parts(shown: FloatArray, whole: FloatArray) -> FloatArray:
    """Return parts whose sum is sum(shown) / sum(whole), and whose spread is that of this ratio."""
    total = max(float(whole.sum()), np.finfo(np.float64).tiny)
    ratio = float(shown.sum()) / total
    return np.asarray((shown - ratio * whole) / total + ratio / len(shown))


def share_shown(
    points: FloatArray, V: FloatArray, donors: IntArray | None = None, weights: FloatArray | None = None
) -> float:
    """Return R2 of V, predicted for every sample by its 5 nearest others, one per donor if some donors have several."""
    return float(Scorer(V, groups=donors, weights=weights).shown(points).sum())


def outlived(event: BoolArray, time: FloatArray) -> BoolArray:
    """Return for all pairs whether the first sample has its event while the second is without one."""
    return event[:, None] & ((time[:, None] < time) | ((time[:, None] == time) & ~event))


def deal_folds(strata: FloatArray, groups: IntArray | None) -> IntArray:
    """Deal samples to at most 5 folds that are alike in `strata`; a group stays together."""
    units = np.arange(len(strata)) if groups is None else groups
    sizes = np.bincount(units)
    order = np.lexsort((-sizes, np.bincount(units, weights=strata) / sizes))
    dealt = np.empty(len(sizes), dtype=np.intp)
    dealt[order] = np.arange(len(sizes)) % min(_FOLDS, len(sizes))
    return dealt[units]


def random_panels(ranked: IntArray, size: int, count: int, rng: np.random.Generator) -> list[IntArray]:
    """Draw panels of `size` from the features `ranked`."""
    return [ranked[np.sort(rng.permutation(len(ranked))[:size])] for _ in range(count)]


def taken(take: Callable[[IntArray], FloatArray], panels: Sequence[IntArray], rows: IntArray) -> Iterator[FloatArray]:
    """Yield the features of every panel on some samples. Several panels are taken at once."""
    at_once = max(1, _TAKEN // (len(rows) * max(len(panel) for panel in panels)))
    for start in range(0, len(panels), at_once):
        some = panels[start : start + at_once]
        features, places = np.unique(np.concatenate(some), return_inverse=True)
        Z = take(features)[rows]
        for place in np.split(places, np.cumsum([len(panel) for panel in some])[:-1]):
            yield Z[:, place]


def chance(score: float, draws: FloatArray) -> float:
    """Return the p-value (1 + draws that score as much) / (1 + draws)."""
    return float((1 + np.count_nonzero(draws >= score - _SAME)) / (1 + len(draws)))


def superfluous(scorer: Scorer, Z: FloatArray) -> list[int]:
    """Return the columns without which the others show as much, within one standard error of the most shown.

    The columns come with the most wanted first. The last ones are tried first, each without those left out before.
    """
    left, out = list(range(Z.shape[1])), []
    best = scorer.shown(Z)
    for column in left[: -_TRIED - 1 : -1]:
        rest = [other for other in left if other != column]
        parts = scorer.shown(Z[:, rest]) if rest else scorer.nothing
        if best.sum() - parts.sum() <= scorer.error(best - parts):
            left, best = rest, max(best, parts, key=np.sum)
            out.append(column)
    return out


@dataclass(frozen=True)
class PanelScore:
    """The worth of one panel, from :func:`eigensieve.score_panel`.

    Features are named where X has names, and numbered otherwise.

    Parameters
    ----------
    features : ndarray
        The panel.
    measure : {"structure", "classes", "numbers", "several", "survival"}
        The target of the score. For times to an event it is the concordance (0.5 for none), else R2 (0 for none, 1 for
        all).
    score : float
        How much the panel shows.
    standard_error : float
        Of `score`, over samples or over groups.
    best_score : float
        Score of the sieve's pick of as many features. With y, a sample is predicted by features picked without it.
    best_features : ndarray
        The sieve's pick on all samples.
    random_scores : ndarray of shape (n_random,)
        Scores of random panels of as many features.
    p_value : float
        The chance that a random panel shows as much.
    adds_nothing : ndarray
        Features without which the others show as much, within one standard error. All of them can be left out. Of
        panels of more than 300 features, the 300 that the sieve wants least are tried.
    next_features : ndarray
        The three features that complement the panel best.
    next_score : float
        Score of the panel with three more features, found as for `best_score`.
    """

    features: Array
    measure: Literal["structure", "classes", "numbers", "several", "survival"]
    score: float
    standard_error: float
    best_score: float
    best_features: Array
    random_scores: FloatArray
    p_value: float
    adds_nothing: Array
    next_features: Array
    next_score: float

    def figures(self) -> JsonDict:
        """Return one value per figure, features joined by commas."""
        return {
            "n_features": len(self.features),
            "score": self.score,
            "standard_error": self.standard_error,
            "best_score": self.best_score,
            "random_score": float(np.median(self.random_scores)),
            "p_value": self.p_value,
            "adds_nothing": ", ".join(map(str, self.adds_nothing)),
            "next_features": ", ".join(map(str, self.next_features)),
            "next_score": self.next_score,
        }

    def to_frame(self) -> Any:
        """Return the figures as a pandas DataFrame of one row."""
        return require("pandas", extra="plot").DataFrame([self.figures()])

    def __repr__(self) -> str:
        return (
            f"PanelScore(score {self.score:.3f} for {self.measure}, {counted(len(self.features), 'feature')}; best "
            f"{self.best_score:.3f}, random {np.median(self.random_scores):.3f}, p={self.p_value:.3g}; "
            f"{len(self.adds_nothing)} to leave out)"
        )


@dataclass(frozen=True)
class PanelComparison:
    """Several panels on the same data, from :func:`eigensieve.score_panel`.

    Parameters
    ----------
    scores : dict of PanelScore
        Name of the panel -> its worth.
    behind : dict of (float, float)
        Name -> how much less it shows than the panel that shows most, and the standard error of the difference.
    """

    scores: dict[str, PanelScore]
    behind: dict[str, tuple[float, float]]

    @property
    def best(self) -> list[str]:
        """The panels that show most: the difference between them is at most two standard errors."""
        return [name for name, (less, error) in self.behind.items() if less <= 2.0 * error]

    def figures(self) -> list[JsonDict]:
        """Return the figures of every panel."""
        return [
            {"panel": name, **score.figures(), "behind": self.behind[name][0], "behind_error": self.behind[name][1]}
            for name, score in self.scores.items()
        ]

    def to_frame(self) -> Any:
        """Return the figures as a pandas DataFrame, one row per panel."""
        return require("pandas", extra="plot").DataFrame(self.figures()).set_index("panel")

    def __repr__(self) -> str:
        lines = [f"  {name}: {score!r}" for name, score in self.scores.items()]
        return "\n".join([f"PanelComparison(best: {', '.join(self.best)})", *lines])
