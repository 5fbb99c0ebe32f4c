"""Kernel expansions as plain arrays: the masked one, the full one, and the weights of either.

Prediction, export and pictures need nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array

from eigensieve._types import Array
from eigensieve.elements.kernel import LINEAR, RBF, MaskedKernel
from eigensieve.elements.state import Column

_CHUNK = 2**20
"""Kernel values held at a time: 8 MB."""


def element_owners(columns: Sequence[Column]) -> Array:
    """Return the basis vector of each element, in the order of an expansion's elements."""
    return np.array([column.basis for column in columns for _ in column.features], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ElementExpansion:
    """f(x) = intercept + sum_j weights_j k(x, b_j seen through mask column j).

    Parameters
    ----------
    kernel : MaskedKernel
    n_features : int
    starts : ndarray of shape (n_columns + 1,)
        Column c holds the elements starts[c] to starts[c + 1].
    features : ndarray of shape (n_elements,)
        Feature of each element.
    values : ndarray of shape (n_elements,)
        The basis vector's value there, b_ij.
    factors : ndarray of shape (n_columns,)
        Factor of each column on the kernel's gamma.
    weights : ndarray of shape (n_columns, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    """

    kernel: MaskedKernel
    n_features: int
    starts: Array
    features: Array
    values: Array
    factors: Array
    weights: Array
    intercept: Array

    @classmethod
    def build(
        cls,
        kernel: MaskedKernel,
        B: Array,
        columns: Sequence[Column],
        weights: Array,
        intercept: Array,
    ) -> "ElementExpansion":
        """Gather the elements of masked columns of the basis vectors `B`."""
        lengths = [len(column.features) for column in columns]
        features = np.array([i for column in columns for i in column.features], dtype=np.int64)
        owners = element_owners(columns)
        return cls(
            kernel,
            B.shape[1],
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            features,
            np.asarray(B[owners, features], dtype=np.float64),
            np.array([column.factor for column in columns]),
            np.asarray(weights, dtype=np.float64),
            np.asarray(intercept, dtype=np.float64),
        )

    @property
    def n_columns(self) -> int:
        """Kernel evaluations per sample."""
        return self.factors.size

    @property
    def n_elements(self) -> int:
        """Features that those evaluations read, in total."""
        return self.features.size

    @property
    def lengths(self) -> Array:
        """Elements per column."""
        return np.diff(self.starts)

    @property
    def gammas(self) -> Array:
        """What multiplies each column's sum over features."""
        return self.factors if self.kernel.kind == LINEAR else self.kernel.gamma * self.factors

    @property
    def is_thin(self) -> bool:
        """Whether outputs have weights on some of the columns only; the others are exactly zero."""
        return self.intercept.size > 1 and not self.weights.all()

    def rescaled(self, unit: float, middle: float) -> "ElementExpansion":
        """Return middle + unit f."""
        return replace(self, weights=unit * self.weights, intercept=unit * self.intercept + middle)

    def membership(self) -> csc_array:
        """Return the 0/1 matrix (elements x columns) that sums elements into columns."""
        ones = np.ones(self.n_elements)
        return csc_array((ones, np.arange(self.n_elements), self.starts), shape=(self.n_elements, self.n_columns))

    def columns(self, X: Array) -> Array:
        """Return the masked kernel (samples x columns) in double precision."""
        terms = self.kernel.terms(np.asarray(X[:, self.features], dtype=np.float64), self.values)
        return self.finish(terms @ self.membership())

    def finish(self, sums: Array) -> Array:
        """Return the masked kernel from each column's sums over features."""
        if self.kernel.kind == RBF:
            return np.exp(-self.gammas * sums)
        return self.kernel.finish(self.factors * sums)

    def decision(self, X: Array) -> Array:
        """Return f (samples x outputs) in double precision. The compiled forms are checked against it."""
        return self.columns(X) @ self.weights + self.intercept


@dataclass(frozen=True, eq=False)
class FullExpansion:
    """f(x) = K(x, B) alpha + intercept in chunks of samples.

    The whole machine, unmasked, by matrix products: the same numbers as libsvm's loop over support vectors, an order of
    magnitude sooner.

    Parameters
    ----------
    kernel : MaskedKernel
    basis : ndarray of shape (n_basis, n_features)
    alpha : ndarray of shape (n_basis, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    """

    kernel: MaskedKernel
    basis: Array
    alpha: Array
    intercept: Array

    def decision(self, X: Array) -> Array:
        """Return f (samples x outputs), in the precision of the basis."""
        out = np.empty((X.shape[0], self.intercept.size))
        step = max(64, _CHUNK // max(1, self.basis.shape[0]))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            part = X[rows].astype(self.basis.dtype, copy=False)
            out[rows] = self.kernel.full(part, self.basis) @ self.alpha + self.intercept
        return out


def solve_weights(design: Array, targets: Array, ridge: float) -> tuple[Array, Array]:
    """Return weights and intercept of the lightly regularised least squares (Avidan, Algorithm 1, last step).

    min over beta, c of |T - K beta - c|^2 / n + ridge |beta|^2. Masked columns are often nearly collinear. Without
    the second term, weights of opposite sign would grow until they cost digits in single precision.
    """
    means, middle = design.mean(axis=0), targets.mean(axis=0)
    if not design.shape[1]:  # scipy before 1.14 solves no empty system
        return np.zeros((0, targets.shape[1])), middle
    K = design - means
    gram = K.T @ K / design.shape[0]
    gram[np.diag_indices_from(gram)] += max(ridge, 1e-14 * float(np.trace(gram)) + np.finfo(float).tiny)
    weights = cho_solve(cho_factor(gram), K.T @ (targets - middle) / design.shape[0])
    return weights, middle - means @ weights
