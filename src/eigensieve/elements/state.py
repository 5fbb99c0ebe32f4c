"""The columns selected so far, their orthonormal basis and the residual."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.linalg import qr_delete, solve_triangular

from eigensieve._types import FloatArray
from eigensieve.elements.kernel import MaskedKernel

COLLINEAR = 1e-9
"""A column counts as inside the span if less than this share of its squared norm lies outside."""

NOTHING = 1e-12
"""A gain below this share of the initial error is rounding."""


@dataclass
class Column:
    """One masked basis vector: its index, the factor on gamma, its features in order of choice."""

    basis: int
    factor: float
    features: list[int] = field(default_factory=list)

    def copy(self) -> "Column":
        """Return an independent copy."""
        return Column(self.basis, self.factor, list(self.features))


class SelectionState:
    """Masked columns and the least-squares residual of the targets on them and a constant.

    The targets T (samples x m) are the decision values K alpha (m = number of decision functions). With Q an
    orthonormal basis of the constant and the columns, the residual is R = T - Q Q'T, the error its squared norm. A new
    column is one Gram-Schmidt step, O(samples x columns); a column that gains an element leaves the basis and comes
    back. `finished` says that a search stopped because the gain died out.
    """

    n_constants = 1

    def __init__(self, kernel: MaskedKernel, X: FloatArray, B: FloatArray, targets: FloatArray) -> None:
        self.kernel = kernel
        self.X = X
        self.B = B
        self.XT32 = np.ascontiguousarray(X.T, dtype=np.float32)
        self.B32 = np.ascontiguousarray(B, dtype=np.float32)
        self.targets = np.asarray(targets, dtype=np.float64)
        n, one = X.shape[0], self.n_constants
        self.columns: list[Column] = []
        self.path: list[float] = []
        self.n_elements = 0
        self.finished = False
        self.Q = np.full((n, one), 1.0 / np.sqrt(n), order="F")
        self.R = np.full((one, one), np.sqrt(n))
        self.residual = self.targets - one * self.targets.mean(axis=0)
        self.start_error = float((self.residual**2).sum())
        self._buffer = self.Q

    @property
    def error(self) -> float:
        """Squared norm of the residual."""
        return float((self.residual**2).sum())

    @property
    def relative_error(self) -> float:
        """Error as a share of the error without columns."""
        return self.error / self.start_error if self.start_error > 0 else 0.0

    def copy(self) -> "SelectionState":
        """Return an independent copy. The data and the old basis are shared; they are never overwritten."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.columns = [column.copy() for column in self.columns]
        twin.path = list(self.path)
        twin._buffer = self.Q
        return twin

    def position(self, basis: int) -> int:
        """Return the position of a basis vector's column, or -1."""
        for position, column in enumerate(self.columns):
            if column.basis == basis:
                return position
        return -1

    def sums(self, column: Column) -> FloatArray:
        """Return the column's sums over its features, one per sample."""
        features = column.features
        return self.kernel.terms(self.X[:, features], self.B[column.basis, features]).sum(axis=1, dtype=np.float64)

    def values(self, column: Column) -> FloatArray:
        """Return the masked kernel's column, one value per sample."""
        return self.kernel.scaled(column.factor).finish(self.sums(column))

    def prefix_values(self, column: Column, rows: FloatArray, B: FloatArray) -> FloatArray:
        """Return the columns of the first, the first two, ... features, as rows."""
        terms = self.kernel.terms(rows, B[column.basis, column.features][:, None])
        return self.kernel.scaled(column.factor).finish(_running_sums(terms))

    def add_column(self, basis: int, features: Sequence[int], factor: float = 1.0) -> bool:
        """Add a new masked basis vector; the path gets one error per element. Returns False and changes nothing if the
        column already lies in the span."""
        column = Column(basis, factor, list(features))
        block = self.prefix_values(column, self.X[:, column.features].T.astype(np.float64), self.B).T
        scale = self.start_error if self.start_error > 0 else 1.0
        path = [max(0.0, (self.error - gain) / scale) for gain in Trial(block[:, :-1]).gains(self)]
        return self._take(column, block[:, -1], len(column.features), path)

    def add_whole_column(self, basis: int, features: Sequence[int]) -> bool:
        """Add a basis vector at once; the path gets a single error."""
        column = Column(basis, 1.0, list(features))
        return self._take(column, self.values(column), len(column.features))

    def add_element(self, basis: int, feature: int, factor: float = 1.0) -> bool:
        """Add one element of the mask: to the basis vector's column if it has one, else as a new column. Returns False
        and changes nothing if the resulting column lies in the span of the others."""
        position = self.position(basis)
        if position < 0:
            return self.add_column(basis, [feature], factor)
        before = dict(self.__dict__)
        old = self.columns[position]
        column = Column(old.basis, old.factor, [*old.features, feature])
        self.columns = self.columns[:position] + self.columns[position + 1 :]
        self.Q, self.R = qr_delete(self.Q, self.R, position + self.n_constants, which="col")
        self._buffer = self.Q
        self.residual = self.targets - self.Q @ (self.Q.T @ self.targets)
        if not self._take(column, self.values(column), 1):
            self.__dict__.update(before)
            return False
        return True

    def drop_direction(self, position: int) -> FloatArray:
        """Return the unit vector that the column at `position` alone adds to the span (its dual direction)."""
        direction = self.Q @ self.dual(position)
        return direction / np.linalg.norm(direction)

    def dual(self, position: int) -> FloatArray:
        """Return the coordinates in Q of a vector orthogonal to all columns but the one at `position`."""
        unit = np.zeros(self.R.shape[0])
        unit[position + self.n_constants] = 1.0
        return solve_triangular(self.R, unit, trans="T")

    def design(self, columns: Sequence[Column]) -> FloatArray:
        """Return the values of masked columns (samples x columns)."""
        design = np.empty((self.X.shape[0], len(columns)))
        for c, column in enumerate(columns):
            design[:, c] = self.values(column)
        return design

    def _take(self, column: Column, values: FloatArray, n_new: int, errors_before: Sequence[float] = ()) -> bool:
        """Add a column with the given values and `n_new` new elements unless it lies in the span."""
        if not self._append(values):
            return False
        self.columns.append(column)
        self.n_elements += n_new
        self.path = [*self.path, *errors_before, self.relative_error]
        return True

    def _append(self, values: FloatArray) -> bool:
        """Add the values to the basis Q by a Gram-Schmidt step unless they lie in the span."""
        n, k = self.Q.shape
        inside = self.Q.T @ values
        outside = values - self.Q @ inside
        outside -= self.Q @ (self.Q.T @ outside)  # twice is enough: orthogonal to rounding
        norm = float(np.linalg.norm(outside))
        if norm**2 <= COLLINEAR * float(values @ values):
            return False
        if self._buffer.shape[1] <= k:
            self._buffer = np.empty((n, 2 * k + 8), order="F")
            self._buffer[:, :k] = self.Q
        direction = outside / norm
        R = np.zeros((k + 1, k + 1))
        R[:k, :k] = self.R
        R[:k, k] = inside
        R[k, k] = norm
        self._buffer[:, k] = direction
        self.Q, self.R = self._buffer[:, : k + 1], R
        self.residual = self.residual - np.outer(direction, direction @ self.residual)
        return True


def _running_sums(rows: FloatArray) -> FloatArray:
    """Sum up the rows in place; numpy's cumsum is ten times slower along this axis."""
    for above, row in pairwise(rows):
        row += above
    return rows


class Trial:
    """Candidate columns and their exact gains, which follow a growing state at the cost of the new columns."""

    def __init__(self, block: FloatArray) -> None:
        self.block = block
        self.squares = (block**2).sum(axis=0)
        self.outside = self.squares.copy()
        self.known = 0

    def gains(self, state: SelectionState) -> FloatArray:
        """Return the drop of the squared error per column, if it alone is added. The state may only have grown."""
        self.outside -= ((state.Q[:, self.known :].T @ self.block) ** 2).sum(axis=0)
        self.known = state.Q.shape[1]
        free = self.outside > COLLINEAR * self.squares
        gains = ((state.residual.T @ self.block) ** 2).sum(axis=0)
        return np.where(free, gains / np.where(free, self.outside, 1.0), 0.0)
