"""Where the rounds start: every feature alike, or the weights of Q-alpha on a screened part of the features."""

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha import Problem, solve

KEPT = 1_000
"""Features that the screen leaves to Q-alpha."""

_SCREEN_SAMPLES = 1_000  # the screen costs O(n q^2); with more samples noise no longer drowns Q-alpha
_IN_MEMORY = 2**22  # entries of the surviving features that are copied out, to sieve on without further passes


def qalpha_weights(data: DataMatrix, usable: Array, n_clusters: int, affinity: Array | None = None) -> Array:
    """Return the positive part of Q-alpha's weights on the screened features, 0 on the others.

    `affinity` is the equally weighted one, when it is known already.
    """
    weights = np.zeros(data.n_features)
    if data.n_samples <= _SCREEN_SAMPLES and np.count_nonzero(usable) > KEPT:
        kept = screened(data, usable, affinity=affinity)
        part = as_data(data.take(kept))
        weights[kept] = _solve(part, np.ones(len(kept), dtype=bool), n_clusters)
    else:
        weights = _solve(data, usable, n_clusters)
    return np.maximum(weights, 0.0)


def _solve(data: DataMatrix, usable: Array, n_clusters: int) -> Array:
    k = min(n_clusters, data.n_samples - 1)
    # A start need not be polished: the graph rounds move on from here.
    return solve(Problem(StandardAffinity(data), k, 0.0, usable), max_iter=30, tol=2e-2).weights


def screened(data: DataMatrix, usable: Array, keep: int = KEPT, affinity: Array | None = None) -> Array:
    """Halve the features until `keep` are left, keeping those most correlated with the rest still in.

    The score of feature i among the set J of survivors is sum_{j in J} (m_i'm_j)^2 = m_i' A_J m_i: one step of Q-alpha
    from equal weights with Q = I. A noise feature scores |J| / q with a standard deviation of sqrt(2 |J|) / q, which
    falls with every halving while the share of a group of relevant features stays: a group too small to show in the
    spectrum of all features (where noise weighs n k / q^2) comes out as the noise around it is sieved away. `affinity`
    is A of all usable features, when it is known already.

    Returns
    -------
    kept : ndarray of int
        Indices of the survivors, ascending.
    """
    kept = np.flatnonzero(usable)
    while len(kept) > keep and len(kept) * data.n_samples > _IN_MEMORY:
        A, affinity = (_equal_affinity(data, kept) if affinity is None else affinity), None
        scores = np.concatenate(data.map_blocks(lambda block, A=A: block.quadratic(A)))  # type: ignore[misc]
        kept = kept[_upper_half(scores[kept], keep)]
    if len(kept) > keep:
        Z = data.take(kept)
        while Z.shape[1] > keep:
            A, affinity = (Z @ Z.T if affinity is None else affinity.astype(Z.dtype)), None
            chosen = _upper_half(np.einsum("ti,ti->i", Z, A @ Z), keep)
            kept, Z = kept[chosen], Z[:, chosen]
    return kept


def _equal_affinity(data: DataMatrix, features: Array) -> Array:
    inside = np.zeros(data.n_features)
    inside[features] = 1.0
    return data.gram(inside)


def _upper_half(scores: Array, keep: int) -> Array:
    count = max(keep, len(scores) // 2)
    return np.sort(np.argpartition(-scores, count - 1)[:count])
