"""Counts and texts: samples are compared by their profiles, by what they hold more of than others do."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.linalg import eigh

from eigensieve._progress import Progress
from eigensieve._types import Array
from eigensieve.data import ColumnStats, DataMatrix, logarithms
from eigensieve.sieve.embedding import (
    EXACT_SAMPLES,
    N_COORDINATES,
    SEEN_ALONE,
    GraphSpectrum,
    clear_columns,
    columns_given,
    columns_looked_at,
    excess_over_cloud,
    graph_spectrum,
    unit_rows,
)
from eigensieve.sieve.landmarks import MAX_LANDMARKS, carried_over, chosen_rows, combined

UseProfiles = bool | Literal["auto"]

_SOME = 500  # features that are looked at
_SOME_ENTRIES = 2**22  # most values of theirs
_MOSTLY_ZERO = 0.5
_ONE_UNIT = 30.0  # smallest or typical values of features in one unit lie within this factor, up to 5 % at either end
_FLAT = 1e-10  # coordinates of less length than this share of the longest are left out


@dataclass(frozen=True)
class Profiles:
    """The samples as profiles: f_t = (g_ti b_i)_i at length 1, with g_ti = log(1 + x_ti / c).

    c is a typical value (:func:`typical_value`), b_i says how rare feature i is (:func:`rarities`).

    Attributes
    ----------
    raw : DataMatrix
        The values x as they are.
    certain : bool
        Whether profiles are used in any case. Otherwise what they show is compared with what the rounds find.
    """

    raw: DataMatrix
    certain: bool

    @cached_property
    def factors(self) -> Array:
        """What the values are multiplied by before the logarithm: 1 / c for every sample."""
        return np.full(self.raw.n_samples, 1.0 / typical_value(self.raw.stats()))

    @cached_property
    def logs(self) -> DataMatrix:
        return logarithms(self.raw, self.factors)

    def embedding(
        self, usable: Array, n_clusters: int | Literal["auto"], progress: Progress
    ) -> tuple[Array, Array, Array]:
        """Embed the samples by the neighbour graph of their profiles.

        Profiles are centred and laid out along their principal directions. Neighbours are those between which the angle
        is smallest. With more than 2,000 samples the graph is one of landmarks, and is carried over to all.

        Parameters
        ----------
        usable : ndarray of bool of shape (n_features,)
            The features that profiles are made of.
        n_clusters : int or "auto"
        progress : callable

        Returns
        -------
        Q : ndarray of shape (n_samples, n_columns)
            The graph's eigenvectors that stand out, centred and orthonormal.
        eigenvalues : ndarray
            Of the inner products of the centred profiles, decreasing.
        points : ndarray of shape (n_landmarks, n_coordinates)
            The layout that the graph was made from.
        """
        logs, passes = self.logs, self.logs.n_passes
        rarity = np.where(usable, rarities(logs.stats()), 0.0)
        rows = chosen_rows(logs.n_samples) if logs.n_samples > MAX_LANDMARKS else None
        few = logs if rows is None else logs.samples(rows)
        products = few.gram(rarity**2)
        inverse = _inverse(np.sqrt(np.diag(products)))
        values, vectors = _principal(products * np.outer(inverse, inverse))
        spectrum, columns = _graph(vectors * np.sqrt(values), n_clusters)
        Q = spectrum.embedding(columns)
        if rows is not None:
            progress(f"placing {logs.n_samples} samples among {len(rows)} landmarks")
            kept = values > _FLAT * values[0]
            loadings = rarity[:, None] * few.project(inverse[:, None] * vectors[:, kept] / np.sqrt(values[kept]))
            mean = rarity * few.project(inverse[:, None] / len(rows))[:, 0]
            squares = logarithms(self.raw, self.factors, squared=True)
            lengths = np.sqrt(squares.combine((rarity**2)[:, None]))
            places = combined(logs, rarity[:, None] * loadings) * _inverse(lengths) - mean @ loadings
            Q = carried_over(Q, unit_rows(places), rows)
            self.raw.shared.passes += squares.n_passes
        self.raw.shared.passes += logs.n_passes - passes
        return Q, values, unit_rows(spectrum.points)


def sample_profiles(raw: DataMatrix, usable: Array, use: UseProfiles) -> Profiles | None:
    """Return the profiles of the samples, or None where the data is not made of counts, texts or the like.

    "auto" uses profiles where nothing is negative, at least half of the values are zero, and the features are in one
    unit: their smallest values above zero, or their typical values, lie within a factor of 30.

    Parameters
    ----------
    raw : DataMatrix
        The values as they are.
    usable : ndarray of bool of shape (n_features,)
    use : bool or "auto"
    """
    places = np.flatnonzero(usable)
    if use is False or not len(places):
        return None
    if raw.shared.exponents is not None:
        if use is True:
            raise ValueError(
                "With use_profiles=True SieveSelector compares samples by amounts in one unit, and X has columns of "
                "extreme scale. Leave use_profiles out."
            )
        return None
    count = min(len(places), _SOME, max(1, _SOME_ENTRIES // raw.n_samples))
    some = raw.take(places[np.linspace(0, len(places) - 1, count).astype(np.intp)])
    if (some < 0).any():
        if use is True:
            raise ValueError(
                "With use_profiles=True SieveSelector compares samples by amounts, such as counts, and X has negative "
                "values. Leave use_profiles out."
            )
        return None
    if use == "auto" and (np.mean(some == 0) < _MOSTLY_ZERO or not _one_unit(some)):
        return None
    return Profiles(raw, certain=use is True)


def typical_value(stats: ColumnStats) -> float:
    """Return c, the median over the features of sum x^2 / sum x: the value itself where a feature is c or 0.

    It is in the unit of the data, so that profiles do not depend on the unit.
    """
    totals = stats.n_samples * stats.mean
    squares = stats.centered_norm**2 + stats.n_samples * stats.mean**2
    some = (totals > 0) & (squares > 0)
    return float(np.median(squares[some] / totals[some])) if some.any() else 1.0


def rarities(stats: ColumnStats) -> Array:
    """Return b_i = 1 + log(1 / p_i), where p_i is the share of the samples that feature i effectively occurs in.

    p_i = (sum g)^2 / (q sum g^2), which is the plain share where all values above zero are equal. This is the weight by
    inverse document frequency of text retrieval.
    """
    squares = stats.centered_norm**2 + stats.n_samples * stats.mean**2
    share = np.divide(stats.n_samples * stats.mean**2, squares, out=np.ones(len(squares)), where=squares > 0)
    return np.asarray(1.0 - np.log(np.clip(share, 1.0 / stats.n_samples, 1.0)))


def _one_unit(some: Array) -> bool:
    """Tell whether the smallest values above zero, or the typical values, of the features lie within a factor of 30.

    Counts all have the smallest value 1, however large some of them are. Where missing values were filled in by means,
    the smallest values are arbitrary, and the typical ones are not.
    """
    some = some[:, some.any(axis=0)].astype(np.float64)
    for values in (np.where(some > 0, some, np.inf).min(axis=0), np.sum(some**2, axis=0) / some.sum(axis=0)):
        low, high = np.quantile(values, [0.05, 0.95])
        if high <= _ONE_UNIT * low:
            return True
    return False


def _principal(products: Array) -> tuple[Array, Array]:
    """Return the leading eigenvalues and eigenvectors of the centred inner products."""
    products = products - products.mean(axis=0)
    products -= products.mean(axis=1, keepdims=True)
    q = len(products)
    count = min(q, N_COORDINATES)
    # Of few samples all eigenvectors are found faster than some.
    values, vectors = (
        np.linalg.eigh(products) if q <= EXACT_SAMPLES else eigh(products, subset_by_index=(q - count, q - 1))
    )
    return np.maximum(values[::-1][:count], 0.0), vectors[:, ::-1][:, :count]


def _graph(points: Array, n_clusters: int | Literal["auto"]) -> tuple[GraphSpectrum, int]:
    """Return the graph's spectrum and how many eigenvectors stand out: ten where it shows no smaller number."""
    q = len(points)
    if n_clusters != "auto":
        columns = min(n_clusters, max(1, q - 2))
        spectrum = graph_spectrum(points, min(max(columns, 2), q - 1), directions=True)
        return spectrum, columns_given(spectrum, columns)
    count = columns_looked_at(q)
    spectrum = graph_spectrum(points, count, directions=True)
    clear = clear_columns(excess_over_cloud(spectrum, count))
    return spectrum, min(SEEN_ALONE if clear is None else clear, SEEN_ALONE, count)


def _inverse(lengths: Array) -> Array:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
