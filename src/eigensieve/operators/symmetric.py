"""Matrix-free symmetric operators, and the check that every one of them passes."""

from abc import ABC, abstractmethod

import numpy as np

from eigensieve._types import FloatArray

_TINY = float(np.finfo(np.float64).tiny)
_PROBES = 3  # random pairs u, v for the test u'(Gv) = v'(Gu)


class SymmetricOperator(ABC):
    """A symmetric matrix of `size` rows and columns, known by its products."""

    def __init__(self, size: int) -> None:
        self.size = size

    @abstractmethod
    def matvec(self, vector: FloatArray) -> FloatArray:
        """Return the product with a vector."""

    def to_dense(self) -> FloatArray:
        """Form the matrix, column by column: for few rows only."""
        return np.column_stack([self.matvec(unit) for unit in np.eye(self.size)])


def check_symmetric_operator(
    operator: SymmetricOperator, dense: FloatArray | None = None, *, rtol: float = 1e-8
) -> None:
    """Check that an operator is symmetric and, if a matrix is given, that it agrees with the matrix.

    Parameters
    ----------
    operator : SymmetricOperator
        The operator to check.
    dense : ndarray of shape (size, size), optional
        The matrix that the operator should be. They are compared entry by entry.
    rtol : float, default=1e-8
        Tolerance relative to the size of the numbers compared.

    Raises
    ------
    AssertionError
        With the size of the disagreement.
    """
    rng = np.random.default_rng(0)
    for _ in range(_PROBES):
        u, v = rng.standard_normal((2, operator.size))
        Gu, Gv = operator.matvec(u), operator.matvec(v)
        size = max(float(np.linalg.norm(u) * np.linalg.norm(Gv)), _TINY)
        gap = abs(u @ Gv - v @ Gu) / size
        if not gap <= rtol:
            raise AssertionError(
                f"{type(operator).__name__} is not symmetric: u'(Gv) and v'(Gu) differ by {gap:.2e}, relative."
            )
    if dense is not None:
        difference = np.abs(operator.to_dense() - dense).max()
        scale = max(float(np.abs(dense).max()), _TINY)
        if not difference <= rtol * scale:
            raise AssertionError(
                f"{type(operator).__name__} disagrees with the given matrix by {difference / scale:.2e}, relative."
            )
