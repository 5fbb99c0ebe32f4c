"""Weighted samples: rows times the roots of their weights, so that products over samples are weighted sums.

With m a standardised feature and r_t = sqrt(w_t), the data here is r_t m_t. All products of two features, or of a
feature with columns that are multiplied by r alike, are then sums with the weights w_t.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import diags_array

from eigensieve._types import FloatArray, IntArray
from eigensieve.data.dense import DenseData
from eigensieve.data.gaps import Gaps
from eigensieve.data.matrix import DataMatrix, DerivedData, Shared
from eigensieve.data.passes import Block, BlockFunction, DerivedBlock, Sweep
from eigensieve.data.sparse import SparseData
from eigensieve.data.stats import ColumnStats

_CLOSE = 1e-9  # projections of equal samples differ by less than this share of the largest


def weighted_stats(data: DataMatrix, weights: FloatArray) -> ColumnStats:
    """Return mean and norm of the raw columns with weights: sqrt(sum_t w_t (x_t - mean)^2). The weights have mean 1."""
    stats = data.stats()
    total = float(weights.sum())
    standard = WeightedData(data.standardized("center"), np.sqrt(weights))
    offset = standard.project(standard.roots[:, None] / total)[:, 0].astype(np.float64)
    ones = np.ones(data.n_samples)
    energy = np.concatenate(standard.map_blocks(lambda block: block.squares(ones))) - total * offset**2
    norm = np.asarray(stats.centered_norm) * np.sqrt(np.maximum(energy, 0.0))
    mean = np.asarray(stats.mean) + offset * np.asarray(stats.centered_norm)
    return ColumnStats(mean, norm, stats.finite, stats.constant, data.n_samples)


def weighted_standard(data: DataMatrix, stats: ColumnStats, weights: FloatArray) -> "WeightedData":
    """Return weighted data whose columns are centred, with unit norm, by the statistics of :func:`weighted_stats`."""
    scale = np.divide(1.0, stats.centered_norm, out=np.zeros(data.n_features), where=~stats.constant)
    return WeightedData(data.rescaled(stats.mean, scale, data.standardized("center").far), np.sqrt(weights))


def first_of_equals(data: DataMatrix) -> IntArray:
    """Return, for every sample of data in memory, the first sample with the same values; itself elsewhere."""
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
    for run in np.split(order, np.flatnonzero(~near)[1:]):
        if len(run) > 1:
            first[run] = _firsts(view, np.sort(run), data.shared.gaps)
    return first


def _firsts(data: DataMatrix, rows: IntArray, gaps: Gaps | None) -> IntArray:
    """Return the first of the given samples that is equal to each of them, gaps included."""
    few = data.samples(rows)
    few.shared = Shared()
    values = np.hstack(few.map_blocks(lambda block: np.asarray(block.toarray())))
    if gaps is not None:
        values = np.hstack([values, gaps.among(rows).present(slice(None))])
    _, first, back = np.unique(values, axis=0, return_index=True, return_inverse=True)
    return rows[first[back.reshape(-1)]]


class WeightedData(DerivedData):
    """r_t m_t of standardised data, seen through the same contract as any other data."""

    roots: FloatArray  # r, positive

    def __init__(self, base: DataMatrix, roots: FloatArray) -> None:
        super().__init__(base)
        self.roots = roots
        self.center, self.scale, self.far = base.center, base.scale, base.far

    def moved(self, offset: FloatArray | None, factor: FloatArray) -> "WeightedData":
        return WeightedData(self.base.moved(offset, factor), self.roots)

    def samples(self, rows: IntArray) -> "WeightedData":
        return WeightedData(self.base.samples(rows), self.roots[rows])

    def derive(self) -> Callable[[Block], Block]:
        return partial(WeightedBlock, roots=self.roots)

    def take(self, indices: IntArray | slice) -> FloatArray:
        return self.base.take(indices) * self.roots[:, None].astype(self.dtype)

    def sweep(
        self, V: FloatArray | None, fn: BlockFunction, state: Sequence[FloatArray] = (), *, donate: bool = False
    ) -> Sweep:
        found = self.base.sweep(None if V is None else self.roots[:, None] * V, fn, state, donate=donate)
        back = None if found.back is None else self.roots[:, None] * found.back
        return Sweep(found.state, back, found.total)

    def gram(self, weights: FloatArray) -> FloatArray:
        return self.base.gram(weights) * np.multiply.outer(self.roots, self.roots)


class WeightedBlock(DerivedBlock):
    """A block of weighted data: see :class:`~eigensieve.data.passes.Block` for its methods."""

    def __init__(self, base: Block, roots: FloatArray) -> None:
        super().__init__(base)
        self.roots = roots

    def forward(self, V: FloatArray) -> FloatArray:
        return self.base.forward(self.roots[:, None] * V)

    def back(self, W: FloatArray) -> FloatArray:
        return self.roots[:, None] * self.base.back(W)

    def gram(self, weights: FloatArray) -> FloatArray:
        return self.base.gram(weights) * np.multiply.outer(self.roots, self.roots)

    def quadratic(self, S: Any) -> FloatArray:
        if isinstance(S, np.ndarray):
            return self.base.quadratic(S * np.multiply.outer(self.roots, self.roots))
        return self.base.quadratic((diags_array(self.roots) @ S @ diags_array(self.roots)).tocsr())

    def squares(self, weights: FloatArray) -> FloatArray:
        return self.base.squares(weights * self.roots**2)

    def toarray(self) -> FloatArray:
        Z = self.base.toarray()
        return Z * self.roots[:, None].astype(Z.dtype)
