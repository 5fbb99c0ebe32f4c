"""Where the rounds start: centred features or not, and the weights of Q-alpha on a screened part of the features."""

import numpy as np
from scipy.stats import f

from eigensieve._types import Array
from eigensieve.data import ColumnStats, DataMatrix, as_data
from eigensieve.qalpha import SolveSettings, solve_standard

KEPT = 1_000
"""Number of features that the screen leaves to Q-alpha."""

_SCREEN_SAMPLES = 1_000  # the screen costs O(n q^2); with more samples Q-alpha needs no screen
_IN_MEMORY = 2**22  # when the remaining features have no more entries than this, they are copied into memory
_MOSTLY = 0.6  # clearly more than half
_CHANCE = 0.01
_FEW = 40  # samples up to which the start is solved to the last digits


def zero_is_meaningful(stats: ColumnStats) -> bool:
    """Tell whether zero has a meaning in the data. A feature's mean is then evidence and is not centred away.

    With t_i = mean_i / (deviation_i / sqrt(q)), a feature that lies evenly about zero has t_i^2 below its null median
    (0.46) half of the time. So twice the share of such features estimates how many lie evenly. If that is at least 0.6,
    a feature that shows nothing lies about zero (log ratios, differences, noise about a baseline). A mean beyond
    chance, t_i^2 above the 0.01 / n quantile, is then structure. Otherwise (pixels, counts, expression levels, data
    that is centred already) means are a matter of units.

    Parameters
    ----------
    stats : ColumnStats
        Of the raw values.
    """
    vary = ~stats.constant
    q = stats.n_samples
    t_squared = q * (q - 1) * (stats.mean[vary] / stats.centered_norm[vary]) ** 2
    even = 2.0 * np.mean(t_squared < f.median(1, q - 1))
    return bool(even >= _MOSTLY and t_squared.max() > f.isf(_CHANCE / len(t_squared), 1, q - 1))


def qalpha_weights(data: DataMatrix, usable: Array, n_clusters: int, affinity: Array | None = None) -> Array:
    """Return the positive part of Q-alpha's weights on the screened features, 0 on the others.

    `affinity` is the equally weighted one, if it is known already.
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
    # A start need not be polished: the graph rounds move on from here. Of few samples it is, because their graph may
    # change with the last digits, and those depend on how the data is stored.
    settings = SolveSettings(max_iter=30, tol=2e-2) if data.n_samples > _FEW else SolveSettings(max_iter=300, tol=1e-9)
    return solve_standard(data, k, usable, settings).weights


def screened(data: DataMatrix, usable: Array, keep: int = KEPT, affinity: Array | None = None) -> Array:
    """Halve the features until `keep` are left, keeping those most correlated with the features still in.

    The score of feature i among the remaining features J is sum_{j in J} (m_i'm_j)^2 = m_i' A_J m_i, which is one step
    of Q-alpha from equal weights with Q = I. A noise feature scores |J| / q with a standard deviation of sqrt(2 |J|) /
    q. The deviation falls with every halving, while the share of a group of relevant features stays. So a group that is
    too small to show in the spectrum of all features (where noise weighs n k / q^2) shows once enough noise is sieved
    away. `affinity` is A of all usable features, if it is known already.

    Returns
    -------
    kept : ndarray of int
        Indices of the remaining features, ascending.
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
