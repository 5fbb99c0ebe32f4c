"""Pairs of graphs: how samples should differ (between) and how they should not (within).

A pair gives every feature two scatters, b_i = m_i' L_b m_i and e_i = m_i' L_w m_i, the diagonals of B and E (Nie et al.
2008, equations 6 to 13). The trace ratio needs nothing else of the data. They come in two ways: fast, from products
with the whole data; and exact, from the columns, for the few features where a difference of large sums leaves only
rounding.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array, triu

from eigensieve._progress import Progress, silent
from eigensieve._types import FloatArray, IntArray
from eigensieve.data import Block, DataMatrix
from eigensieve.graphs import degrees

_CHUNK_NUMBERS = 1 << 22


class Scatters(NamedTuple):
    """Between and within scatter of every feature, and the size of the sums whose differences they are."""

    between: FloatArray
    within: FloatArray
    scale: FloatArray


class GraphPair(Protocol):
    """The scatters that a pair of graphs gives to features."""

    rows_per_column: int  # how many numbers `exact` holds per column

    def fast(self, data: DataMatrix) -> Scatters:
        """Return the scatters of all features of raw data, computed in blocks with implicit centring."""

    def exact(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return between and within scatter of the given columns, exactly zero where nothing differs."""


def diagonals(data: DataMatrix, pair: GraphPair, progress: Progress = silent) -> tuple[FloatArray, FloatArray]:
    """Return between and within scatter of every feature, non-negative, in float64.

    The fast sums are differences, so a within scatter far below the total is mostly rounding. Such features are
    computed again from their columns. "No within scatter" is then exact, as the selection rules need. Constant features
    have neither scatter.
    """
    progress(f"scatter of {data.n_features} features")
    found = pair.fast(data)
    b = np.maximum(found.between, 0.0)
    e = np.maximum(found.within, 0.0)

    doubtful = np.flatnonzero((found.scale > 0) & (found.within <= _rounding(data) * found.scale))
    raw = data.rescaled(None, None)
    size = max(1, _CHUNK_NUMBERS // pair.rows_per_column)
    for first in range(0, len(doubtful), size):
        progress(f"exact scatter of doubtful features, {first} of {len(doubtful)}")
        chunk = doubtful[first : first + size]
        b[chunk], e[chunk] = pair.exact(raw.take(chunk).astype(np.float64))
    return np.maximum(b, 0.0), e


def _rounding(data: DataMatrix) -> float:
    """Share of a sum below which a difference is doubtful. Rounding is at least three digits smaller."""
    return 1e-3 if data.dtype == np.float32 else 1e-8


class FisherPair:
    """Equations (10) and (11): b = sum_c n_c (mean_c - mean)^2, e = sum_c sum_{t in c} (x_t - mean_c)^2.

    `codes` are the classes of the samples from 0; -1 leaves a sample out.
    """

    def __init__(self, codes: IntArray) -> None:
        self.codes = codes
        self.counts = np.bincount(codes[codes >= 0]).astype(np.float64)
        self.rows_per_column = len(codes)

    def fast(self, data: DataMatrix) -> Scatters:
        found = data.map_blocks(lambda block: class_scatter(block, self.codes, self.counts))
        between, total, energy = _stack(found)
        return Scatters(between, total - between, energy)

    def exact(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        means, within = [], np.zeros(columns.shape[1])
        for c in range(len(self.counts)):
            rows = columns[self.codes == c]
            # About the first sample of the class, so that equal values give exactly zero.
            deviation = rows - rows[0]
            middle = deviation.mean(axis=0)
            within += ((deviation - middle) ** 2).sum(axis=0)
            means.append(rows[0] + middle)
        return _weighted_scatter(np.array(means), self.counts), within


def class_scatter(block: Block, codes: IntArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return every feature's scatter of the class means and its total scatter, about its mean, in float64.

    The third result is the sum of squares of which both are differences: it measures their rounding. `codes` numbers
    the class of every sample from 0, -1 leaves a sample out; `counts` are the class sizes.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # infinite and NaN are for the caller to see
        sums, squares, unit = block.grouped_sums(codes, len(counts))
        mean_energy = sums.sum(axis=0) ** 2 / counts.sum()
        between = (sums**2 / counts[:, None]).sum(axis=0) - mean_energy
        return between * unit**2, (squares - mean_energy) * unit**2, squares * unit**2


class LaplacianPair:
    """Equations (12) and (13): e = m' (D - A) m, b = m'D m - (m'd)^2 / sum(d), d the degrees of the graph A."""

    def __init__(self, graph: csr_array) -> None:
        self.d = degrees(graph)
        self.L = csr_array(diags_array(self.d) - graph)
        self.D = csr_array(diags_array(self.d))
        self.edges = _Edges(graph)
        self.rows_per_column = self.edges.count

    def fast(self, data: DataMatrix) -> Scatters:
        d = self.d[:, None]

        def scatter(block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
            energy = block.quadratic(self.D)
            mean = block.forward(d)[:, 0].astype(np.float64)
            return energy - mean**2 / self.d.sum(), block.quadratic(self.L), energy

        return Scatters(*_of_centred(data, scatter))

    def exact(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _weighted_scatter(columns, self.d), self.edges.scatter(columns)


class GivenPair:
    """Two graphs of the user's own: b = m' L_b m, e = m' L_w m.

    The between graph may have negative weights, if no scatter is negative. So the graphs of the Fisher score are a pair
    (equation 11: A_b = 1 / n - 1 / n_c within class c, and 1 / n across).
    """

    def __init__(self, within: csr_array, between: csr_array) -> None:
        self.L_w, self.L_b = (csr_array(diags_array(degrees(A)) - A) for A in (within, between))
        self.D_w, self.D_b = (csr_array(diags_array(degrees(abs(A)))) for A in (within, between))
        self.edges_w, self.edges_b = _Edges(within), _Edges(between)
        self.rows_per_column = max(self.edges_w.count, self.edges_b.count)

    def fast(self, data: DataMatrix) -> Scatters:
        def scatter(block: Block) -> tuple[FloatArray, ...]:
            return tuple(block.quadratic(matrix) for matrix in (self.L_b, self.L_w, self.D_w, self.D_b))

        between, within, scale, size = _of_centred(data, scatter)
        negative = np.flatnonzero(between < -_rounding(data) * size)
        if len(negative):
            raise ValueError(
                "The 'between' graph must give no feature a negative scatter m'(D - A)m. Got "
                f"{between[negative[0]]:.3g} for column {negative[0]} ({len(negative)} of {data.n_features} columns). "
                "Use weights that are not negative, or larger ones between samples that should differ."
            )
        return Scatters(between, within, scale)

    def exact(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.edges_b.scatter(columns), self.edges_w.scatter(columns)


class MixedPair:
    """A weighted sum of pairs: both graphs are weighted sums of the parts' graphs."""

    def __init__(self, parts: Sequence[tuple[float, GraphPair]]) -> None:
        self.parts = list(parts)
        self.rows_per_column = max(pair.rows_per_column for _, pair in self.parts)

    def fast(self, data: DataMatrix) -> Scatters:
        total = np.zeros((3, data.n_features))
        for weight, pair in self.parts:
            total += weight * np.array(pair.fast(data))
        return Scatters(*total)

    def exact(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = np.zeros((2, columns.shape[1]))
        for weight, pair in self.parts:
            total += weight * np.array(pair.exact(columns))
        return total[0], total[1]


def semi_supervised_pair(codes: IntArray, graph: csr_array, laplacian_weight: float) -> MixedPair:
    """Fisher on the labelled samples, Laplacian on all, each scaled to a total degree of one.

    The mixture then does not depend on the number of labels, nor on the graph's weights.
    """
    fisher, laplacian = FisherPair(codes), LaplacianPair(graph)
    return MixedPair(
        [((1.0 - laplacian_weight) / fisher.counts.sum(), fisher), (laplacian_weight / laplacian.d.sum(), laplacian)]
    )


class _Edges:
    """Every edge once, for sums over edges of w (x_i - x_j)^2."""

    def __init__(self, graph: csr_array) -> None:
        upper = triu(graph, k=1).tocoo()
        self.i, self.j, self.weights = upper.row, upper.col, upper.data
        self.count = max(len(self.weights), graph.shape[0])

    def scatter(self, columns: FloatArray) -> FloatArray:
        return self.weights @ (columns[self.i] - columns[self.j]) ** 2


def _weighted_scatter(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_t w_t (x_t - mean)^2 about the weighted mean; exactly zero where the weighted rows are equal."""
    weighted = weights > 0
    weights, columns = weights[weighted], columns[weighted]
    deviation = columns - columns[0]
    deviation -= weights @ deviation / weights.sum()
    return weights @ deviation**2


def _of_centred(data: DataMatrix, scatter: Callable[[Block], tuple[FloatArray, ...]]) -> list[FloatArray]:
    """Return the scatters that a function finds in centred blocks; constant features have none."""
    stats = data.stats()
    found = _stack(data.rescaled(stats.mean, None).map_blocks(scatter))
    for part in found:
        part[stats.constant] = 0.0
    return found


def _stack(parts: list[tuple[Any, ...]]) -> list[FloatArray]:
    return [np.concatenate(column) for column in zip(*parts, strict=True)]
