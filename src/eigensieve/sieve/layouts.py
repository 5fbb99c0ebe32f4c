"""Layouts: the samples as points, by weighted features or by profiles of counts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from eigensieve._types import BoolArray, FloatArray
from eigensieve.data import ColumnStats, DataMatrix, logarithms, weighted_stats
from eigensieve.evidence import weighted_noise_edge
from eigensieve.operators import leading_axes, principal_axes
from eigensieve.sieve.samples import Samples, combined
from eigensieve.sieve.settings import SETTINGS

Use = bool | Literal["auto"]

_SOME = 500  # features that are examined for zeros and units
_SOME_ENTRIES = 2**22  # most values of theirs
_FLAT = 1e-10  # directions with a smaller share of the largest eigenvalue are left out


@dataclass(frozen=True)
class Layout:
    """The compared samples as points."""

    points: FloatArray  # compared x coordinates
    eigenvalues: FloatArray  # of the affinity that the points come from, decreasing
    places: Callable[[], FloatArray]  # returns all samples as points of the same layout
    spike: float  # the leading eigenvalue over the largest one to expect of independent features


def weighted_layout(samples: Samples, weights: FloatArray) -> Layout:
    """Place the samples along the leading directions of their features with weights w >= 0.

    With lambda_j and u_j the eigenpairs of A = sum_i w_i m_i m_i', coordinate j is u_j sqrt(log(1 + lambda_j / edge)),
    where `edge` is the largest eigenvalue to expect of independent features. Length sqrt(lambda_j) would let one large
    group of near-copies decide which samples are close. Here directions above the noise edge hardly grow.
    """
    weights = samples.allowed(weights)
    q = samples.data.n_samples
    values, vectors = principal_axes(samples.data, weights, min(SETTINGS.coordinates, q - 1))
    roots = samples.roots[:, None]
    edge = weighted_noise_edge(weights, samples.dimensions)
    lengths = np.sqrt(np.log1p(values / edge))

    def places() -> FloatArray:
        # u_j = A u_j / lambda_j, and row t of A is known for any sample.
        kept = values > _FLAT * values[0]
        loadings = samples.data.project(vectors[:, kept] * lengths[kept] / values[kept])
        found = combined(samples.everything, (weights * samples.factor)[:, None] * loadings)
        return found if samples.everything.roots is None else found / samples.everything.roots[:, None]

    return Layout(vectors * lengths / roots, values, places, float(values[0]) / edge)


def relative_variances(stats: ColumnStats, usable: BoolArray, share: FloatArray, use: Use) -> FloatArray | None:
    """Return the features' variances without their unwanted part, in units of the largest, or None where scale does not
    count. In wide data most features are noise, and those in the same unit that vary more carry more structure: "auto"
    uses scale from 10 features per sample on."""
    places = np.flatnonzero(usable)
    if use is False or (use == "auto" and len(places) < SETTINGS.wide * stats.n_samples):
        return None
    deviations = stats.centered_norm[places] * np.sqrt(share[places])
    variances = (deviations / deviations.max()) ** 2
    whole = np.zeros(len(usable))
    whole[places] = np.maximum(variances, 1e-100)  # so that no feature is lost
    return whole


@dataclass(frozen=True)
class Profiles:
    """Samples compared by profiles: f_t = (g_ti b_i)_i at length 1, with g_ti = log(1 + x_ti / c). c is a typical value
    (:func:`typical_value`), and b_i is large for rare features (:func:`rarities`)."""

    raw: DataMatrix  # the values x as they are
    weights: FloatArray | None = None  # of the samples

    def _stats(self, data: DataMatrix) -> ColumnStats:
        return data.stats() if self.weights is None else weighted_stats(data, self.weights)

    @cached_property
    def factors(self) -> FloatArray:
        return np.full(self.raw.n_samples, 1.0 / typical_value(self._stats(self.raw)))

    @cached_property
    def logs(self) -> DataMatrix:
        return logarithms(self.raw, self.factors)

    def layout(self, samples: Samples, usable: BoolArray) -> Layout:
        """Place the samples by the principal directions of the centred profiles of usable features, as unit vectors."""
        logs, passes = self.logs, self.logs.n_passes
        rarity = np.where(usable, rarities(self._stats(logs)), 0.0)
        few = logs if samples.rows is None else logs.samples(samples.rows)
        products = few.gram(rarity**2)
        inverse = _inverse(np.sqrt(np.diag(products)))
        products *= np.outer(inverse, inverse)
        roots = samples.roots[:, None]
        part = roots / np.sum(roots**2) * roots
        products -= (products @ part).T
        products -= products @ part
        products *= roots * roots.T
        values, vectors = leading_axes(products, min(len(products), 2 * SETTINGS.coordinates))
        self.raw.shared.passes += logs.n_passes - passes

        def places() -> FloatArray:
            kept = values > _FLAT * values[0]
            loadings = rarity[:, None] * few.project(
                inverse[:, None] * roots * vectors[:, kept] / np.sqrt(values[kept])
            )
            mean = rarity * few.project(inverse[:, None] * part)[:, 0]
            squares = logarithms(self.raw, self.factors, squared=True)
            lengths = np.sqrt(squares.combine((rarity**2)[:, None]))
            return unit_rows(combined(logs, rarity[:, None] * loadings) * _inverse(lengths) - mean @ loadings)

        return Layout(unit_rows(vectors * np.sqrt(values) / roots), values, places, np.inf)


def sample_profiles(raw: DataMatrix, usable: BoolArray, use: Use, weights: FloatArray | None = None) -> Profiles | None:
    """Return the profiles of the samples, or None if the raw data is not made of counts, texts or the like. "auto" uses
    profiles if nothing is negative, at least half of the values are zero, and the features are in one unit: their
    smallest values above zero, or their typical values, lie within a factor of 30."""
    places = np.flatnonzero(usable)
    if use is False or not len(places):
        return None
    count = min(len(places), _SOME, max(1, _SOME_ENTRIES // raw.n_samples))
    some = raw.take(places[np.linspace(0, len(places) - 1, count).astype(np.intp)])
    problem = "columns of extreme scale" if raw.shared.exponents is not None else ""
    if (some < 0).any():
        problem = "negative values"
    if problem and use is True:
        raise ValueError(
            f"With use_profiles=True SieveSelector compares samples by amounts in one unit, such as counts, and X has "
            f"{problem}. Leave use_profiles out."
        )
    if problem or (use == "auto" and (np.mean(some == 0) < SETTINGS.mostly_zero or not _one_unit(some))):
        return None
    return Profiles(raw, weights)


def typical_value(stats: ColumnStats) -> float:
    """Return c, the median over the features of sum x^2 / sum x: the value itself where a feature is c or 0. It is in
    the unit of the data, so that profiles do not depend on the unit."""
    totals = stats.n_samples * stats.mean
    squares = stats.centered_norm**2 + stats.n_samples * stats.mean**2
    some = (totals > 0) & (squares > 0)
    return float(np.median(squares[some] / totals[some])) if some.any() else 1.0


def rarities(stats: ColumnStats) -> FloatArray:
    """Return b_i = 1 + log(1 / p_i), the inverse document frequency of text retrieval. p_i = (sum g)^2 / (q sum g^2) is
    the share of samples that feature i effectively occurs in: the plain share if all values above zero are equal."""
    squares = stats.centered_norm**2 + stats.n_samples * stats.mean**2
    share = np.divide(stats.n_samples * stats.mean**2, squares, out=np.ones(len(squares)), where=squares > 0)
    return np.asarray(1.0 - np.log(np.clip(share, 1.0 / stats.n_samples, 1.0)))


def unit_rows(points: FloatArray) -> FloatArray:
    """Return points divided by their length; a point at 0 stays there."""
    return np.asarray(points * _inverse(np.linalg.norm(points, axis=1, keepdims=True)))


def _one_unit(some: FloatArray) -> bool:
    """Tell whether the smallest values above zero, or the typical values, of the features lie within a factor of 30.
    The smallest count is 1. Where gaps were filled by means, the smallest values are arbitrary, and the typical ones
    are not."""
    some = some[:, some.any(axis=0)].astype(np.float64)
    for values in (np.where(some > 0, some, np.inf).min(axis=0), np.sum(some**2, axis=0) / some.sum(axis=0)):
        low, high = np.quantile(values, [0.05, 0.95])
        if high <= SETTINGS.one_unit * low:
            return True
    return False


def _inverse(lengths: FloatArray) -> FloatArray:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
