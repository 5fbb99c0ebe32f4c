"""The penalty for pairs of samples that are known to belong apart, or together (2004, section 5).

A cannot-link pair (x, y) asks for a small (x'y)^2 = (sum_i w_i x_i y_i)^2 = w'Fw, F_rs = x_r y_r x_s y_s, a must-link
pair for a large one. The criterion becomes w'(G - lambda B)w with

B = (q^2 / 2) (mean of F over the cannot-link pairs - mean of F over the must-link pairs).

The paper's B is the sum over the cannot-link pairs. With the mean, lambda does not depend on their number: one pair of
q = 40 samples counts 800 times as much as printed.
"""

from typing import Any

import numpy as np

from eigensieve._types import Array, FloatArray
from eigensieve.data import Block, DataMatrix
from eigensieve.qalpha.knowledge.checks import Pairs


class PairPenalty:
    """lambda B, known by its products: two passes over the data, and memory for one number per pair. With a_p = A(w)_xy
    for pair p and its coefficient c_p, (B w)_i = sum_p c_p a_p x_i y_i. `data` is standardised, `strength` is lambda,
    and `scale` is s_i where weights of the form w = S b are sought."""

    def __init__(self, data: DataMatrix, pairs: Pairs, strength: float, scale: FloatArray | None = None) -> None:
        self.data = data
        together = np.vstack([pairs.cannot, pairs.must])
        order = np.lexsort((together[:, 1], together[:, 0]))
        whole = strength * data.n_samples**2 / 2
        sizes = np.array([len(pairs.cannot), len(pairs.must)])
        coefficient = np.repeat(np.array([whole, -whole]) / np.maximum(1, sizes), sizes)
        self.first = np.ascontiguousarray(together[order, 0])
        self.second = np.ascontiguousarray(together[order, 1])
        self.coefficient = coefficient[order]
        self.scale = np.ones(data.n_features) if scale is None else scale

    @property
    def parts(self) -> tuple[Array, ...]:
        return self.first, self.second, self.coefficient, self.scale

    def affinities(self, weights: FloatArray) -> FloatArray:
        """Return A(w)_xy for every pair; one pass."""
        from eigensieve.qalpha.knowledge._pairs_numba import add_affinities

        scaled = self.scale * weights
        first, second = self.first, self.second

        def segment(piece: DataMatrix, offset: int, spans: Any) -> FloatArray:
            out = np.zeros(len(first))
            for start, stop in spans:
                Z = np.ascontiguousarray(piece.block(start, stop).toarray())
                add_affinities(Z, scaled[offset + start : offset + stop], first, second, out)
            return out

        total = np.zeros(len(first))
        for part in self.data.each_segment(segment):  # summed as they come: a list would hold the pairs many times
            total += part
        return total

    def product(self, weights: FloatArray) -> FloatArray:
        """Return lambda B w."""
        from eigensieve.qalpha.knowledge._pairs_numba import add_products

        values = self.coefficient * self.affinities(weights)
        first, second = self.first, self.second

        def block(part: Block) -> FloatArray:
            out = np.zeros(part.stop - part.start)
            add_products(np.ascontiguousarray(part.toarray()), values, first, second, out)
            return out

        return self.scale * np.concatenate(self.data.map_blocks(block))
