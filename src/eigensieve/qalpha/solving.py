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
from eigensieve.qalpha.starts import Climb
from eigensieve.qalpha.subspace import solve_subspace

_COLUMNS = 120  # of all starts that climb together: their projections take memory

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
    with one_blas_thread():
        alone = settings.n_init == 1 or problem.fixed_embedding is not None
        result = _solve_from(problem, 0, settings.init, counted) if alone else _best_of_several(problem, counted)
    return replace(result, n_passes=problem.n_passes - first_pass)


def _best_of_several(problem: Problem, settings: SolveSettings) -> Result:
    """Follow the first start to the end. The others climb together, and the best of them is followed to the end."""
    n_starts = settings.n_init
    values, finished, best = np.full(n_starts, np.nan), np.zeros(n_starts, dtype=bool), None
    leaders = np.arange(n_starts)
    points: dict[int, tuple[Problem, FloatArray]] = {}

    def follow(number: int, begun: Problem, init: str | FloatArray) -> Result | None:
        finished[number], values[number] = True, np.nan
        try:
            result = _solve_from(begun, number, init, settings.announced(f"start {number + 1} of {n_starts}, "))
        except VanishingCriterionError:
            if best is None and number and finished[list(points)].all():
                raise
            return None
        values[number] = result.objective
        return result

    best = follow(0, problem, settings.init)
    room = max(1, _COLUMNS // problem.n_clusters)
    for group in np.split(np.arange(1, n_starts), range(room, n_starts - 1, room)):
        Q = np.stack([_starting_embedding(problem, "random", settings.rng) for _ in group])
        climb = Climb(problem, Q, best, _checkpoint(problem, f"climb-{group[0]}", settings, Q)).run(settings)
        leaders[group] = np.where(climb.leader >= 0, group[climb.leader], 0)
        for number, w, Qi in zip(climb.number, climb.left.T, climb.left_Q, strict=True):
            taken = float(w @ problem.subtracted(w)) if problem.subtracts else 0.0
            values[group[number]] = problem.unit * (climb.energies[number] - taken)
            points[group[number]] = (replace(problem, initial_weights=w if w.any() else None), Qi)
    for number in sorted(points, key=lambda number: -values[number]):
        found = follow(int(number), *points[number])
        # Of starts that end in one maximum the first is kept: they differ by what `tol` leaves open.
        if best is None or (found and found.objective - best.objective > settings.tol**2 * abs(best.objective)):
            best = found
        if found is not None:
            break
    assert best is not None
    return replace(
        best, start_objectives=tuple(values[leaders].tolist()), starts_finished=tuple(finished[leaders].tolist())
    )


def _solve_from(problem: Problem, number: int, init: str | FloatArray, settings: SolveSettings) -> Result:
    """Solve from one start, and keep its steps in a folder of its own if that is asked for."""
    follows = problem.fixed_embedding is not None or (isinstance(init, str) and init == "eigen")
    Q = problem.fixed_embedding
    if Q is None:
        Q = _starting_embedding(problem, init, settings.rng)
    kept = _checkpoint(problem, f"start-{number}", settings, None if follows else Q)
    return SOLVERS[settings.solver](problem, Q, settings, kept)


def _checkpoint(problem: Problem, name: str, settings: SolveSettings, start: FloatArray | None) -> Checkpoint | None:
    """Return the steps that are kept of one search."""
    folder = settings.checkpoint
    return None if folder is None else Checkpoint(Path(folder) / name, problem, settings, start)


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
