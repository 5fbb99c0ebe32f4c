"""The mask found while the SVM is trained, not after it (avidan, section 7, future work).

An SVM with squared hinge loss is least squares on the samples inside its margin (Chapelle, 2007). So the search of
section 4.1 chooses ten elements by least squares of the labels on those samples, the SVM of all masked columns is
solved, the samples inside its margin change, and the next ten elements are chosen.
"""

import numpy as np

from eigensieve.elements import RBF, Column, MaskedKernel, Plan, SelectionState, select, solve_weights
from experiments.frame import Array

_CHUNK, _RIDGE = 10, 1e-6


class MaskedSVM:
    """A machine of `n_elements` elements of the training samples, trained with its mask. `gamma` is that of the RBF."""

    def __init__(self, n_elements: int, gamma: float) -> None:
        self.n_elements = n_elements
        self.kernel = MaskedKernel(RBF, gamma)

    def fit(self, X: Array, y: Array, rng: np.random.Generator) -> "MaskedSVM":
        """Train on labels 0 and 1."""
        signs = np.where(y == 1, 1.0, -1.0)[:, None]
        no_machine = np.zeros((len(X), 1))
        self.B, whole = X, SelectionState(self.kernel, X, X, signs)
        inside, columns = np.arange(len(X)), list[Column]()
        for count in range(_CHUNK, self.n_elements + _CHUNK, _CHUNK):
            state = SelectionState(self.kernel, X[inside], X, signs[inside])
            for column in columns:
                state.add_whole_column(column.basis, column.features)
            state.n_elements = sum(len(column.features) for column in state.columns)
            plan = Plan(n_elements=min(count, self.n_elements), search="probabilistic", rescale=False)
            columns = select(plan, state, no_machine, rng).columns
            self.weights, self.intercept, inside = squared_hinge(whole.design(columns), signs)
        self.columns = columns
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the decision values."""
        whole = SelectionState(self.kernel, X, self.B, np.zeros((len(X), 1)))
        return (whole.design(self.columns) @ self.weights + self.intercept)[:, 0]


def squared_hinge(K: Array, signs: Array) -> tuple[Array, Array, Array]:
    """Return weights, intercept and the samples inside the margin of the linear SVM with squared hinge loss on K.

    Newton's method: least squares on the samples inside the margin, and half the step while that does not help.
    """

    def loss(point: Array) -> float:
        slack = np.maximum(0.0, 1.0 - signs * (K @ point[:-1] + point[-1]))
        return float(np.sum(slack**2) / len(K) + _RIDGE * np.sum(point[:-1] ** 2))

    point = np.zeros((K.shape[1] + 1, 1))
    while True:
        inside = np.flatnonzero(signs * (K @ point[:-1] + point[-1]) < 1)
        goal = np.vstack(solve_weights(K[inside], signs[inside], _RIDGE * len(K) / len(inside)))
        step = goal - point
        while loss(point + step) >= loss(point) and np.abs(step).max() > 1e-9 * np.abs(point).max():
            step /= 2
        if loss(point + step) >= loss(point) * (1 - 1e-9):
            return point[:-1], point[-1], inside
        point = point + step
