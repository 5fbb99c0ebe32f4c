"""How few features would do: the share of the structure that the first picks show."""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array
from eigensieve.graphs import nearest_among
from eigensieve.sieve.embedding import N_NEIGHBORS

MOST_PICKED = 300
"""Largest number of features whose share of the structure is measured."""

ENOUGH = 0.95
"""A panel is large enough when its R2 is at least this share of the largest R2."""

_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, MOST_PICKED)


@dataclass(frozen=True)
class Panel:
    """How much of the structure the first picks show.

    Attributes
    ----------
    sizes : ndarray of int
        Numbers of features, increasing.
    shown : ndarray of shape (n_sizes,)
        R2 of the embedding, predicted by the neighbours on that many features.
    """

    sizes: Array
    shown: Array

    @property
    def fewest(self) -> int:
        """The smallest size whose R2 is at least 95 % of the largest R2."""
        if not len(self.sizes):
            return 0
        return int(self.sizes[int(np.argmax(self.shown >= ENOUGH * self.shown.max()))])


def panel(Z: Array, Q: Array) -> Panel:
    """Measure how well growing numbers of features show the structure.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_picked)
        The picked features, standardised, in the order of the pick.
    Q : ndarray of shape (n_samples, n_columns)
        The structure: an embedding of the samples, or what labels say.
    """
    # Where samples are equally near, the search takes the first. It must not follow the order in which they were given.
    mixed = np.random.default_rng(0).permutation(len(Z))
    Z, Q = Z[mixed], Q[mixed]
    sizes = np.unique(np.minimum(_SIZES, Z.shape[1])) if Z.shape[1] else np.empty(0, dtype=int)
    return Panel(sizes, np.array([share_shown(Z[:, :size], Q) for size in sizes]))


def share_shown(points: Array, Q: Array) -> float:
    """Return R2 of Q, predicted for every sample by its 5 nearest others.

    With E_t the mean of Q over the nearest neighbours of sample t, and b_j >= 0 the factor that fits column j best,
    R2 = 1 - |Q - E diag(b)|^2 / |Q|^2. It is 1 where neighbours agree, and about 0 where points say nothing of Q.
    """
    nearest = nearest_among(points, points, min(N_NEIGHBORS, len(points) - 1))
    E = Q[nearest].mean(axis=1)
    energy = np.sum(E**2, axis=0)
    # Neighbours that contradict a column show nothing of it.
    told = np.maximum(np.sum(E * Q, axis=0), 0.0) ** 2 / np.maximum(energy, np.finfo(np.float64).tiny)
    return float(told.sum() / np.sum(Q**2))
