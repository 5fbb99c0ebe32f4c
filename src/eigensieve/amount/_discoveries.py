"""How many features: discoveries at a false discovery rate, by cross-fitting and permuted copies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigensieve._progress import Progress, silent
from eigensieve.amount._agreement import agreement, null_agreement
from eigensieve.data import DataMatrix

Array = NDArray[Any]

N_FOLDS = 5
_NULL_SCORES = 20_000  # null scores wanted in each fold, so that small p-values can be told apart
_MAX_COPIES = 200

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

    A feature that helped to build an embedding agrees with it, noise or not. So the features are dealt into folds; for
    each fold the embedding is learned from the other folds, and the fold's features are compared with their permuted
    copies (:func:`~eigensieve.amount._agreement.null_agreement`). The p-value of a feature is the share of the fold's
    null scores that reach its own, and the features are chosen by Benjamini and Hochberg's step-up rule. For features
    that are independent of all others the p-values are uniform whatever the embedding, so that the expected
    fraction of false selections is at most `fdr`.

    Parameters
    ----------
    data : DataMatrix
        Standardised data.
    usable : ndarray of bool of shape (n_features,)
        Features that vary.
    fit : callable
        Learns an embedding from the features of a mask, and looks at no others.
    fdr : float
        Expected fraction of false selections to allow.
    rng : Generator
    n_folds : int, default=5
    progress : callable
    """
    candidates = np.flatnonzero(usable)
    n_folds = min(n_folds, len(candidates))
    p_values = np.ones(data.n_features)
    if n_folds >= 2:
        fold = np.full(data.n_features, -1)
        fold[rng.permutation(candidates)] = np.arange(len(candidates)) % n_folds
        copies = copies_for(len(candidates) // n_folds)
        for current in range(n_folds):
            progress(f"calibrating, fold {current + 1} of {n_folds}")
            inside = fold == current
            V = fit(usable & ~inside)
            scores = agreement(data, V)[inside]
            null = null_agreement(data, V, copies, rng)[inside]
            p_values[inside] = tail_shares(scores, null.ravel())
    return Discoveries(p_values, step_up(p_values, usable, fdr))


def copies_for(n_features: int) -> int:
    """Permuted copies of each feature that give enough null scores."""
    return int(np.clip(np.ceil(_NULL_SCORES / max(1, n_features)), 10, _MAX_COPIES))


def tail_shares(scores: Array, null: Array) -> Array:
    """Return (1 + number of null scores >= score) / (1 + number of null scores)."""
    ordered = np.sort(null)
    at_least = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return (1.0 + at_least) / (1.0 + len(ordered))


def step_up(p_values: Array, usable: Array, fdr: float) -> Array:
    """Benjamini and Hochberg's rule: the largest r with p_(r) <= fdr * r / n, and all p-values up to p_(r).

    A lone feature is not selected: a structure is what several features share.
    """
    n_usable = int(np.count_nonzero(usable))
    ordered = np.sort(p_values[usable])
    passing = np.flatnonzero(ordered <= fdr * np.arange(1, n_usable + 1) / max(1, n_usable))
    if not len(passing) or passing[-1] == 0:
        return np.zeros(len(p_values), dtype=bool)
    return usable & (p_values <= ordered[passing[-1]])
