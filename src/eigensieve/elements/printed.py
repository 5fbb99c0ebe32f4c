"""Algorithm 1 as printed (Avidan, section 4): K is matched, without a constant, and nothing is given back.

Each element takes what least squares on all masked columns explains out of K. When a column gains an element, what it
took out before is not put back. K is orthogonal to the other columns then, so only one new direction is taken out.
"""

from collections.abc import Sequence

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.elements.kernel import MaskedKernel
from eigensieve.elements.state import COLLINEAR, SelectionState


class PrintedState(SelectionState):
    """The masked columns so far. `residual` and `targets` are both what is left of K."""

    n_constants = 0

    def __init__(self, kernel: MaskedKernel, X: FloatArray, B: FloatArray) -> None:
        super().__init__(kernel, X, B, kernel.full(X.astype(np.float64), B.astype(np.float64)))

    def _append(self, values: FloatArray) -> bool:
        added = super()._append(values)
        self.targets = self.residual
        return added

    def best(self, rows: IntArray, candidates: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Return the candidate (basis, feature) with which all masked columns leave least of K on these samples.

        The paper does not say how candidates are compared; the printed loop goes on with these least squares. If there
        are no more samples than columns, all candidates are equal and the first is returned.
        """
        left, seen = self.residual[rows], self.Q[rows]
        sizes, V = np.linalg.eigh(seen.T @ seen)
        V, sizes = V[:, sizes > COLLINEAR], np.sqrt(sizes[sizes > COLLINEAR])
        Q = seen @ (V / sizes)  # orthonormal on these samples
        values = np.stack([self._column(rows, *candidate) for candidate in candidates], axis=1)
        outside, given_up = values - Q @ (Q.T @ values), np.zeros(len(candidates))
        for i, (basis, _) in enumerate(candidates):
            if (position := self.position(basis)) >= 0:  # the column as it is makes room for the longer one
                dual = self.dual(position)
                own = V.T @ dual
                if own @ own > (1.0 - COLLINEAR) * (dual @ dual):  # the other columns do not span it on these samples
                    direction = Q @ (own / sizes)
                    direction /= np.linalg.norm(direction)
                    outside[:, i] += direction * (direction @ values[:, i])
                    given_up[i] = np.sum((direction @ left) ** 2)
        squares = np.sum(outside**2, axis=0)
        free = squares > COLLINEAR * np.sum(values**2, axis=0)
        gains = np.sum((outside.T @ left) ** 2, axis=1) / np.where(free, squares, np.inf) - given_up
        return candidates[int(np.argmax(gains))]

    def _column(self, rows: IntArray, basis: int, feature: int) -> FloatArray:
        position = self.position(basis)
        features = [*(self.columns[position].features if position >= 0 else []), feature]
        terms = self.kernel.terms(self.X[rows][:, features], self.B[basis, features])
        return self.kernel.finish(terms.sum(axis=1, dtype=np.float64))
