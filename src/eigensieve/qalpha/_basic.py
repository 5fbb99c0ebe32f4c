"""The basic Q-alpha method (2005, section 3): exact weights for Q, exact Q for the weights, in turn."""

from typing import Any

from numpy.typing import NDArray

from eigensieve._progress import Progress, silent
from eigensieve.qalpha._checkpoint import Checkpoint
from eigensieve.qalpha._problem import Problem, Result
from eigensieve.qalpha._start import leading_eigenvectors
from eigensieve.qalpha._steps import alternate, best_weights

Array = NDArray[Any]


def solve_basic(
    problem: Problem,
    Q: Array,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
    progress: Progress = silent,
    checkpoint: Checkpoint | None = None,
) -> Result:
    """Alternate the leading eigenvector of G and the k leading eigenvectors of L(w)."""

    def step(weights: Array, Q: Array) -> tuple[Array, float, Array]:
        weights, value = best_weights(problem, Q, weights)
        if problem.fixed_embedding is None:
            Q = leading_eigenvectors(problem.affinity, weights, problem.n_clusters, rtol=1e-12, max_blocks=10**6)[1]
        return weights, value, Q

    return alternate(problem, Q, step, max_iter=max_iter, tol=tol, progress=progress, checkpoint=checkpoint)
