"""What one step of the fast solver does with each feature on its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data import BackwardSum, StoredColumns
from eigensieve.operators import BASIS, MOST_COLUMNS, Affinity, thin_side, widened


@dataclass(frozen=True, eq=False)
class ExpandStep:
    """The block function of a step: with the projections T = M_b [R, rest, companion],

        B <- B turn_B,  P <- P rotate,  M_b Y = P known + T novel,
        g_i = <L_i, Y Q'>,  r = g - rho w,  B <- [B, r],  P <- [P, M_b R],

    W = [spread(r, P), spread(B_j, M_b R) for each older j], and B'B with the mass of r under it.

    Parameters
    ----------
    affinity : Affinity
    turn_B, rotate : ndarray
        Coefficients of the point moved to, for the basis weights and the projections.
    known, novel : ndarray
        Y in terms of V and of the new columns.
    rho : float
        The criterion's value at the point.
    inner : float
        <Y, Q>.
    n_residual, n_rest : int
        Columns of R and of the rest within T.
    full : int
        Columns of the array of projections.
    subtracts : bool
        Whether the criterion subtracts something, whose gradients are in KB.
    """

    affinity: Affinity
    turn_B: Array
    rotate: Array
    known: Array
    novel: Array
    rho: float
    inner: float
    n_residual: int
    n_rest: int
    full: int
    subtracts: bool

    def __call__(self, T: Array, B: Array, P: Array, KB: Array, *constants: Array) -> Any:
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
        r = g - self.rho * B[:, 0]
        B = np.column_stack([B, r])
        P = np.hstack([P, PR])
        W = [affinity.spread(r, P, constants)]
        W += [affinity.spread(B[:, j], PR, constants) for j in range(old)]
        mass = np.array([[affinity.mass(r, constants)] + [0.0] * old])
        return (widened(B, BASIS), widened(P, self.full), KB), np.hstack(W), np.vstack([B.T @ B, mass])

    def fused(
        self, columns: StoredColumns, V: Array, state: tuple[Array, ...], new: tuple[Array, ...], back: BackwardSum
    ) -> Array | None:
        """The same for dense columns as they are stored, both products included; None where it does not apply."""
        width = len(self.rotate.T) + self.n_residual * (1 + self.turn_B.shape[1])
        if not self.affinity.plain or self.subtracts or self.n_rest or not self.n_residual or width > MOST_COLUMNS:
            return None
        from eigensieve.qalpha._expand_step_numba import expand

        old = self.turn_B.shape[1]
        total = np.zeros((old + 2, old + 1))
        values, shift = back.room(columns.n_samples, width)
        small = (np.array(part, order="C") for part in (self.turn_B, self.rotate, self.known, self.novel))
        expand(
            *columns.memory, columns.center, columns.scale, *thin_side(V),
            state[0], state[1], *small, self.rho, new[0], new[1], values, shift, total,
        )  # fmt: skip
        new[0][:, old + 1 :] = 0.0
        new[1][:, len(self.rotate.T) + self.n_residual :] = 0.0
        return total
