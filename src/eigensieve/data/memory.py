"""What only data in memory is put right for: missing values, columns of extreme scale, and equal samples.

A gap is no evidence. It is filled with the expected value, so that it counts as zero later. A feature is centred over
its values, as in a copy whose gaps hold the mean. Permuted copies leave the gaps in place. A feature of which the share
p is there has the squared norm p, not 1.

Columns of extreme scale are multiplied by powers of two: no digit of a value changes, and products can be computed.
"""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from eigensieve._types import Array, BoolArray, FloatArray, IntArray
from eigensieve.data.dense import DenseData
from eigensieve.data.matrix import DataMatrix, Shared
from eigensieve.data.sparse import SparseData

_ENTRIES = 1 << 18  # values filled at a time
_MOST = 1000  # 2^1000 and its reciprocal can be represented
_CLOSE = 1e-9  # projections of equal samples differ by less than this share of the largest


@dataclass(frozen=True, eq=False)
class Gaps:
    X: Array  # the values as they were given
    share: FloatArray  # of the samples that have a value, per feature
    rows: IntArray | None = None  # which samples of X the data holds; None for all

    def present(self, columns: IntArray | slice) -> BoolArray:
        some = self.X[:, columns]
        return ~np.isnan(some if self.rows is None else some[self.rows])

    def among(self, rows: IntArray) -> "Gaps":
        return replace(self, rows=rows if self.rows is None else self.rows[rows])


def share_present(data: DataMatrix) -> FloatArray:
    return np.ones(data.n_features) if data.shared.gaps is None else data.shared.gaps.share


def without_gaps(data: DataMatrix, span: FloatArray | None = None, weights: FloatArray | None = None) -> DataMatrix:
    """Return a copy of raw data with gaps at their feature's mean, or least-squares fit on `span` (samples x
    directions), so that they are zero once these are taken off. Features without values become zero. Data without gaps,
    or not dense in memory, is returned as it is."""
    known = data.shared.gaps
    if not isinstance(data, DenseData) or (known is None and data.stats().finite.all()):
        return data
    given = data.X if known is None else known.X if known.rows is None else known.X[known.rows]
    filled = data.X.copy() if known is None else data.X
    share = np.ones(data.n_features)
    design = np.ones((len(given), 1)) if span is None else np.column_stack([np.ones(len(given)), span])
    size = max(1, _ENTRIES // len(given))
    for start in range(0, data.n_features, size):
        _fill(given, filled, share, design, weights, slice(start, start + size))
    found = DenseData(filled)
    found.shared = Shared(names=data.shared.names, progress=data.shared.progress, gaps=Gaps(given, share))
    found.shared.exponents = data.shared.exponents
    return found


def _fill(
    given: Array, filled: FloatArray, share: FloatArray, design: FloatArray, weights: FloatArray | None, here: slice
) -> None:
    """Fill the gaps of some features, and note the share of each that is there."""
    gaps = np.isnan(given[:, here])
    lacking = np.flatnonzero(gaps.any(axis=0))
    if not len(lacking):
        return
    places, gaps = here.start + lacking, gaps[:, lacking]
    values, there = given[:, places].astype(np.float64), ~gaps
    values[gaps] = 0.0
    counted = there if weights is None else there * weights[:, None]
    share[places] = counted.sum(axis=0) / (len(given) if weights is None else weights.sum())
    middle = (values / np.maximum(there.sum(axis=0), 1)).sum(axis=0)  # the sum of the largest numbers would overflow
    if weights is None and design.shape[1] == 1:
        filled[:, places] = np.where(gaps, middle, given[:, places])
        return
    unit = np.frexp(np.abs(values).max(axis=0))[1]
    with np.errstate(invalid="ignore"):  # infinity is refused later
        about = np.ldexp(np.where(there, values - middle, 0.0), -unit) * counted
    k = design.shape[1]
    pairs = (design[:, :, None] * design[:, None, :]).reshape(len(design), k * k)
    normal = (counted.T @ pairs).reshape(-1, k, k)
    fit = np.linalg.pinv(normal, rcond=1e-10, hermitian=True) @ (about.T @ design)[:, :, None]
    filled[:, places] = np.where(gaps, middle + np.ldexp(design @ fit[:, :, 0].T, unit), given[:, places])


def rescaled_extremes(data: DataMatrix, extreme: BoolArray) -> DataMatrix | None:
    """Return a copy of raw data in which the extreme columns have a plain scale; None if the data is not in memory. The
    powers of two are ``shared.exponents`` of the copy."""
    stats = data.stats()
    # The power of two follows the larger of mean and spread, so that neither overflows.
    size = np.maximum(np.abs(stats.mean), stats.centered_norm)
    exponents = np.where(extreme, -np.frexp(np.where(extreme, size, 1.0))[1], 0)
    exponents[extreme & ~np.isfinite(size)] = -_MOST
    return multiplied(data, exponents)


def multiplied(data: DataMatrix, exponents: IntArray) -> DataMatrix | None:
    """Return a copy of raw data whose columns are multiplied by powers of two; None if the data is not in memory."""
    found: DataMatrix
    if not isinstance(data, (DenseData, SparseData)):
        return None
    if isinstance(data, DenseData):
        found = DenseData(np.ldexp(data.X, exponents).astype(data.dtype, copy=False))
    else:
        found = copy(data)
        found.values = np.ldexp(data.values.astype(data.dtype), np.repeat(exponents, np.diff(data.indptr)))
    shared, gaps = data.shared, data.shared.gaps
    if gaps is not None:
        gaps = replace(gaps, X=np.ldexp(gaps.X, exponents))
    found.shared = Shared(names=shared.names, progress=shared.progress, exponents=exponents, gaps=gaps)
    return found


def first_of_equals(data: DataMatrix) -> IntArray:
    """Return, for every sample of data in memory, the first sample with the same values and gaps; itself elsewhere."""
    own = np.arange(data.n_samples)
    if not isinstance(data, DenseData | SparseData):
        return own
    view = data.rescaled(None, None)
    view.shared = Shared()
    places = view.combine(np.random.default_rng(0).standard_normal((data.n_features, 2)))[:, 0]
    order = np.argsort(places, kind="stable")
    limit = _CLOSE * max(float(np.abs(places).max()), np.finfo(np.float64).tiny)
    near = np.concatenate([[False], np.diff(places[order]) <= limit])
    if not near.any():
        return own
    first = own.copy()
    for rows in map(np.sort, np.split(order, np.flatnonzero(~near)[1:])):
        if len(rows) > 1:
            few = view.samples(rows)
            few.shared = Shared()
            values = np.hstack(few.map_blocks(lambda block: np.asarray(block.toarray())))
            if data.shared.gaps is not None:
                values = np.hstack([values, data.shared.gaps.among(rows).present(slice(None))])
            _, earliest, back = np.unique(values, axis=0, return_index=True, return_inverse=True)
            first[rows] = rows[earliest[back.reshape(-1)]]
    return first
