"""The functions of each feature alone that stand between a product with the data and the product back."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data import BackwardSum, StoredColumns

BASIS = 3
"""Columns of the array of basis weights: the point, the direction it came by, and the residual."""

MOST_COLUMNS = 50
"""Columns of a compiled backward product: beyond, the BLAS is as fast."""


@dataclass(frozen=True, eq=False)
class SpreadStep:
    """The block function of L(w) V: W = spread(w, M_b V), and the block's mass.

    Parameters
    ----------
    affinity : Affinity
    keep : int
        0, or the columns of an array in which the projections M V are kept, after one whose first column is w.
    """

    affinity: Any
    keep: int = 0

    def __call__(self, T: Array, w: Array, *constants: Array) -> Any:
        kept = (widened(w[:, None], BASIS), widened(T, self.keep)) if self.keep else ()
        return kept, self.affinity.spread(w, T, constants), np.array([self.affinity.mass(w, constants)])

    def fused(
        self, columns: StoredColumns, V: Array, state: tuple[Array, ...], new: tuple[Array, ...], back: BackwardSum
    ) -> Array | None:
        """The same for dense columns as they are stored, both products included; None where it does not apply."""
        if not self.affinity.plain or V.shape[1] > MOST_COLUMNS:
            return None
        from eigensieve.operators._steps_numba import spread

        weights = state[0]
        projections = new[1] if self.keep else np.empty((len(weights), 0), dtype=V.dtype)
        values, shift = back.room(columns.n_samples, V.shape[1])
        spread(
            *columns.memory, columns.center, columns.scale, *thin_side(V),
            np.asarray(weights, dtype=np.float64), projections, values, shift,
        )  # fmt: skip
        if self.keep:
            new[0][:] = widened(weights[:, None], BASIS)
            projections[:, V.shape[1] :] = 0.0
        return np.zeros(1)


def thin_side(V: Array) -> tuple[Array, Array]:
    """V' in memory of its own, and the sums of its columns, for compiled products."""
    return np.array(V.T, order="C"), V.sum(axis=0, dtype=np.float64).astype(V.dtype)


def widened(P: Array, width: int) -> Array:
    """Return P with empty columns added: an array of the final width from the start is written over, never replaced."""
    return P if P.shape[1] == width else np.pad(P, ((0, 0), (0, width - P.shape[1])))
