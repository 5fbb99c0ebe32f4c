"""The pick without labels: features that together show the structure of the samples, and little else."""

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data
from eigensieve.evidence import agreement, agreement_p_values, step_up
from eigensieve.sieve.picking import MAX_PICKS

NOISE_RATE = 0.01
"""False discovery rate at which features count as more than noise. The others follow by score."""

COPY = 0.95
"""Squared correlation with a picked feature from which on a feature is a near-copy."""

WEAK = 0.1
"""A feature waits while another one is left that follows the structure more than 1 / WEAK times as well."""

_SHORTLIST = 2_000


def pick_showing(
    data: DataMatrix,
    V: Array,
    Q: Array,
    scores: Array,
    candidates: Array,
    count: int,
    *,
    centered: bool = True,
    share: Array | float = 1.0,
    apart: Array | float = 0.0,
) -> Array:
    """Return `count` candidates in the order in which they are picked.

    The picked features S make the affinity K_S = sum_{i in S} m_i m_i'. Each pick is the feature that makes K_S most
    similar to the structure:

        <K_S, T> / |K_S|,   T = V V' without its diagonal,

    the alignment of the two matrices, up to a constant. With a_i = m_i' T m_i and b_i = sum_{j in S} (m_i'm_j)^2 it is
    the feature with the largest (sum_{j in S} a_j + a_i) / sqrt(|K_S|^2 + 2 b_i + 1). So a feature is wanted that
    follows the structure (a_i) and is unlike those picked already (b_i), above all in what is not structure.

    Three kinds of features come later. Near-copies of a picked feature follow the others. Weak features, with a_i below
    a tenth of the largest a_i left, wait until the larger ones are picked: one feature of noise in a hundred passes the
    test against noise, and must not be preferred even to near-copies of strong features. Features that may be noise
    follow last, in the order of their scores: alone they would do no harm to K_S, and would be preferred to features
    that say again what the picked ones say.

    Parameters
    ----------
    data : DataMatrix
        Columns of unit norm.
    V : ndarray of shape (n_samples, n_columns)
        From :func:`~eigensieve.sieve.walks.shown_by_walks`.
    Q : ndarray of shape (n_samples, n_columns)
        The embedding. A feature that follows neither Q nor V beyond chance may be noise.
    scores : ndarray of shape (n_features,)
        Decide which features are looked at, and the order of those that may be noise.
    candidates : ndarray of int
        Features to choose from.
    count : int
        At most the number of candidates.
    centered : bool, default=True
        Whether the columns of `data` are centred. If not, a mean other than zero is evidence against noise. It does
        not count in the alignment, because all samples share it.
    share : ndarray of shape (n_features,), default=1
        s_i, the share of each feature's variance that is not unwanted. In K_S feature i counts s_i, and its unwanted
        part 1 - s_i, which all features are taken to share: |K_S|^2 = sum_ij s_i s_j (m_i'm_j)^2 + (sum_i (1 - s_i))^2.
    apart : ndarray of shape (n_features,), default=0
        What is added to a_i: how far each feature sets pairs of samples apart that cannot be linked.

    Returns
    -------
    order : ndarray of int of shape (count,)
    """
    if count == 0:
        return np.empty(0, dtype=np.intp)
    share, apart = (np.broadcast_to(values, data.n_features) for values in (share, apart))
    by_score = candidates[np.lexsort((candidates, -(scores * share)[candidates]))]
    n_picks = min(count, MAX_PICKS)
    shortlist = by_score[: max(10 * n_picks, _SHORTLIST)]
    Z = data.take(shortlist)
    clear = np.zeros(len(shortlist), dtype=bool)
    for evidence in (Q, V):
        if not centered:
            evidence = np.hstack([np.full((len(Q), 1), len(Q) ** -0.5), evidence])
        p_values = np.ones(len(by_score))
        p_values[: len(shortlist)] = agreement_p_values(agreement(as_data(Z), evidence) + apart[shortlist], evidence)
        clear |= step_up(p_values, NOISE_RATE)[: len(shortlist)]
    Z, clear = Z[:, clear], shortlist[clear]
    if not centered:
        Z = Z - Z.mean(axis=0)
        Z /= np.maximum(np.linalg.norm(Z, axis=0), np.finfo(Z.dtype).tiny)
    a = agreement(as_data(Z), V) + apart[clear] if len(clear) else np.empty(0)
    picked = clear[_greedy(Z, a, share[clear], n_picks)]
    rest = by_score[~np.isin(by_score, picked)]
    return np.concatenate([picked, rest[: count - len(picked)]])


def _greedy(Z: Array, a: Array, share: Array, count: int) -> Array:
    """Pick up to `count` columns of Z by alignment: weak ones wait, near-copies of picked ones follow the others."""
    n, unwanted = Z.shape[1], 1.0 - share
    own, gain = share**2 + unwanted**2, share * a
    open_, b, nearest = np.ones(n, dtype=bool), np.zeros(n), np.zeros(n)
    order = np.empty(min(count, n), dtype=np.intp)
    inner = squared = 0.0
    for step in range(len(order)):
        largest = float(gain[open_].max())
        strong = open_ & (gain >= min(largest, WEAK * largest))  # where none is above 0, only the largest
        new = strong & (nearest < COPY)
        alignment = (inner + gain) / np.sqrt(squared + 2.0 * b + own)
        chosen = int(np.where(new if new.any() else strong, alignment, -np.inf).argmax())
        order[step] = chosen
        open_[chosen] = False
        inner += float(gain[chosen])
        squared += float(2.0 * b[chosen] + own[chosen])
        correlations = np.square((Z[:, chosen] @ Z).astype(np.float64))
        b += share[chosen] * share * correlations + unwanted[chosen] * unwanted
        nearest = np.maximum(nearest, correlations)
    return order
