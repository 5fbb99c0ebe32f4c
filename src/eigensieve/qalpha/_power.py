"""The power-embedded Q-alpha method (2005, Definition 2; step 1 with QQ' in place of the printed Q'Q)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigensieve._progress import Progress, silent
from eigensieve.qalpha._checkpoint import Checkpoint
from eigensieve.qalpha._problem import Problem, Result
from eigensieve.qalpha._steps import alternate, best_weights

Array = NDArray[Any]


def solve_power(
    problem: Problem,
    Q: Array,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
    progress: Progress = silent,
    checkpoint: Checkpoint | None = None,
) -> Result:
    """Alternate the leading eigenvector of G and one orthogonal iteration, Q R = L(w) Q."""

    def step(weights: Array, Q: Array) -> tuple[Array, float, Array]:
        weights, value = best_weights(problem, Q, weights)
        if problem.fixed_embedding is None:
            Q = np.linalg.qr(problem.affinity.apply(weights, Q))[0]
        return weights, value, Q

    return alternate(problem, Q, step, max_iter=max_iter, tol=tol, progress=progress, checkpoint=checkpoint)
