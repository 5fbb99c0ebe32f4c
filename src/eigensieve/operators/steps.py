"""The steps of the solvers: the work on every block of features in one pass over the data.

A step stands between two products. It gets the projections M_b V of a block and returns the block's new state, the
columns of the backward product and numbers to be summed over blocks. Steps of the fast solver have a compiled form:
`fused` makes both products itself; its loops are in `_steps_numba.py`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import FloatArray
from eigensieve.data import BackwardSum, StoredColumns

FeatureArrays = tuple[FloatArray, ...]

_BASIS = 3  # columns of the array of basis weights: the point, the direction it was reached by, and the residual

MOST_COLUMNS = 50
"""Most columns of a compiled backward product: with more of them the BLAS is as fast."""


@dataclass(frozen=True, eq=False)
class SpreadStep:
    """The block function of L(w) V: W = spread(w, M_b V), and the block's mass.

    `keep` is the width of the array in which the projections M V are kept. An array whose first column is w is then
    kept before it. 0 keeps neither.
    """

    affinity: Any
    keep: int = 0

    def __call__(self, T: FloatArray, w: FloatArray, *constants: FloatArray) -> Any:
        kept = (_widened(w[:, None], _BASIS), _widened(T, self.keep)) if self.keep else ()
        return kept, self.affinity.spread(w, T, constants), np.array([self.affinity.mass(w, constants)])

    def fused(
        self, columns: StoredColumns, V: FloatArray, state: FeatureArrays, new: FeatureArrays, back: BackwardSum
    ) -> FloatArray | None:
        """Do the same for dense columns as they are stored, with both products; return None where it does not apply."""
        if not self.affinity.plain or V.shape[1] > MOST_COLUMNS:
            return None
        from eigensieve.operators._steps_numba import spread

        weights = state[0]
        projections = new[1] if self.keep else np.empty((len(weights), 0), dtype=V.dtype)
        values, shift = back.room(columns.n_samples, V.shape[1])
        spread(
            *columns.memory, columns.center, columns.scale, *_thin_side(V),
            np.asarray(weights, dtype=np.float64), projections, values, shift,
        )  # fmt: skip
        if self.keep:
            new[0][:] = _widened(weights[:, None], _BASIS)
            projections[:, V.shape[1] :] = 0.0
        return np.zeros(1)


@dataclass(frozen=True, eq=False)
class ExpandStep:
    """The block function of one step of the fast solver: with the projections T = M_b [R, rest, companion],

        B <- B turn_B,  P <- P rotate,  M_b Y = P known + T novel,
        g_i = <L_i, Y Q'>,  r = unit (g - rho w),  B <- [B, r],  P <- [P, M_b R],

    W = [spread(r, P), spread(B_j, M_b R) for each older j], and B'B with one more row for the mass of r.
    """

    affinity: Any
    turn_B: FloatArray  # the point moved to, in the basis weights
    rotate: FloatArray  # the same for the projections
    known: FloatArray  # Y in terms of V
    novel: FloatArray  # Y in terms of the new columns
    rho: float  # the criterion's value at the point
    unit: float  # a power of two that brings r near 1: powers of large or small values in r would overflow
    inner: float  # <Y, Q>
    n_residual: int  # columns of R in T
    n_rest: int  # columns of the rest in T
    full: int  # columns of the array of projections
    subtracts: bool  # whether the criterion subtracts something; its gradients are then in KB

    def __call__(self, T: FloatArray, B: FloatArray, P: FloatArray, KB: FloatArray, *constants: FloatArray) -> Any:
        affinity, old = self.affinity, self.turn_B.shape[1]
        end = self.n_residual + self.n_rest
        B = B[:, : len(self.turn_B)] @ self.turn_B
        KB = KB @ self.turn_B if KB.shape[1] else KB
        P = P[:, : len(self.rotate)] @ self.rotate
        PR = T[:, : self.n_residual]
        PY = P @ self.known + T[:, :end] @ self.novel
        g = affinity.pull(PY, P[:, : PY.shape[1]], T[:, end:], constants, self.inner)
        if self.subtracts:
            g = g - KB[:, 0]
        r = self.unit * (g - self.rho * B[:, 0])
        B = np.column_stack([B, r])
        P = np.hstack([P, PR])
        W = [affinity.spread(r, P, constants)]
        W += [affinity.spread(B[:, j], PR, constants) for j in range(old)]
        mass = np.array([[affinity.mass(r, constants)] + [0.0] * old])
        return (_widened(B, _BASIS), _widened(P, self.full), KB), np.hstack(W), np.vstack([B.T @ B, mass])

    def fused(
        self, columns: StoredColumns, V: FloatArray, state: FeatureArrays, new: FeatureArrays, back: BackwardSum
    ) -> FloatArray | None:
        """Do the same for dense columns as they are stored, with both products; return None where it does not apply."""
        width = len(self.rotate.T) + self.n_residual * (1 + self.turn_B.shape[1])
        if not self.affinity.plain or self.subtracts or self.n_rest or not self.n_residual or width > MOST_COLUMNS:
            return None
        from eigensieve.operators._steps_numba import expand

        old = self.turn_B.shape[1]
        total = np.zeros((old + 2, old + 1))
        values, shift = back.room(columns.n_samples, width)
        small = (np.array(part, order="C") for part in (self.turn_B, self.rotate, self.known, self.novel))
        expand(
            *columns.memory, columns.center, columns.scale, *_thin_side(V),
            state[0], state[1], *small, self.rho, self.unit, new[0], new[1], values, shift, total,
        )  # fmt: skip
        new[0][:, old + 1 :] = 0.0
        new[1][:, len(self.rotate.T) + self.n_residual :] = 0.0
        return total


def _thin_side(V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a copy of V' with contiguous rows and the sums of V's columns, for compiled products."""
    return np.array(V.T, order="C"), V.sum(axis=0, dtype=np.float64).astype(V.dtype)


def _widened(P: FloatArray, width: int) -> FloatArray:
    """Return P with zero columns added. An array that has its final width from the start is never replaced."""
    return P if P.shape[1] == width else np.pad(P, ((0, 0), (0, width - P.shape[1])))
