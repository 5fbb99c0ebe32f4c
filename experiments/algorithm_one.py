"""Element selection as printed: Algorithm 1 of avidan with the probabilistic speed-up of its section 4.1."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dger
from sklearn.metrics.pairwise import rbf_kernel

from experiments.frame import Array

_CANDIDATES, _SAMPLES, _CHUNK, _TRIES = 60, 0.1, 10, 3


@dataclass
class _Selected:
    """The selection so far.

    Attributes
    ----------
    left : ndarray of shape (n_samples, n_basis)
        The rest of K. Nothing is given back to it, as printed.
    mask : dict of int to list of int
        Features in use per support vector.
    Q, R : ndarrays of shape (n_samples, len(mask)) and (len(mask), len(mask))
        QR factors of the masked columns, in the order of `mask`.
    """

    left: Array
    Q: Array
    R: Array
    mask: dict[int, list[int]] = field(default_factory=dict)

    def copy(self) -> "_Selected":
        return _Selected(self.left.copy(order="F"), self.Q, self.R, {j: list(rows) for j, rows in self.mask.items()})

    def drop(self, column: int) -> list[int]:
        """Take a support vector out, and return the features that it used."""
        if column not in self.mask:
            return []
        place = list(self.mask).index(column)
        Q, R = scipy.linalg.qr_delete(self.Q, self.R, place, which="col")
        self.Q, self.R = Q[:, : R.shape[1]], R[: R.shape[1]]
        return self.mask.pop(column)

    def append(self, column: int, rows: list[int], values: Array) -> None:
        """Put a support vector last, and take what least squares explains with it out of K."""
        inner = np.zeros(len(self.R))
        rest = values
        for _ in range(2):  # the second time removes what rounding left
            step = self.Q.T @ rest
            rest, inner = rest - self.Q @ step, inner + step
        norm = float(np.linalg.norm(rest))
        direction = rest / norm
        # K is orthogonal to the other columns, so only the new direction takes something out
        self.left = dger(-1.0, direction, direction @ self.left, a=self.left, overwrite_a=True)
        self.Q = np.column_stack([self.Q, direction])
        self.R = np.block([[self.R, inner[:, None]], [np.zeros((1, len(inner))), np.array([[norm]])]])
        self.mask[column] = rows


class PrintedElements:
    """A machine of `n_elements` elements, without the constant that the library's own fit adds.

    Notes
    -----
    The paper leaves open how ``chooseNextBestElement`` compares. Here it does what the printed loop does next: it asks
    how much of K is left after least squares on all masked columns, the candidate's included, on a tenth of the
    samples.

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
        state = _Selected(K, np.empty((len(X), 0)), np.empty((0, 0)))
        while sum(map(len, state.mask.values())) < n_elements:
            tries = [self._chunk(X, state.copy(), rng) for _ in range(_TRIES)]
            state = min(tries, key=lambda tried: float(np.sum(tried.left**2)))
        self.mask = state.mask
        self.weights = scipy.linalg.solve_triangular(state.R, state.Q.T @ (K @ self.alpha))
        return self

    def _chunk(self, X: Array, state: _Selected, rng: np.random.Generator) -> _Selected:
        for _ in range(_CHUNK):
            self._add_best(X, state, rng)
        return state

    def _add_best(self, X: Array, state: _Selected, rng: np.random.Generator) -> None:
        """Add the best of 60 elements, then take what all masked columns explain out of K."""
        rows = rng.integers(0, X.shape[1], _CANDIDATES)
        columns = rng.integers(0, len(self.B), _CANDIDATES)
        sample = rng.choice(len(X), max(1, int(_SAMPLES * len(X))), replace=False)
        row, column = self._best(X[sample], state, sample, rows, columns)
        used = [*state.drop(column), row]
        state.append(column, used, self._column(X, column, used))

    def _best(self, X: Array, state: _Selected, sample: Array, rows: Array, columns: Array) -> tuple[int, int]:
        """Return the feature and the support vector of the candidate that leaves least of K, on these samples."""
        left = state.left[sample]
        Q, R = np.linalg.qr(state.Q[sample])
        own = _own_directions(R @ state.R)
        places = {column: place for place, column in enumerate(state.mask)}
        fresh = [(r, c) for r, c in zip(rows.tolist(), columns.tolist(), strict=True) if r not in state.mask.get(c, [])]
        values = np.array([self._column(X, column, [*state.mask.get(column, []), row]) for row, column in fresh]).T
        inside = Q.T @ values
        rest, lost = values - Q @ inside, np.zeros(len(fresh))
        for i, (_, column) in enumerate(fresh):
            if column in places:
                direction = own[:, places[column]]
                rest[:, i] += Q @ (direction * (direction @ inside[:, i]))
                lost[i] = np.sum((direction @ Q.T @ left) ** 2)
        norms = np.sum(rest**2, axis=0)
        gains = np.sum((rest.T @ left) ** 2, axis=1) / np.maximum(norms, np.finfo(float).tiny) - lost
        return fresh[int(np.argmax(np.where(norms > 1e-18 * np.sum(values**2, axis=0), gains, -np.inf)))]

    def _column(self, X: Array, column: int, rows: list[int]) -> Array:
        return np.exp(-self.gamma * np.sum((X[:, rows] - self.B[column, rows]) ** 2, axis=1))

    def _columns(self, X: Array) -> Array:
        return np.array([self._column(X, column, rows) for column, rows in self.mask.items()]).T

    def decision_function(self, X: Array) -> Array:
        """Return the decision values up to the machine's constant."""
        return self._columns(X.astype(np.float64)) @ self.weights


def _own_directions(R: Array) -> Array:
    """Return per column of R the unit vector of their span that is orthogonal to all other columns, in columns.

    Zeros if there are more columns than samples: the others then span as much.
    """
    if R.shape[0] < R.shape[1]:
        return np.zeros(R.shape)
    dual = np.linalg.inv(R).T
    return dual / np.linalg.norm(dual, axis=0)
