"""The topographical map: one solution after the other, each away from those before (2004, section 4)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.operators import Affinity
from eigensieve.qalpha.half_steps import ProblemGram
from eigensieve.qalpha.knowledge.labels import Labels
from eigensieve.qalpha.knowledge.side import inhibition
from eigensieve.qalpha.knowledge.steered import Knowledge, solve_steered
from eigensieve.qalpha.problem import Problem, Result

_DENSE = 40  # below this many features the matrix is formed: ARPACK needs room


@dataclass(frozen=True)
class Round:
    """One solution and the place of every feature in it.

    Attributes
    ----------
    result : Result
        Weights, embedding and the rest of the solution.
    relevance : ndarray of shape (n_features,)
        Leading eigenvector of G for the round's embedding.
    coordinates : ndarray of shape (n_features,)
        Direction of each feature in the frame of G's two leading eigenvectors, in radians.
    """

    result: Result
    relevance: Array
    coordinates: Array


def map_rounds(
    affinity: Affinity,
    n_clusters: int,
    tau: float,
    usable: Array,
    *,
    n_rounds: int,
    strength: float,
    side_variances: Array | None = None,
    labels: Labels | None = None,
    max_iter: int = 200,
    tol: float = 5e-3,
    progress: Progress = silent,
) -> list[Round]:
    """Run `n_rounds` rounds; D of a round adds the squares of all earlier weights.

    Parameters
    ----------
    affinity, n_clusters, tau, usable
        As in `Problem`.
    n_rounds : int
    strength : float
        lambda in (D + lambda I)^-1 G. The weights' squares are taken relative to their largest in a round, so that its
        meaning does not depend on the number of features.
    side_variances : ndarray of shape (n_features,), optional
        D of side data, added in all rounds.
    labels : Labels, optional
        Classes of all or some samples: the embedding of every round is theirs, and the rounds find different features
        that tell them apart.
    max_iter, tol, progress
        As for the solvers.
    """
    D = np.zeros(affinity.n_features) if side_variances is None else side_variances
    rounds: list[Round] = []
    for number in range(1, n_rounds + 1):
        scale = inhibition(D, strength)
        scale = scale / scale.max()

        def report(message: str, number: int = number) -> None:
            progress(f"round {number} of {n_rounds}, {message}")

        settings: Any = {"max_iter": max_iter, "tol": tol, "progress": report}
        result = solve_steered(affinity, n_clusters, tau, usable, Knowledge(labels=labels, scale=scale), **settings)
        plain = Problem(affinity, n_clusters, tau, usable)
        rounds.append(Round(result, *place_features(plain, result.embedding, result.weights)))
        D = D + (result.weights / np.abs(result.weights).max()) ** 2
    return rounds


def place_features(problem: Problem, Q: Array, guess: Array) -> tuple[Array, Array]:
    """Return the leading eigenvector of G for Q, and each feature's direction in the frame of the first two.

    G is that of the data alone, without the inhibition of earlier rounds: a feature that serves this solution and an
    earlier one is relevant here too, although the round itself was led away from it. The eigenvectors have the lengths
    of classical scaling, the square roots of their eigenvalues. The sign of the second is free; the feature with the
    largest part in it is put on the positive side.
    """
    gram = ProblemGram(problem, Q)
    if problem.n_features <= _DENSE:
        dense = gram.to_dense()
        values, vectors = np.linalg.eigh((dense + dense.T) / 2)
    else:
        values, vectors = eigsh(gram.as_linear_operator(), k=2, which="LA", v0=guess, tol=1e-6)
    order = np.argsort(-values)[:2]
    frame = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    relevance = vectors[:, order[0]] * (1.0 if frame[:, 0].sum() >= 0 else -1.0)
    first = frame[:, 0] * (1.0 if frame[:, 0].sum() >= 0 else -1.0)
    second = frame[:, 1] if frame.shape[1] > 1 else np.zeros(len(first))
    second = second * (1.0 if second[np.abs(second).argmax()] >= 0 else -1.0)
    return relevance, np.arctan2(second, first)
