"""Missing values: a gap is no evidence. It is filled with the expected value, so that it counts as zero later.

A feature is centred over its values, as in a copy whose gaps hold the mean. Permuted copies leave the gaps in place. A
feature of which the share p is there has the squared norm p, not 1.
"""

from dataclasses import dataclass, replace

import numpy as np

from eigensieve._types import Array, BoolArray, FloatArray, IntArray
from eigensieve.data.dense import DenseData
from eigensieve.data.matrix import DataMatrix, Shared

_ENTRIES = 1 << 18  # values filled at a time


@dataclass(frozen=True, eq=False)
class Gaps:
    """Where values are missing."""

    X: Array  # the values as they were given
    share: FloatArray  # of the samples that have a value, per feature
    rows: IntArray | None = None  # which samples of X the data holds; None for all

    def present(self, columns: Array | slice) -> BoolArray:
        """Return which samples have a value in some features."""
        some = self.X[:, columns]
        return ~np.isnan(some if self.rows is None else some[self.rows])

    def among(self, rows: IntArray) -> "Gaps":
        """Return the gaps of some samples."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])


def share_present(data: DataMatrix) -> FloatArray:
    """Return the share of the samples that have a value, per feature."""
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
