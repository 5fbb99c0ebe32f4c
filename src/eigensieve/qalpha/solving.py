"""The one entry to all solvers: it makes the starts and keeps the best result."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from eigensieve._types import FloatArray
from eigensieve.data import one_blas_thread
from eigensieve.operators import leading_eigenvectors
from eigensieve.qalpha.alternating import alternate, basic_step, power_step, ritz_step
from eigensieve.qalpha.checkpoint import Checkpoint
from eigensieve.qalpha.problem import Problem, Result, SolveSettings, VanishingCriterionError
from eigensieve.qalpha.subspace import solve_subspace

SOLVERS: dict[str, Callable[..., Result]] = {
    "auto": solve_subspace,
    "basic": partial(alternate, step=basic_step),
    "power": partial(alternate, step=power_step),
    "ritz": partial(alternate, step=ritz_step),
}
"""Solvers by the name that users give. "auto" is the locally optimal one, with one pass over the data per step."""


def solve(problem: Problem, settings: SolveSettings) -> Result:
    """Solve a problem from one or several starts and return the result with the best criterion. With a fixed embedding
    the weights have one maximum, and one start finds it."""
    first_pass = problem.n_passes
    counted = replace(
        settings, progress=lambda message: settings.progress(f"{message}, {problem.n_passes - first_pass} passes")
    )
    n_starts = settings.n_init if problem.fixed_embedding is None else 1
    best: Result | None = None
    reached: list[float] = []
    with one_blas_thread():
        for number in range(n_starts):
            announced = counted.announced(f"start {number + 1} of {n_starts}, ") if n_starts > 1 else counted
            try:
                result = _solve_from(problem, number, announced)
            except VanishingCriterionError:
                reached.append(np.nan)
                if best is None and number == n_starts - 1:
                    raise
                continue
            reached.append(result.objective)
            # Of starts that end in one maximum the first is kept: they differ by what `tol` leaves open.
            if best is None or result.objective - best.objective > settings.tol**2 * abs(best.objective):
                best = result
    assert best is not None
    return replace(best, n_passes=problem.n_passes - first_pass, start_objectives=tuple(reached))


def _solve_from(problem: Problem, number: int, settings: SolveSettings) -> Result:
    """Solve from one start, and keep its steps in a folder of its own if that is asked for."""
    init = settings.init if number == 0 else "random"
    follows = problem.fixed_embedding is not None or (isinstance(init, str) and init == "eigen")
    Q = problem.fixed_embedding
    if Q is None:
        Q = _starting_embedding(problem, init, settings.rng)
    checkpoint = None
    if settings.checkpoint is not None:
        folder = Path(settings.checkpoint) / f"start-{number}"
        checkpoint = Checkpoint(folder, problem, settings, None if follows else Q)
    return SOLVERS[settings.solver](problem, Q, settings, checkpoint)


def _starting_embedding(problem: Problem, init: str | FloatArray, rng: np.random.Generator | None) -> FloatArray:
    """Return an orthonormal Q (n_samples, n_clusters): "eigen", "random", or the user's own."""
    if isinstance(init, str) and init == "eigen":
        # A third block costs more passes than the steps that it saves.
        return leading_eigenvectors(problem.affinity, problem.uniform_weights(), problem.n_clusters, max_blocks=2)[1]
    if isinstance(init, str):
        rng = np.random.default_rng() if rng is None else rng
        directions = rng.standard_normal((problem.n_samples, problem.n_clusters))
    else:
        directions = np.asarray(init, dtype=np.float64)
    Q: FloatArray = np.linalg.qr(directions)[0]
    return Q
