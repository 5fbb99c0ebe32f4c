"""The one entry to all solvers: it makes the starts and keeps the best result."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix, one_blas_thread
from eigensieve.operators import StandardAffinity, leading_eigenvectors
from eigensieve.qalpha.alternating import alternate, basic_step, power_step, ritz_step
from eigensieve.qalpha.checkpoint import Checkpoint
from eigensieve.qalpha.problem import TAU, Problem, Result, SolveSettings
from eigensieve.qalpha.subspace import solve_subspace

SOLVERS: dict[str, Callable[..., Result]] = {
    "auto": solve_subspace,
    "basic": partial(alternate, step=basic_step),
    "power": partial(alternate, step=power_step),
    "ritz": partial(alternate, step=ritz_step),
}
"""Solvers by the name that users give. "auto" is the locally optimal one, with one pass over the data per step."""


def solve(problem: Problem, settings: SolveSettings) -> Result:
    """Solve a problem from one or several starts and return the result with the best criterion."""
    first_pass = problem.n_passes
    rng = np.random.default_rng() if settings.rng is None else settings.rng
    random = isinstance(settings.init, str) and settings.init == "random" and problem.fixed_embedding is None
    restarts = settings.n_init if random else 1
    counted = replace(
        settings, progress=lambda message: settings.progress(f"{message}, {problem.n_passes - first_pass} passes")
    )
    best: Result | None = None
    with one_blas_thread():
        for attempt in range(restarts):
            Q = problem.fixed_embedding
            if Q is None:
                Q = _starting_embedding(problem, settings.init, rng)
            checkpoint = None
            if settings.checkpoint is not None:
                folder = Path(settings.checkpoint) / f"start-{attempt}"
                follows = problem.fixed_embedding is not None or (isinstance(settings.init, str) and not random)
                checkpoint = Checkpoint(folder, problem, counted, None if follows else Q)
            announced = counted.announced(f"start {attempt + 1} of {restarts}, ") if restarts > 1 else counted
            result = SOLVERS[settings.solver](problem, Q, announced, checkpoint)
            if best is None or result.objective > best.objective:
                best = result
    assert best is not None
    return replace(best, n_passes=problem.n_passes - first_pass)


def solve_standard(data: DataMatrix, n_clusters: int, usable: Array, settings: SolveSettings) -> Result:
    """Solve the papers' first problem: the standard spectrum and the energy criterion, without further knowledge."""
    return solve(Problem(StandardAffinity(data), n_clusters, TAU["energy"], usable), settings)


def _starting_embedding(problem: Problem, init: str | Array, rng: np.random.Generator) -> Array:
    """Return an orthonormal Q (n_samples, n_clusters): "eigen", "random", or the user's own."""
    if isinstance(init, str) and init == "eigen":
        # A third block costs more passes than the steps that it saves.
        return leading_eigenvectors(problem.affinity, problem.uniform_weights(), problem.n_clusters, max_blocks=2)[1]
    if isinstance(init, str):
        directions = rng.standard_normal((problem.n_samples, problem.n_clusters))
    else:
        directions = np.asarray(init, dtype=np.float64)
    Q: Array = np.linalg.qr(directions)[0]
    return Q
