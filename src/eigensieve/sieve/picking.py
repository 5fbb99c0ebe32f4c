"""The greedy pick: strong features first, near-copies of chosen ones last."""

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix

RIDGE = 1.0
POWER = 2.0
MAX_PICKS = 500
"""Most features that are picked one by one. Further ones follow by score: so many are diverse enough."""

_SHORTLIST = 1_000


def pick(data: DataMatrix, scores: Array, candidates: Array, count: int) -> Array:
    """Return `count` candidates in the order in which they are picked.

    Each pick is the feature with the largest max(u_i, 0)^2 r_i, where

        r_i = 1 - m_i' P (P'P + I)^-1 P' m_i

    is what is left of feature i after a ridge regression on the features P already chosen: 1 at first, 1/2 next to a
    copy, 1/(c + 1) next to c copies. This is the greedy maximum of the product of the qualities and det(I + P'P), the
    volume that the chosen features span. Unlike a plain projection, the ridge still tells features apart when more of
    them are wanted than there are samples.

    Parameters
    ----------
    data : DataMatrix
        Centred columns of unit norm.
    scores : ndarray of shape (n_features,)
    candidates : ndarray of int
        Features to choose from.
    count : int
        At most the number of candidates.

    Returns
    -------
    order : ndarray of int of shape (count,)
    """
    by_score = candidates[np.lexsort((candidates, -scores[candidates]))]
    n_picks = min(count, MAX_PICKS)
    shortlist = by_score[: max(10 * n_picks, _SHORTLIST)]
    picked = shortlist[_greedy(data.take(shortlist), np.maximum(scores[shortlist], 0.0) ** POWER, n_picks)]
    rest = by_score[~np.isin(by_score, picked)]
    return np.concatenate([picked, rest[: count - n_picks]])


def _greedy(Z: Array, quality: Array, count: int) -> Array:
    """Pick columns of Z by quality times ridge residual. The residual is updated after every pick."""
    n = Z.shape[1]
    residual = np.einsum("ti,ti->i", Z, Z, dtype=np.float64)
    steps = np.empty((count, n))
    open_ = np.ones(n, dtype=bool)
    order = np.empty(count, dtype=np.intp)
    for step in range(count):
        # Features of no quality follow in the order of their scores when the others are used up.
        gain = np.where(open_, quality * residual, -1.0)
        chosen = int(gain.argmax())
        order[step] = chosen
        open_[chosen] = False
        covariance = (Z[:, chosen] @ Z).astype(np.float64) - steps[:step, chosen] @ steps[:step]
        steps[step] = covariance / np.sqrt(residual[chosen] + RIDGE)
        residual = np.maximum(residual - steps[step] ** 2, 0.0)
    return order
