"""Fast evaluation of a masked expansion: compiled columns, and look-up tables for single-element columns."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.elements.expansion import UNIT, ElementExpansion, single_precision_bound
from eigensieve.elements.kernel import LINEAR, RBF

CHECKED = 256
"""Single precision is tried on at least half as many samples, if there are as many."""
SINGLE_ERROR = 3e-6
"""Largest error of single precision that is accepted."""


def _readable(X: FloatArray) -> FloatArray:
    """Return X as the compiled loops want it: rows contiguous, single or double precision."""
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return np.ascontiguousarray(X)


class Predictor(Protocol):
    """A way to evaluate an expansion."""

    def decision(self, X: FloatArray) -> FloatArray:
        """Return f (samples x outputs)."""
        ...


def single_is_enough(expansion: ElementExpansion, X: FloatArray) -> bool:
    """Return whether single precision is exact to `SINGLE_ERROR` on X; it is not where weights cancel each other."""
    sample = X[:: max(1, X.shape[0] // CHECKED)]
    single = TiledPredictor(expansion, np.float32).decision(sample)
    return bool(np.abs(single - expansion.decision(sample)).max() <= SINGLE_ERROR)


class TiledPredictor:
    """Compiled evaluation, column by column in the precision `dtype`, for a tile of samples at once; sums are double.
    For the rbf kernel, exp - 1 is summed and the weights' total goes into the offset, so large opposite weights cost no
    digits."""

    def __init__(self, expansion: ElementExpansion, dtype: type) -> None:
        self.used, self.places = np.unique(expansion.features, return_inverse=True)
        self.starts = expansion.starts
        self.values: FloatArray = expansion.values.astype(dtype)
        kernel = expansion.kernel
        # The linear kernel is the polynomial of degree 1 without a constant.
        linear = kernel.kind == LINEAR
        self.kind, self.degree = kernel.kind, 1 if linear else kernel.degree
        self.coef0 = dtype(kernel.coef0 * (not linear))
        self.gammas: FloatArray = expansion.gammas.astype(dtype)
        self.weights = np.ascontiguousarray(expansion.weights.T)
        self.offset = expansion.intercept + (expansion.weights.sum(axis=0) if kernel.kind == RBF else 0.0)

    def decision(self, X: FloatArray) -> FloatArray:
        """Return f (samples x outputs)."""
        from eigensieve.elements._predictor_numba import tiled_decision

        out = np.empty((X.shape[0], self.offset.size))
        tiled_decision(
            self.kind, self.degree, self.coef0, _readable(X), self.used, self.starts, self.places, self.values,
            self.gammas, self.weights, self.offset, out,
        )  # fmt: skip
        return out


@dataclass(frozen=True, eq=False)
class TablePredictor:
    """Single-element columns as one look-up table per feature, linearly interpolated (section 5); others as they are.

    Interpolating between entries h apart is wrong by at most h^2/8 times the bound on the second derivative.
    `error_bound` is the sum over features, per output, plus what single precision can add. A sample with a value
    outside a table's range is evaluated without tables, in double precision.
    """

    tables: FloatArray  # tables x entries x outputs
    features: IntArray  # of each table
    lows: FloatArray  # first abscissa of each table
    scales: FloatArray  # entries per unit of each table
    offset: FloatArray
    rest: Predictor | None  # the columns with more than one element
    direct: Predictor  # all columns, for samples outside the range
    error_bound: FloatArray  # per output

    @classmethod
    def build(
        cls, expansion: ElementExpansion, low: FloatArray, high: FloatArray, size: int, dtype: type
    ) -> "TablePredictor":
        """Tabulate the single-element columns from `low` to `high` with `size` entries, the others in `dtype`."""
        single = expansion.lengths == 1
        ones = expansion.take(np.flatnonzero(single))
        features = np.unique(ones.features)
        width = np.maximum(high[features] - low[features], np.finfo(np.float32).tiny)
        steps = width / (size - 1)
        tables = np.empty((features.size, size, expansion.intercept.size))
        bound = np.zeros(expansion.intercept.size)
        for k, feature in enumerate(features):
            mine = ones.features == feature
            x = low[feature] + steps[k] * np.arange(size)
            terms = ones.kernel.terms(x[:, None], ones.values[mine])
            tables[k] = ones.kernel.finish(terms * ones.factors[mine]) @ ones.weights[mine]
            curvature = _curvature(ones, mine, low[feature], low[feature] + width[k])
            bound += steps[k] ** 2 / 8 * (curvature @ np.abs(ones.weights[mine]))
        # Each table is centred: the constants are summed once, in double precision.
        middles = tables.mean(axis=1)
        tables -= middles[:, None, :]
        reach = np.maximum(np.abs(low), np.abs(high))
        bound += _table_rounding(tables, reach[features], steps)
        several = expansion.take(np.flatnonzero(~single))
        several = replace(several, intercept=np.zeros_like(expansion.intercept))
        bound += single_precision_bound(several, reach)
        return cls(
            np.ascontiguousarray(tables, dtype=np.float32), features.astype(np.int32),
            low[features].astype(np.float32), (1.0 / steps).astype(np.float32),
            expansion.intercept + middles.sum(axis=0), TiledPredictor(several, dtype) if several.n_columns else None,
            TiledPredictor(expansion, np.float64), bound,
        )  # fmt: skip

    def decision(self, X: FloatArray) -> FloatArray:
        """Return f (samples x outputs)."""
        from eigensieve.elements._predictor_numba import table_decision

        X = _readable(X)
        out = np.zeros((X.shape[0], self.offset.size))
        missed = np.zeros(X.shape[0], dtype=np.bool_)
        table_decision(X, self.features, self.lows, self.scales, self.tables, out, missed)
        out += self.offset
        if self.rest is not None:
            out += self.rest.decision(X)
        if missed.any():
            out[missed] = self.direct.decision(X[missed])
        return out


def _table_rounding(tables: FloatArray, reach: FloatArray, steps: FloatArray) -> FloatArray:
    """Return what single precision can add to the error of interpolation, per output: rounding of the sample, the first
    abscissa and three operations moves the place in a table, and two entries and two operations are rounded."""
    places = UNIT * (2.0 * reach / steps + 4.0 * tables.shape[1])
    rises = np.abs(np.diff(tables, axis=1)).max(axis=1, initial=0.0)
    heights = np.abs(tables).max(axis=1, initial=0.0)
    return places @ rises + 6.0 * UNIT * heights.sum(axis=0)


def _curvature(expansion: ElementExpansion, mine: BoolArray, low: float, high: float) -> FloatArray:
    """Return a bound on |d^2 k / dx^2| over [low, high] for single-element columns. rbf, bump: 2 gamma, at x = b.
    linear: 0. poly, at an end of the interval: gamma^2 b^2 degree (degree - 1) |gamma b x + coef0|^(degree - 2)."""
    kernel = expansion.kernel
    gammas = expansion.gammas[mine]
    if kernel.is_radial:
        return 2.0 * gammas
    if kernel.kind == LINEAR or kernel.degree < 2:
        return np.zeros(gammas.size)
    slopes = gammas * expansion.values[mine]
    reach = np.maximum(np.abs(slopes * low + kernel.coef0), np.abs(slopes * high + kernel.coef0))
    return slopes**2 * kernel.degree * (kernel.degree - 1) * reach ** (kernel.degree - 2)
