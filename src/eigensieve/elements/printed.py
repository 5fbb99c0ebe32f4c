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
        left = self.residual[rows]
        Q, R = np.linalg.qr(self.Q[rows])
        own = Q @ _own_directions(R @ self.R)
        values = np.stack([self._column(rows, *candidate) for candidate in candidates], axis=1)
        outside, given_up = values - Q @ (Q.T @ values), np.zeros(len(candidates))
        for i, (basis, _) in enumerate(candidates):
            if (position := self.position(basis)) >= 0:  # the column as it is makes room for the longer one
                outside[:, i] += own[:, position] * (own[:, position] @ values[:, i])
                given_up[i] = np.sum((own[:, position] @ left) ** 2)
        squares = np.sum(outside**2, axis=0)
        free = squares > COLLINEAR * np.sum(values**2, axis=0)
        gains = np.sum((outside.T @ left) ** 2, axis=1) / np.where(free, squares, np.inf) - given_up
        return candidates[int(np.argmax(gains))]

    def _column(self, rows: IntArray, basis: int, feature: int) -> FloatArray:
        position = self.position(basis)
        features = [*(self.columns[position].features if position >= 0 else []), feature]
        terms = self.kernel.terms(self.X[rows][:, features], self.B[basis, features])
        return self.kernel.finish(terms.sum(axis=1, dtype=np.float64))


def _own_directions(R: FloatArray) -> FloatArray:
    """Return per column of R the unit vector of their span that is orthogonal to all other columns, in columns.

    Zeros if there are more columns than rows: the others then span as much.
    """
    if R.shape[0] < R.shape[1]:
        return np.zeros(R.shape)
    dual = np.linalg.inv(R).T
    return dual / np.linalg.norm(dual, axis=0)
