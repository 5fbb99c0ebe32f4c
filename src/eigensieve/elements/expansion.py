"""A masked kernel expansion as plain arrays: what prediction, export and pictures need, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from eigensieve.elements.kernel import RBF, MaskedKernel
from eigensieve.elements.state import Column


def element_owners(columns: Sequence[Column]) -> NDArray:
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
    starts: NDArray
    features: NDArray
    values: NDArray
    factors: NDArray
    weights: NDArray
    intercept: NDArray

    @classmethod
    def build(
        cls,
        kernel: MaskedKernel,
        B: NDArray,
        columns: Sequence[Column],
        weights: NDArray,
        intercept: NDArray,
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
        """How many kernel evaluations a sample costs."""
        return self.factors.size

    @property
    def n_elements(self) -> int:
        """How many features those evaluations read."""
        return self.features.size

    @property
    def lengths(self) -> NDArray:
        """Elements in each column."""
        return np.diff(self.starts)

    @property
    def n_numbers(self) -> int:
        """Numbers that must be stored: one value an element, weights and the intercept (the paper's count)."""
        return self.n_elements + self.weights.size + self.intercept.size

    def membership(self) -> csc_array:
        """Return the 0/1 matrix (elements x columns) that sums elements into columns."""
        ones = np.ones(self.n_elements)
        return csc_array((ones, np.arange(self.n_elements), self.starts), shape=(self.n_elements, self.n_columns))

    def columns(self, X: NDArray) -> NDArray:
        """Return the masked kernel (samples x columns) in double precision."""
        terms = self.kernel.terms(np.asarray(X[:, self.features], dtype=np.float64), self.values)
        sums = terms @ self.membership()
        if self.kernel.kind == RBF:
            return np.exp(-self.kernel.gamma * self.factors * sums)
        return self.kernel.finish(self.factors * sums)

    def decision(self, X: NDArray) -> NDArray:
        """Return f (samples x outputs) in double precision; the yardstick of the compiled forms."""
        return self.columns(X) @ self.weights + self.intercept
