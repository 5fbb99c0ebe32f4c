"""Element selection as printed: Algorithm 1 of avidan with the probabilistic speed-up of its section 4.1."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from eigensieve._types import Array

_CANDIDATES, _SAMPLES, _CHUNK, _TRIES = 60, 0.1, 10, 3


@dataclass
class _Selected:
    """The mask so far, the masked columns, an orthonormal basis of them, and what is left of K."""

    residual: Array
    mask: dict[int, list[int]] = field(default_factory=dict)
    basis: list[Array] = field(default_factory=list)

    def copy(self) -> "_Selected":
        mask = {column: list(rows) for column, rows in self.mask.items()}
        return _Selected(self.residual.copy(), mask, list(self.basis))


class PrintedElements:
    """A machine of `n_elements` elements, without the constant that the library's own fit adds.

    Parameters
    ----------
    B : ndarray of shape (n_basis, n_features)
        Support vectors.
    alpha : ndarray of shape (n_basis,)
    gamma : float
        Of the RBF kernel.
    """

    def __init__(self, B: Array, alpha: Array, gamma: float) -> None:
        self.B, self.alpha, self.gamma = B.astype(np.float64), alpha, gamma

    def fit(self, X: Array, n_elements: int, rng: np.random.Generator) -> "PrintedElements":
        """Select elements on X: the best of three chunks of ten, again and again; then solve the weights."""
        X = X.astype(np.float64)
        K = rbf_kernel(X, self.B, gamma=self.gamma)
        state = _Selected(K.copy())
        while sum(map(len, state.mask.values())) < n_elements:
            tries = [self._chunk(X, K, state.copy(), rng) for _ in range(_TRIES)]
            state = min(tries, key=lambda tried: float(np.sum(tried.residual**2)))
        self.mask = state.mask
        self.weights = np.linalg.lstsq(self._columns(X), K @ self.alpha, rcond=None)[0]
        return self

    def _chunk(self, X: Array, K: Array, state: _Selected, rng: np.random.Generator) -> _Selected:
        for _ in range(_CHUNK):
            self._add_best(X, K, state, rng)
        return state

    def _add_best(self, X: Array, K: Array, state: _Selected, rng: np.random.Generator) -> None:
        """Add the element whose column takes most of the residual away, judged on a tenth of the samples.

        A candidate in a column that is in use is judged like a new column, although it replaces the old one. The paper
        does not say how it judges these. Our reading favours them, so columns grow more than in the paper.
        """
        rows = rng.integers(0, X.shape[1], _CANDIDATES)
        columns = rng.integers(0, len(self.B), _CANDIDATES)
        sample = rng.choice(len(X), max(1, int(_SAMPLES * len(X))), replace=False)
        left = state.residual[sample]
        gains = []
        for row, column in zip(rows, columns, strict=True):
            used = state.mask.get(column, [])
            values = self._column(X[sample], column, [*used, row])
            gains.append(-1.0 if row in used else float(np.sum((values @ left) ** 2) / (values @ values)))
        row, column = int(rows[np.argmax(gains)]), int(columns[np.argmax(gains)])
        replaced = column in state.mask
        state.mask.setdefault(column, []).append(row)
        if replaced:  # the column has changed, so the basis is built again
            state.basis = list(np.linalg.qr(self._columns(X, state.mask))[0].T)
            Q = np.array(state.basis)
            state.residual = K - Q.T @ (Q @ K)
            return
        new = self._column(X, column, [row])
        for direction in state.basis:
            new = new - direction * (direction @ new)
        norm = np.linalg.norm(new)
        if norm > 1e-9:
            new /= norm
            state.basis.append(new)
            state.residual -= np.outer(new, new @ state.residual)

    def _column(self, X: Array, column: int, rows: list[int]) -> Array:
        return np.exp(-self.gamma * np.sum((X[:, rows] - self.B[column, rows]) ** 2, axis=1))

    def _columns(self, X: Array, mask: dict[int, list[int]] | None = None) -> Array:
        chosen = self.mask if mask is None else mask
        return np.array([self._column(X, column, rows) for column, rows in chosen.items()]).T

    def decision_function(self, X: Array) -> Array:
        """Return the decision values up to the machine's constant."""
        return self._columns(X.astype(np.float64)) @ self.weights
