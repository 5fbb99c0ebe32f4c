"""A few labels: the embedding is fixed on the labelled rows and free on the others."""

from dataclasses import replace

import numpy as np

from eigensieve._progress import silent
from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.qalpha.knowledge.labels import UNLABELLED, class_span
from eigensieve.qalpha.problem import Problem, Result, SolveSettings, Status
from eigensieve.qalpha.subspace import solve_subspace

ANCHOR = 0.8
"""Least share of the embedding's energy on the labelled rows, for any number of them."""

_INNER = 4  # steps on the weights between two steps on the embedding


def solve_anchored(problem: Problem, codes: IntArray, settings: SolveSettings) -> Result:
    """Maximise the criterion over the weights and the unlabelled rows of Q.

    Q = [sqrt(s) C; sqrt(1 - s) U]. C spans the centred class indicators on the labelled rows. U is orthonormal and
    free. s = 0.8 + 0.2 (labelled / samples) is the share of the labelled rows: the natural share, labelled / samples,
    is too small for a handful of labels. With 9 or 15 labels of 150 samples, on data with two solutions, they would
    change nothing. With all samples labelled this is the supervised problem.

    trace(Q'L^2Q) is convex in Q, so it never falls when U becomes the polar factor of the unlabelled rows of L^2 Q. The
    weights are improved by the usual solver with Q fixed.
    """
    first_pass = problem.n_passes
    free = codes == UNLABELLED
    share = ANCHOR + (1 - ANCHOR) * float(np.mean(~free))
    Q = class_span(codes)
    quiet = replace(settings, progress=silent)
    result = solve_subspace(_fixed(problem, Q, None), Q, quiet)
    Q = np.sqrt(share) * Q
    history: list[float] = []
    status: Status = "max_iter"
    n_iter = 0
    for n_iter in range(1, settings.max_iter + 1):
        Q = _extend(problem, result.weights, Q, free, share)
        before = result.weights
        result = solve_subspace(_fixed(problem, Q, before), Q, replace(quiet, max_iter=_INNER))
        change = float(np.linalg.norm(result.weights - before))
        gain = result.objective - history[-1] if history else np.inf
        history.append(max(result.objective, history[-1]) if history else result.objective)
        settings.progress(f"step {n_iter}: criterion {result.objective:.6g}, weights moved {change:.1e}")
        if change <= settings.tol and gain <= settings.tol**2 * abs(result.objective):
            status = "converged"
            break
    passes = problem.n_passes - first_pass
    return replace(result, history=np.asarray(history), n_iter=n_iter, n_passes=passes, status=status)


def _fixed(problem: Problem, Q: FloatArray, weights: FloatArray | None) -> Problem:
    return replace(problem, n_clusters=Q.shape[1], fixed_embedding=Q, initial_weights=weights)


def _extend(problem: Problem, weights: FloatArray, Q: FloatArray, free: BoolArray, share: float) -> FloatArray:
    """Replace the free rows of Q by the best ones for the linearised criterion."""
    LLQ = problem.affinity.apply(weights, problem.affinity.apply(weights, Q))
    U, _, Vt = np.linalg.svd(LLQ[free], full_matrices=False)
    extended = Q.copy()
    extended[free] = np.sqrt(1 - share) * (U @ Vt)
    return extended
