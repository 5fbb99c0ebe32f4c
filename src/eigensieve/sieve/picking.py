"""The pick with labels: strong features first, near-copies of chosen ones late."""

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix, squares_of

RIDGE = 1.0
POWER = 2.0
MAX_PICKS = 500
"""Most features that are picked one by one. Further ones follow by score: this many are diverse enough."""

_SHORTLIST = 1_000
_NOISE = 2.0  # standard deviations by which the agreement of noise with classes is allowed for
_LITTLE = 1e-9  # where nothing of the target is left to explain, quality and residual decide
_WITHIN_NOISE = 1e-3  # features that agree no more than noise follow in the order of their scores


def pick(
    data: DataMatrix,
    scores: Array,
    candidates: Array,
    count: int,
    target: Array | None = None,
    *,
    square_share: float = 0.0,
) -> Array:
    """Return `count` candidates in the order in which they are picked.

    Without a target each pick is the feature with the largest max(u_i, 0)^2 r_i, where

        r_i = 1 - m_i' P (P'P + I)^-1 P' m_i

    is what is left of feature i after a ridge regression on the features P already chosen: 1 at first, 1/2 next to a
    copy, 1/(c + 1) next to c copies. This is the greedy maximum of the product of the qualities and det(I + P'P), the
    volume that the chosen features span. Unlike a plain projection, the ridge still tells features apart when more of
    them are wanted than there are samples.

    With a target T it is the feature with the largest max(u_i - s(T), 0) (max(e_i, 0) + s(L)) r_i, where

        e_i = m_i' (L L' - diag(L L')) m_i,   L = T - P (P'P + I)^-1 P' T

    is its agreement with what the chosen features do not explain of the target yet, and s is two standard deviations of
    the agreement of noise. Without s, features of noise are picked once the target is explained, before further
    features that follow it. With numbers s is 0: features that matter beside others may agree weakly by themselves.

    Parameters
    ----------
    data : DataMatrix
        Centred columns of unit norm.
    scores : ndarray of shape (n_features,)
    candidates : ndarray of int
        Features to choose from.
    count : int
        At most the number of candidates.
    target : ndarray of shape (n_samples, n_columns), optional
        T: what y says.
    square_share : float, default=0
        With a target: the squares of the features count, too, with this factor, in e_i and in P.

    Returns
    -------
    order : ndarray of int of shape (count,)
    """
    by_score = candidates[np.lexsort((candidates, -scores[candidates]))]
    n_picks = min(count, MAX_PICKS)
    shortlist = by_score[: max(10 * n_picks, _SHORTLIST)]
    Z, quality = data.take(shortlist), np.maximum(scores[shortlist], 0.0)
    if target is None:
        picked = shortlist[_greedy(Z, quality**POWER, n_picks)]
    else:
        unexplained = _Unexplained(Z, target, square_share)
        quality = np.maximum(quality - unexplained.noise(), _WITHIN_NOISE * quality)
        picked = shortlist[_greedy(Z, quality, n_picks, unexplained)]
    rest = by_score[~np.isin(by_score, picked)]
    return np.concatenate([picked, rest[: count - n_picks]])


def _greedy(Z: Array, quality: Array, count: int, unexplained: "_Unexplained | None" = None) -> Array:
    """Pick columns of Z by quality times ridge residual. The residual is updated after every pick."""
    n = Z.shape[1]
    residual = np.einsum("ti,ti->i", Z, Z, dtype=np.float64)
    steps = np.empty((count, n))
    open_ = np.ones(n, dtype=bool)
    order = np.empty(count, dtype=np.intp)
    for step in range(count):
        # Features of no quality follow in the order of their scores when the others are used up.
        gain = quality * residual
        if unexplained is not None:
            gain *= unexplained.agreement() + unexplained.noise()
        chosen = int(np.where(open_, gain, -1.0).argmax())
        order[step] = chosen
        open_[chosen] = False
        covariance = (Z[:, chosen] @ Z).astype(np.float64) - steps[:step, chosen] @ steps[:step]
        steps[step] = covariance / np.sqrt(residual[chosen] + RIDGE)
        residual = np.maximum(residual - steps[step] ** 2, 0.0)
        if unexplained is not None:
            unexplained.explain(chosen)
    return order


class _Unexplained:
    """What the chosen features leave of the target, and how well every feature agrees with it.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    target : ndarray of shape (n_samples, n_columns)
    square_share : float
    """

    def __init__(self, Z: Array, target: Array, square_share: float) -> None:
        self.views: list[tuple[Array, float]] = [(Z.astype(np.float64, copy=False), 1.0)]
        if square_share:
            self.views.append((squares_of(Z), square_share))
        self.left = np.array(target, dtype=np.float64)
        self.basis = np.empty((0, len(Z)))
        self.energies = [np.square(view) for view, _ in self.views]

    def agreement(self) -> Array:
        """Return e_i, at least 0, for every feature."""
        leverage = np.sum(self.left**2, axis=1)
        total = np.zeros(self.views[0][0].shape[1])
        for (view, share), energy in zip(self.views, self.energies, strict=True):
            total += share * np.maximum(np.sum((view.T @ self.left) ** 2, axis=1) - leverage @ energy, 0.0)
        return total

    def noise(self) -> float:
        """Return two standard deviations of e_i for a feature of independent values; nearly 0 where squares count.

        Its products m_s m_t, s != t, are uncorrelated, of mean 0 and variance 1/q^2, q the number of samples.
        """
        if len(self.views) > 1:
            return _LITTLE
        leverage = np.sum(self.left**2, axis=1)
        energy = float(np.sum((self.left.T @ self.left) ** 2) - np.sum(leverage**2))  # |L L' - diag(L L')|^2
        return _NOISE * float(np.sqrt(2.0 * max(energy, 0.0))) / len(self.left) + _LITTLE

    def explain(self, chosen: int) -> None:
        """Take off what a feature explains: one more column of the ridge regression.

        With A = P P' + I, the target left is A^-1 T. A new column p changes A^-1 by A^-1 p p' A^-1 / (1 + p' A^-1 p).
        """
        for view, share in self.views:
            column = np.sqrt(share) * view[:, chosen]
            # A^-1 p, from the columns before
            solved = column - self.basis.T @ (self.basis @ column)
            pivot = RIDGE + float(column @ solved)
            self.left -= np.outer(solved, column @ self.left) / pivot
            self.basis = np.vstack([self.basis, solved / np.sqrt(pivot)])
