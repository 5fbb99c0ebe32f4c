"""Whether the features' scale is evidence: in wide data of one unit, features that vary little are mostly noise."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.sieve.embedding import EXACT_SAMPLES

UseScale = bool | Literal["auto"]

WIDE = 10
"""Features per sample from which on scale may count. With fewer, the neighbours are clear without it."""

_LARGE = 0.9  # the quantile of the variances that gets half the weight of infinite variance
_SOME = 500  # features that are looked at for zeros
_MOSTLY_ZERO = 0.5
_ONE_UNIT = 30.0  # deviations of features in one unit lie within this factor, up to 5 % at either end
_CHANCE = 4.0  # standard deviations of a rank correlation
_LEAST = 1e-100  # of the largest variance: no factor is zero, however unlike the scales are


@dataclass(frozen=True)
class Prior:
    """A factor per feature, by its variance.

    Attributes
    ----------
    factors : ndarray of shape (n_features,)
        v_i / (v_i + c), with c the 90 % quantile of the variances v.
    certain : bool
        Whether the factors are used in any case. Otherwise :meth:`holds` decides.
    """

    factors: Array
    certain: bool

    def holds(self, data: DataMatrix, usable: Array, affinity: Array | None) -> bool:
        """Tell whether scale has to do with structure. Where every feature has a unit of its own, it does not.

        The structure that feature i shares with the others is m_i' A m_i, the sum of its squared correlations with
        them. If units are arbitrary, this and the variances are independent, and their rank correlation over n features
        has a standard deviation of 1 / sqrt(n). Beyond four of these, scale is not arbitrary. `affinity` is A with
        equal weights, if there are few enough samples for it.
        """
        if self.certain or affinity is None:
            return self.certain
        shared = np.concatenate(data.map_blocks(lambda block: block.quadratic(affinity)))
        ranks = np.vstack([rankdata(self.factors[usable]), rankdata(shared[usable])])
        ranks -= ranks.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(ranks, axis=1)
        return bool(abs(ranks[0] @ ranks[1]) > _CHANCE / np.sqrt(ranks.shape[1]) * lengths[0] * lengths[1])


def scale_prior(raw: DataMatrix, usable: Array, share: Array, use: UseScale) -> Prior | None:
    """Return the prior by scale, or None where scale is no evidence.

    Standardised features all have the same say. Where there are many times more features than samples, most of them
    noise, this lets noise decide who is close to whom. If the features are measured in one unit, noise varies less than
    structure, and a factor v_i / (v_i + c) tells them apart. Scale is no evidence

    - in data that is mostly zeros (counts, texts): a feature's variance says there how frequent it is,
    - in features of different units: these differ by large factors, or by factors that have nothing to do with the
      structure of the features (:meth:`Prior.holds`).

    Parameters
    ----------
    raw : DataMatrix
        The values as they are.
    usable : ndarray of bool of shape (n_features,)
    share : ndarray of shape (n_features,)
        The share of each feature's variance that is not unwanted.
    use : bool or "auto"
        Whether to use scale. "auto" looks at the data.
    """
    places = np.flatnonzero(usable)
    if use is False or not len(places):
        return None
    deviations = raw.stats().centered_norm[places] * np.sqrt(share[places])
    deviations = deviations / deviations.max()
    if use == "auto" and not (_wide(raw, places) and _one_unit(deviations) and not _mostly_zero(raw, places)):
        return None
    variances = np.maximum(deviations**2, _LEAST)
    factors = np.zeros(raw.n_features)
    factors[places] = variances / (variances + np.quantile(variances, _LARGE))
    return Prior(factors, certain=use is True)


def _wide(raw: DataMatrix, places: Array) -> bool:
    return raw.n_samples <= EXACT_SAMPLES and len(places) >= WIDE * raw.n_samples


def _one_unit(deviations: Array) -> bool:
    low, high = np.quantile(deviations, [0.05, 0.95])
    return bool(high <= _ONE_UNIT * low)


def _mostly_zero(raw: DataMatrix, places: Array) -> bool:
    some = places[np.linspace(0, len(places) - 1, min(_SOME, len(places))).astype(np.intp)]
    return bool(np.mean(raw.take(some) == 0) >= _MOSTLY_ZERO)
