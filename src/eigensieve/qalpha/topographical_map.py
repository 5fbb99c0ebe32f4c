"""The rounds of the topographical map (2004, section 4), each led away from features that had weight in earlier
ones."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from eigensieve._types import FloatArray
from eigensieve.qalpha.alternating import ProblemGram, leading_vectors
from eigensieve.qalpha.knowledge.labels import Labels
from eigensieve.qalpha.knowledge.steered import Knowledge, inhibition, solve_steered
from eigensieve.qalpha.problem import Problem, Result, SolveSettings

SAME_STRUCTURE = 0.8
"""Overlap of two rounds above which they show one structure."""


@dataclass(frozen=True)
class Round:
    """One solution and the place of every feature in it."""

    result: Result
    relevance: FloatArray  # leading eigenvector of G for the round's embedding
    coordinates: FloatArray  # direction of each feature in the frame of G's two leading eigenvectors, in radians


def map_rounds(
    problem: Problem,
    settings: SolveSettings,
    *,
    n_rounds: int,
    strength: float,
    side_variances: FloatArray | None = None,
    labels: Labels | None = None,
) -> list[Round]:
    """Run `n_rounds` rounds. D of a round is D of the round before plus its squared weights, the largest of them 1.

    `strength` is lambda in (D + lambda I)^-1 G, whatever the number of features. D of side data is added in all rounds.
    With labels every round has their embedding and finds different features that tell the classes apart.
    """
    D = np.zeros(problem.n_features) if side_variances is None else side_variances
    rounds: list[Round] = []
    for number in range(1, n_rounds + 1):
        scale = inhibition(D, strength)
        knowledge = Knowledge(labels=labels, scale=scale / scale.max())
        result = solve_steered(problem, knowledge, settings.announced(f"round {number} of {n_rounds}, "))
        rounds.append(Round(result, *place_features(problem, result.embedding, result.weights)))
        D = D + (result.weights / np.abs(result.weights).max()) ** 2
    return rounds


def place_features(problem: Problem, Q: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the leading eigenvector of G for Q, and each feature's direction in the frame of the first two.

    G is that of the data without the inhibition of earlier rounds, so a feature may be relevant in several.
    Eigenvectors have the lengths of classical scaling, the square roots of their eigenvalues. The largest part of the
    second is positive.
    """
    values, vectors = leading_vectors(ProblemGram(problem, Q), problem.usable, 2, guess, 1e-6)
    frame = vectors * np.sqrt(np.maximum(values, 0.0))
    sign = 1.0 if frame[:, 0].sum() >= 0 else -1.0
    second = frame[:, 1] if frame.shape[1] > 1 else np.zeros(len(frame))
    second = second * (1.0 if second[np.abs(second).argmax()] >= 0 else -1.0)
    return sign * vectors[:, 0], np.arctan2(second, sign * frame[:, 0])


def overlaps(embeddings: Iterable[FloatArray]) -> FloatArray:
    """Mean squared canonical correlation of every round's embedding with the nearest earlier one."""
    bases = [np.linalg.qr(Q - Q.mean(axis=0))[0] for Q in embeddings]
    shared = [[float(np.sum((P.T @ Q) ** 2)) / Q.shape[1] for P in bases[:i]] for i, Q in enumerate(bases)]
    return np.array([max(each, default=0.0) for each in shared])
