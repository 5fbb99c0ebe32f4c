"""Unwanted variation: batches, side data and must-link pairs, taken off the data before anything is looked for.

The batch means are taken off every feature. The leading directions of side data, and of the differences between samples
that must be linked, are projected out of the feature space.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array

from eigensieve._types import Array
from eigensieve.data import DataMatrix, multiplied, without_feature_directions, without_sample_directions
from eigensieve.evidence import count_spikes
from eigensieve.operators import StandardAffinity, principal_axes

MAX_DIRECTIONS = 20  # of side data or of differences that are taken out, where their number is found

_LARGEST_SIDE = 0.3  # power of the largest float, in units of the main data: its square can be computed with
_DIRECTIONS = 100
_MOST_DIFFERENCES = 1_000  # more of them are drawn from: their leading directions are the same


@dataclass(frozen=True)
class Unwanted:
    """The known unwanted variation."""

    batches: Array | None = None  # number of the batch per sample
    side: DataMatrix | None = None  # raw side samples with the features of the data
    must: Array | None = None  # pairs x 2: pairs of samples that must be linked
    # directions of the side data, and of the pairs' differences, to project out: so many of each, or all there are
    n_directions: int | Literal["auto"] = "auto"
    # samples x covariates: numbers per sample, such as the depth of sequencing; taken off all features
    covariates: Array | None = None

    @property
    def anything(self) -> bool:
        """Whether anything is known."""
        return self.by_sample or self.side is not None or (self.must is not None and len(self.must) > 0)

    @property
    def by_sample(self) -> bool:
        return self.batches is not None or self.covariates is not None

    def span(self, n_samples: int, roots: Array | None = None) -> Array:
        """Return an orthonormal basis of the centred batch indicators and covariates, rows multiplied by `roots`."""
        parts = [np.empty((n_samples, 0))]
        if self.batches is not None:
            parts.append((self.batches[:, None] == np.unique(self.batches)).astype(np.float64))
        if self.covariates is not None:
            parts.append(self.covariates / np.maximum(np.std(self.covariates, axis=0), np.finfo(np.float64).tiny))
        columns = np.hstack(parts)
        basis, lengths, _ = np.linalg.svd(multiplied_rows(columns, roots), full_matrices=False)
        return np.asarray(basis[:, lengths > 1e-8 * max(1.0, lengths.max(initial=0.0))])


def multiplied_rows(columns: Array, roots: Array | None) -> Array:
    """Return centred columns, about the weighted mean and with rows multiplied by the roots of the weights."""
    if roots is None:
        return columns - columns.mean(axis=0)
    return (columns - np.average(columns, axis=0, weights=roots**2)) * roots[:, None]


@dataclass(frozen=True)
class Cleaned:
    """Data without unwanted variation."""

    data: DataMatrix  # columns of unit norm, or zero where a feature was unwanted variation alone
    usable: Array  # features that still vary
    # features x directions: V, orthonormal, projected out of the feature space. Empty without side data and pairs
    directions: Array
    # samples x batches - 1: U, orthonormal: the span of the centred batch indicators and covariates. Empty without them
    batches: Array
    share: Array  # part of each feature's variance that is not unwanted


def clean(data: DataMatrix, usable: Array, unwanted: Unwanted) -> Cleaned:
    """Return the centred data of unit norm with all unwanted variation taken off: batches, then side data and pairs."""
    directions = np.empty((data.n_features, 0))
    span: Array = np.empty((data.n_samples, 0))
    share: Array = np.ones(data.n_features)
    if not unwanted.anything:
        return Cleaned(data, usable, directions, span, share)
    if unwanted.by_sample:
        span = unwanted.span(data.n_samples, data.roots)
        data, share = without_sample_directions(data, span, usable)
    directions = unwanted_directions(data, replace(unwanted, batches=None, covariates=None))
    if directions.shape[1]:
        data, left = without_feature_directions(data, directions)
        share = share * np.minimum(left, 1.0)  # a projection of the samples can make a feature longer
    usable = usable & (share > 0)
    if not usable.any():
        raise ValueError(
            "Nothing is left of X when the unwanted variation is taken off: no feature varies any more. Give batches "
            "of several samples each, or fewer directions to take out (n_directions)."
        )
    return Cleaned(data, usable, directions, span, share)


def unwanted_directions(data: DataMatrix, unwanted: Unwanted) -> Array:
    """Return V (n_features, n_directions), orthonormal: the directions in which samples vary in unwanted ways.
    Differences between batch means are among them, so that new samples need no batch to be cleaned."""
    found = [_of_side(data, unwanted), _of_pairs(data, unwanted)]
    if unwanted.by_sample:
        found.append(data.project(unwanted.span(data.n_samples, data.roots)).astype(np.float64))
    vectors, lengths, _ = np.linalg.svd(np.hstack(found), full_matrices=False)
    return np.asarray(vectors[:, lengths > 1e-8])


def _of_side(data: DataMatrix, unwanted: Unwanted) -> Array:
    """Return the leading principal directions of the side data, on the scale of the main data."""
    if unwanted.side is None:
        return np.empty((data.n_features, 0))
    raw, scale = _side_in_units(data, unwanted.side)
    side = raw.rescaled(raw.stats().mean, scale)
    wanted = unwanted.n_directions
    # many more than wanted: the last ones are not exact
    count = min(side.n_samples, _DIRECTIONS + (0 if wanted == "auto" else wanted))
    values, vectors = principal_axes(side, np.ones(data.n_features), count, exact=True)
    energies = (raw.stats().centered_norm * scale) ** 2
    count = _number(values, energies, side.n_samples - 1, wanted, side.dtype)
    return np.asarray(side.project(vectors[:, :count]) / np.sqrt(values[:count]), dtype=np.float64)


def _of_pairs(data: DataMatrix, unwanted: Unwanted) -> Array:
    """Return the leading directions of the differences between samples that must be linked."""
    if unwanted.must is None or not len(unwanted.must):
        return np.empty((data.n_features, 0))
    E = differences(unwanted.must, data.n_samples)
    AE = StandardAffinity(data).apply(np.ones(data.n_features), E.T.toarray())
    values, vectors = np.linalg.eigh(E @ AE)
    values, vectors = values[::-1], vectors[:, ::-1]
    laplacian = (E.T @ E).tocsr()
    energies = np.concatenate(data.map_blocks(lambda block: block.quadratic(laplacian)))
    count = _number(values, energies, np.linalg.matrix_rank(E.toarray()), unwanted.n_directions, data.dtype)
    return np.asarray(data.project(E.T @ (vectors[:, :count] / np.sqrt(values[:count]))), dtype=np.float64)


def differences(pairs: Array, n_samples: int) -> csr_array:
    """Return E (pairs x samples): row p of E X is the difference of pair p, divided by sqrt(2)."""
    if len(pairs) > _MOST_DIFFERENCES:
        pairs = np.random.default_rng(0).permutation(pairs)[:_MOST_DIFFERENCES]
    rows = np.repeat(np.arange(len(pairs)), 2)
    signs = np.tile([np.sqrt(0.5), -np.sqrt(0.5)], len(pairs))
    return coo_array((signs, (rows, pairs.ravel())), shape=(len(pairs), n_samples)).tocsr()


def _side_in_units(data: DataMatrix, side: DataMatrix) -> tuple[DataMatrix, Array]:
    """Return the side data, and what its columns are multiplied by to have the units of the standardised main data.
    Columns of extreme scale are multiplied by powers of two first, as those of the main data were. Side data whose
    squares, in these units, cannot be computed with are refused."""
    stats, exponents = side.stats(), data.shared.exponents
    scale, own = np.frexp(np.asarray(getattr(data, "base", data).scale, dtype=np.float64))
    own = own if exponents is None else own + exponents
    limit = float(np.finfo(side.dtype).max) ** _LARGEST_SIDE
    with np.errstate(over="ignore", under="ignore"):
        spread = np.maximum(np.abs(stats.mean), stats.centered_norm)
        beyond = np.flatnonzero((scale > 0) & ~(np.ldexp(spread, own) < limit))
    if len(beyond):
        names = data.feature_names
        which = f"feature {beyond[0]}" if names is None else f"feature '{names[beyond[0]]}'"
        raise ValueError(
            f"The 'side' parameter of fit must have the units of X. In {which} it is more than {limit:.0e} times as "
            "large as the feature varies in X. Give both in the same units, or leave out such features."
        )
    if exponents is None and not stats.extreme(side.dtype).any():
        return side, np.ldexp(scale, own)
    left_out = -np.frexp(np.minimum(spread, np.finfo(np.float64).max))[1]
    found = multiplied(side, np.where(scale > 0, own, left_out))
    if found is None:
        raise ValueError(
            "The 'side' parameter of fit must be in memory where it or X has columns of extreme scale. Load it, or "
            "give both in other units."
        )
    return found, scale


def _number(
    eigenvalues: Array, energies: Array, dimensions: int, wanted: int | Literal["auto"], dtype: np.dtype[Any]
) -> int:
    """Return how many directions to take out: as wanted, or those above the noise edge; none that may be rounding."""
    floor = max(1e-10, 100 * float(np.finfo(dtype).eps)) * float(eigenvalues.max(initial=0.0))
    there = int(np.count_nonzero(eigenvalues > max(floor, np.finfo(np.float64).tiny)))
    if wanted != "auto":
        return min(wanted, there)
    spikes = count_spikes(eigenvalues, energies, max(1, dimensions)) if energies.any() else 0
    return min(spikes, there, MAX_DIRECTIONS)
