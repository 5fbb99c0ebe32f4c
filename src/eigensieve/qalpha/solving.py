"""One entry to all solvers: starts, restarts, the best criterion."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.data import one_blas_thread
from eigensieve.qalpha.alternating import basic_step, power_step, ritz_step
from eigensieve.qalpha.checkpoint import Checkpoint
from eigensieve.qalpha.half_steps import alternate
from eigensieve.qalpha.problem import Problem, Result
from eigensieve.qalpha.start import starting_embedding
from eigensieve.qalpha.subspace import solve_subspace

SOLVERS: dict[str, Callable[..., Result]] = {
    "auto": solve_subspace,
    "basic": partial(alternate, step=basic_step),
    "power": partial(alternate, step=power_step),
    "ritz": partial(alternate, step=ritz_step),
}
"""Solvers by the name users give; "auto" is the locally optimal one, one pass over the data a step."""


@one_blas_thread()
def solve(
    problem: Problem,
    *,
    solver: str = "auto",
    init: str | Array = "eigen",
    n_init: int = 1,
    max_iter: int = 100,
    tol: float = 5e-3,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Result:
    """Solve a problem from one or several starts and return the result with the best criterion.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "basic", "power", "ritz"}, default="auto"
    init : {"eigen", "random"} or ndarray of shape (n_samples, n_clusters), default="eigen"
        Starting embedding.
    n_init : int, default=1
        Number of random starts; the other starts are always the same and are used once.
    max_iter, tol
        Passed to the solver.
    rng : Generator, optional
        For random starts.
    progress : callable
    checkpoint : path-like, optional
        Folder for the steps of every start; a run that was interrupted goes on from its last completed step.
    """
    first_pass = problem.n_passes
    rng = np.random.default_rng() if rng is None else rng
    restarts = n_init if isinstance(init, str) and init == "random" and problem.fixed_embedding is None else 1
    best: Result | None = None
    for attempt in range(restarts):
        steps = None if checkpoint is None else Checkpoint(Path(checkpoint) / f"start-{attempt}", problem, solver)
        Q = problem.fixed_embedding
        if Q is None:
            Q = starting_embedding(problem, init, rng)

        def report(message: str, attempt: int = attempt) -> None:
            start = f"start {attempt + 1} of {restarts}, " if restarts > 1 else ""
            progress(f"{start}{message}, {problem.n_passes - first_pass} passes")

        settings: Any = {"max_iter": max_iter, "tol": tol, "progress": report, "checkpoint": steps}
        result = SOLVERS[solver](problem, Q, **settings)
        if best is None or result.objective > best.objective:
            best = result
    assert best is not None
    return replace(best, n_passes=problem.n_passes - first_pass)
