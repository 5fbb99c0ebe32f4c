"""Which features follow a structure: discoveries at a false discovery rate, by cross-fitting and permuted copies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import DataMatrix, Orders
from eigensieve.evidence.exchange import ANY, Exchange
from eigensieve.evidence.scores import NullSample, step_up

N_FOLDS = 5

Fit = Callable[[BoolArray], FloatArray]
"""fit(active) -> V (n_samples, n_columns): an embedding learned from the active features alone."""


@dataclass(frozen=True)
class Discoveries:
    """The result of the calibration."""

    p_values: FloatArray  # chance that a feature without structure scores as high; 1 for features that were not usable
    selected: BoolArray  # mask of the features that pass at the false discovery rate asked for

    @property
    def count(self) -> int:
        return int(self.selected.sum())


def discover(
    data: DataMatrix,
    usable: BoolArray,
    fit: Fit,
    *,
    fdr: float,
    rng: np.random.Generator,
    tested: BoolArray | None = None,
    n_folds: int = N_FOLDS,
    exchange: Exchange = ANY,
    orders: Orders | None = None,
    progress: Progress = silent,
) -> Discoveries:
    """Find the features that follow a structure which the *other* features show.

    A feature that helped to build an embedding agrees with it, even if the feature is noise. So the features are dealt
    into K folds. For each fold the embedding is learned from the other folds, and the fold's features are compared with
    permuted copies (:func:`~eigensieve.evidence.scores.null_agreement`), permuted as `exchange` allows. The p-value of
    a feature is the share of the fold's null scores that reach its own score. Benjamini and Yekutieli's rule (2001,
    theorem 1.3) selects among all `tested` features (all usable ones by default) with one threshold for all folds. It
    allows for any dependence: embeddings of different folds share features, and two noise features that resemble one
    another by chance select each other. A lone feature is not selected: a structure needs several features that share
    it. Folds and copies are drawn in the `orders` of the samples and features, so that the result does not depend on
    the order in which they are given.
    """
    tested = usable if tested is None else tested
    order, exchange = _drawn_in(orders, tested, exchange)
    folds = np.array_split(rng.permutation(order), n_folds)
    folds = [fold for fold in folds if len(fold)]
    p_values = np.ones(data.n_features)
    if len(folds) >= 2:
        null = NullSample(data, folds, exchange)
        for current, inside in enumerate(folds):
            progress(f"calibrating, fold {current + 1} of {len(folds)}")
            active = usable.copy()
            active[inside] = False
            p_values[inside] = null.p_values(fit(active), current, rng)
    selected = np.zeros(data.n_features, dtype=bool)
    any_dependence = np.sum(1.0 / np.arange(1, np.count_nonzero(tested) + 1))
    selected[tested] = step_up(p_values[tested], fdr / max(any_dependence, 1.0))
    return Discoveries(p_values, selected & (np.count_nonzero(selected) > 1))


def follow(
    views: Sequence[DataMatrix],
    usable: BoolArray,
    embedding: FloatArray,
    *,
    fdr: float,
    rng: np.random.Generator,
    exchange: Exchange = ANY,
    orders: Orders | None = None,
) -> Discoveries:
    """Find the features that follow an embedding which was made without any of them, such as labels.

    `views` are the features, and other forms of them such as their squares. A feature is selected if one of its forms
    follows the embedding; its p-value is the smallest, times the number of forms (Bonferroni). Copies are permuted
    as `exchange` allows, and drawn in the `orders` of the samples and features.
    """
    order, exchange = _drawn_in(orders, usable, exchange)
    candidates = rng.permutation(order)
    found = [NullSample(view, [candidates], exchange).p_values(embedding, 0, rng) for view in views]
    p_values = np.ones(views[0].n_features)
    p_values[candidates] = np.minimum(1.0, len(views) * np.min(found, axis=0))
    selected = np.zeros(views[0].n_features, dtype=bool)
    selected[candidates[step_up(p_values[candidates], fdr)]] = True
    return Discoveries(p_values, selected)


def _drawn_in(orders: Orders | None, features: BoolArray, exchange: Exchange) -> tuple[IntArray, Exchange]:
    """Return the features, and the exchange of samples, in the orders that random draws follow."""
    if orders is None:
        return np.flatnonzero(features), exchange
    return orders.features[features[orders.features]], replace(exchange, ranks=orders.ranks())
