"""Fast evaluation of a masked expansion: compiled layers, and look-up tables for single-element columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigensieve.elements.expansion import ElementExpansion
from eigensieve.elements.kernel import LINEAR, RBF


def _readable(X: NDArray) -> NDArray:
    """Return X as the compiled loops want it: rows contiguous, single or double precision."""
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return np.ascontiguousarray(X)


class LayeredPredictor:
    """Single-precision evaluation, a sample at a time, eight columns at once.

    Columns are sorted longest first; layer p holds the p-th element of every column that has one, so each layer is one
    vectorised gather, difference and sum. For the RBF kernel exp - 1 is summed and the weights' total goes into the offset.

    Parameters
    ----------
    expansion : ElementExpansion
    """

    def __init__(self, expansion: ElementExpansion) -> None:
        lengths = expansion.lengths
        layers = [expansion.starts[:-1][lengths > p] + p for p in range(int(lengths.max()) if lengths.size else 0)]
        order = np.concatenate(layers) if layers else np.empty(0, dtype=np.int64)
        self.counts = np.array([layer.size for layer in layers], dtype=np.int64)
        self.ends = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)
        self.features = expansion.features[order].astype(np.int32)
        self.values = expansion.values[order].astype(np.float32)
        kernel = expansion.kernel
        self.kind, self.degree, self.coef0 = kernel.kind, kernel.degree, np.float32(kernel.coef0)
        self.gammas = (kernel.gamma * expansion.factors).astype(np.float32)
        weights = expansion.weights
        if kernel.kind == LINEAR:
            weights = weights * expansion.factors[:, None]
        offset = expansion.intercept + (weights.sum(axis=0) if kernel.kind == RBF else 0.0)
        self.weights = np.ascontiguousarray(weights.T, dtype=np.float32)
        self.offset = np.asarray(offset, dtype=np.float64)

    def decision(self, X: NDArray) -> NDArray:
        """Return f (samples x outputs)."""
        from eigensieve.elements._compiled import layered_decision

        out = np.empty((X.shape[0], self.offset.size))
        layered_decision(
            self.kind, self.degree, self.coef0, _readable(X), self.ends, self.counts, self.features, self.values,
            self.gammas, self.weights, self.offset, out,
        )  # fmt: skip
        return out


@dataclass(frozen=True, eq=False)
class TablePredictor:
    """Single-element columns as one look-up table a feature, linearly interpolated; the rest evaluated in layers.

    A mask column with one element is a function of one feature, so all such columns of a feature add up to one
    one-dimensional function (the paper's look-up table, section 5). Interpolating it between entries h apart is wrong by at
    most h^2/8 times the bound on its second derivative; `error_bound` is the sum over features, for each output. A
    sample with a value outside a table's range is evaluated without tables.

    Parameters
    ----------
    tables : ndarray of shape (n_tables, size, n_outputs)
    features, lows, scales : ndarray of shape (n_tables,)
        Feature, first abscissa and entries per unit of each table.
    offset : ndarray of shape (n_outputs,)
    rest : LayeredPredictor or None
        The columns with more than one element.
    direct : LayeredPredictor
        All columns, for samples outside the range.
    error_bound : ndarray of shape (n_outputs,)
    """

    tables: NDArray
    features: NDArray
    lows: NDArray
    scales: NDArray
    offset: NDArray
    rest: LayeredPredictor | None
    direct: LayeredPredictor
    error_bound: NDArray

    @classmethod
    def build(cls, expansion: ElementExpansion, low: NDArray, high: NDArray, size: int) -> "TablePredictor":
        """Tabulate the single-element columns between `low` and `high` (one value a feature) with `size` entries."""
        single = expansion.lengths == 1
        ones = _subset(expansion, single, expansion.intercept)
        features = np.unique(ones.features)
        width = np.maximum(high[features] - low[features], np.finfo(np.float32).tiny)
        steps = width / (size - 1)
        tables = np.empty((features.size, size, expansion.intercept.size))
        bound = np.zeros(expansion.intercept.size)
        for k, feature in enumerate(features):
            mine = ones.features == feature
            x = low[feature] + steps[k] * np.arange(size)
            terms = ones.kernel.terms(x[:, None], ones.values[mine])
            values = _finish(ones, terms, ones.factors[mine])
            tables[k] = values @ ones.weights[mine]
            curvature = _curvature(ones, mine, low[feature], low[feature] + width[k])
            bound += steps[k] ** 2 / 8 * (curvature @ np.abs(ones.weights[mine]))
        # Each table is centred: the constants are summed once, in double precision.
        middles = tables.mean(axis=1)
        several = _subset(expansion, ~single, np.zeros_like(expansion.intercept))
        return cls(
            np.ascontiguousarray(tables - middles[:, None, :], dtype=np.float32),
            features.astype(np.int32),
            low[features].astype(np.float32),
            (1.0 / steps).astype(np.float32),
            expansion.intercept + middles.sum(axis=0),
            LayeredPredictor(several) if several.n_columns else None,
            LayeredPredictor(expansion),
            bound,
        )

    def decision(self, X: NDArray) -> NDArray:
        """Return f (samples x outputs)."""
        from eigensieve.elements._compiled import table_decision

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


def _subset(expansion: ElementExpansion, kept: NDArray, intercept: NDArray) -> ElementExpansion:
    """Return the expansion with only the kept columns."""
    elements = np.repeat(kept, expansion.lengths)
    return ElementExpansion(
        expansion.kernel,
        expansion.n_features,
        np.concatenate([[0], np.cumsum(expansion.lengths[kept])]).astype(np.int64),
        expansion.features[elements],
        expansion.values[elements],
        expansion.factors[kept],
        expansion.weights[kept],
        intercept,
    )


def _finish(expansion: ElementExpansion, sums: NDArray, factors: NDArray) -> NDArray:
    return expansion.kernel.finish(sums * factors)


def _curvature(expansion: ElementExpansion, mine: NDArray, low: float, high: float) -> NDArray:
    """Return a bound on |d^2 k / dx^2| over [low, high] for single-element columns.

    rbf: 2 gamma, reached at x = b; linear: 0; poly: gamma^2 b^2 degree (degree - 1) |gamma b x + coef0|^(degree - 2),
    largest at an end of the interval.
    """
    kernel = expansion.kernel
    gammas = kernel.gamma * expansion.factors[mine]
    if kernel.kind == RBF:
        return 2.0 * gammas
    if kernel.kind == LINEAR or kernel.degree < 2:
        return np.zeros(gammas.size)
    slopes = gammas * expansion.values[mine]
    reach = np.maximum(np.abs(slopes * low + kernel.coef0), np.abs(slopes * high + kernel.coef0))
    return slopes**2 * kernel.degree * (kernel.degree - 1) * reach ** (kernel.degree - 2)
