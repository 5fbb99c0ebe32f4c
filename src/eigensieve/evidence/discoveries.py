"""How many features: discoveries at a false discovery rate, by cross-fitting and permuted copies."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.evidence.scores import agreement, null_agreement

N_FOLDS = 5
_NULL_SCORES = 40_000  # null scores wanted at least, so that small p-values can be told apart
_COPIES = (10, 1_000)  # permuted copies of a feature, at least and at most
_SAMPLE_ENTRIES = 2**22  # of the features that are taken into memory for the null
_FEWEST = 8  # features the null is made of at least, however many samples they have

Fit = Callable[[Array], Array]
"""fit(active) -> V (n_samples, n_columns): an embedding learned from the active features alone."""


@dataclass(frozen=True)
class Discoveries:
    """What the calibration found.

    Attributes
    ----------
    p_values : ndarray of shape (n_features,)
        Chance that a feature without structure scores as high; 1 for features that were not usable.
    selected : ndarray of bool of shape (n_features,)
        Features that pass at the false discovery rate asked for.
    """

    p_values: Array
    selected: Array

    @property
    def count(self) -> int:
        return int(self.selected.sum())


def discover(
    data: DataMatrix,
    usable: Array,
    fit: Fit,
    *,
    fdr: float,
    rng: np.random.Generator,
    n_folds: int = N_FOLDS,
    progress: Progress = silent,
) -> Discoveries:
    """Find the features that follow a structure which the *other* features show.

    A feature that helped to build an embedding agrees with it, noise or not. So the features are dealt into K folds;
    for each fold the embedding is learned from the other folds, and the fold's features are compared with permuted
    copies (:func:`~eigensieve.evidence.scores.null_agreement`). The p-value of a feature is the share of the fold's
    null scores that reach its own; within each fold Benjamini and Hochberg's rule selects at the rate fdr / K. A lone
    feature is not selected: a structure is what several features share.

    Parameters
    ----------
    data : DataMatrix
        Standardised: centred columns of unit norm.
    usable : ndarray of bool of shape (n_features,)
        Features that vary.
    fit : callable
        Learns an embedding from the features of a mask, and looks at no others: see :func:`restricted`.
    fdr : float
        Expected fraction of false selections to allow.
    rng : Generator
    n_folds : int, default=5
    progress : callable

    Notes
    -----
    Given the embedding of the other folds, the p-values of a fold's features that are independent of all others are
    independent and uniform, however adaptive the fit was, so that E[F_k / R_k] <= fdr / K for F_k false ones among R_k
    selected. Embeddings of different folds share features, and two noise features that resemble one another by chance
    call for each other, so the p-values of all folds together may not be treated alike. But F / R <= sum_k F_k / R_k
    whatever the dependence, so the expected fraction of false selections is at most `fdr`.
    """
    folds = np.array_split(rng.permutation(np.flatnonzero(usable)), n_folds)
    folds = [fold for fold in folds if len(fold)]
    p_values = np.ones(data.n_features)
    selected = np.zeros(data.n_features, dtype=bool)
    null = NullSample(data, folds) if len(folds) >= 2 else None
    for current, inside in enumerate(folds if null is not None else []):
        assert null is not None
        progress(f"calibrating, fold {current + 1} of {len(folds)}")
        active = usable.copy()
        active[inside] = False
        p_values[inside] = null.p_values(fit(active), current, rng)
        selected[inside[step_up(p_values[inside], fdr / len(folds))]] = True
    return Discoveries(p_values, selected & (np.count_nonzero(selected) > 1))


def follow(data: DataMatrix, usable: Array, embedding: Array, *, fdr: float, rng: np.random.Generator) -> Discoveries:
    """Find the features that follow an embedding which was made without looking at any of them, such as labels."""
    candidates = np.flatnonzero(usable)
    p_values = np.ones(data.n_features)
    p_values[candidates] = NullSample(data, [candidates]).p_values(embedding, 0, rng)
    selected = np.zeros(data.n_features, dtype=bool)
    selected[candidates[step_up(p_values[candidates], fdr)]] = True
    return Discoveries(p_values, selected)


def restricted(data: DataMatrix, active: Array) -> DataMatrix:
    """Return a view of standardised data in which all but the active features are zero: nothing can look at them."""
    assert data.scale is not None
    return data.rescaled(data.center, np.where(active, data.scale, 0.0), data.far)


class NullSample:
    """Features of every fold in memory, from which the null scores of any embedding are made.

    Parameters
    ----------
    data : DataMatrix
        Standardised data.
    folds : list of ndarray of int
        In random order, so that the first ones are a random sample of a fold.
    """

    def __init__(self, data: DataMatrix, folds: list[Array]) -> None:
        self.data = data
        self.folds = folds
        room = max(_FEWEST, _SAMPLE_ENTRIES // (len(folds) * data.n_samples))
        taken = [fold[:room] for fold in folds]
        features = data.take(np.concatenate(taken))
        self.samples = np.split(features, np.cumsum([len(some) for some in taken])[:-1], axis=1)

    def scores(self, embedding: Array, fold: int, rng: np.random.Generator) -> Array:
        """Scores of permuted copies of the fold's features."""
        features = self.samples[fold]
        wanted = max(_NULL_SCORES, _COPIES[0] * len(self.folds[fold]))
        copies = int(np.clip(np.ceil(wanted / features.shape[1]), *_COPIES))
        return null_agreement(features, embedding, copies, rng).ravel()

    def p_values(self, embedding: Array, fold: int, rng: np.random.Generator) -> Array:
        """Chance of scoring as high as each of the fold's features does."""
        V = embedding - embedding.mean(axis=0)
        V /= max(float(np.linalg.norm(embedding, axis=0).max()), np.finfo(np.float64).tiny)
        # Scores of a few distinct values tie with their copies': rounding must not tell them apart.
        slack = 64.0 * float(np.finfo(self.data.dtype).eps)
        return tail_shares(agreement(self.data, V)[self.folds[fold]] - slack, self.scores(V, fold, rng))


def tail_shares(scores: Array, null: Array) -> Array:
    """Return (1 + number of null scores >= score) / (1 + number of null scores)."""
    ordered = np.sort(null)
    at_least = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return (1.0 + at_least) / (1.0 + len(ordered))


def step_up(p_values: Array, fdr: float) -> Array:
    """Benjamini and Hochberg's rule: the largest r with p_(r) <= fdr * r / n, and all p-values up to p_(r)."""
    n = len(p_values)
    ordered = np.sort(p_values)
    passing = np.flatnonzero(ordered <= fdr * np.arange(1, n + 1) / max(1, n))
    return p_values <= ordered[passing[-1]] if len(passing) else np.zeros(n, dtype=bool)
