"""The papers' own algorithms (2005, sections 3 to 5): what each does between two settings of the weights."""

import numpy as np

from eigensieve._types import Array
from eigensieve.qalpha.half_steps import best_weights
from eigensieve.qalpha.problem import Problem
from eigensieve.qalpha.start import leading_eigenvectors


def basic_step(problem: Problem, weights: Array, Q: Array) -> tuple[Array, float, Array]:
    """The leading eigenvector of G, then the k leading eigenvectors of L(w): both exact."""
    weights, value = best_weights(problem, Q, weights)
    if problem.fixed_embedding is None:
        Q = leading_eigenvectors(problem.affinity, weights, problem.n_clusters, rtol=1e-12, max_blocks=10**6)[1]
    return weights, value, Q


def power_step(problem: Problem, weights: Array, Q: Array) -> tuple[Array, float, Array]:
    """Definition 2, power-embedded: one orthogonal iteration, Q R = L(w) Q.

    Step 1 with QQ' in place of the printed Q'Q.
    """
    weights, value = best_weights(problem, Q, weights)
    if problem.fixed_embedding is None:
        Q = np.linalg.qr(problem.affinity.apply(weights, Q))[0]
    return weights, value, Q


def ritz_step(problem: Problem, weights: Array, Q: Array) -> tuple[Array, float, Array]:
    """Definition 4: as power, the weights set again for the new subspace, then Q turned to its Ritz vectors.

    Step 4 with the corrected G.
    """
    weights, value, Q = power_step(problem, weights, Q)
    if problem.fixed_embedding is not None:
        return weights, value, Q
    weights, value = best_weights(problem, Q, weights)
    S = Q.T @ problem.affinity.apply(weights, Q)
    return weights, value, Q @ np.linalg.eigh((S + S.T) / 2)[1][:, ::-1]
