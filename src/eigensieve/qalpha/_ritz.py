"""Q-alpha with Ritz acceleration (2005, Definition 4; step 4 with the corrected G)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigensieve._progress import Progress, silent
from eigensieve.qalpha._checkpoint import Checkpoint
from eigensieve.qalpha._problem import Problem, Result
from eigensieve.qalpha._steps import alternate, best_weights

Array = NDArray[Any]


def solve_ritz(
    problem: Problem,
    Q: Array,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
    progress: Progress = silent,
    checkpoint: Checkpoint | None = None,
) -> Result:
    """Orthogonal iteration, weights recomputed for the new subspace, then a rotation of Q to its Ritz vectors."""

    def step(weights: Array, Q: Array) -> tuple[Array, float, Array]:
        weights, value = best_weights(problem, Q, weights)
        if problem.fixed_embedding is not None:
            return weights, value, Q
        Q = np.linalg.qr(problem.affinity.apply(weights, Q))[0]
        weights, value = best_weights(problem, Q, weights)
        S = Q.T @ problem.affinity.apply(weights, Q)
        return weights, value, Q @ np.linalg.eigh((S + S.T) / 2)[1][:, ::-1]

    return alternate(problem, Q, step, max_iter=max_iter, tol=tol, progress=progress, checkpoint=checkpoint)
