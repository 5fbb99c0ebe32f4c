"""A few labels: the embedding is fixed on the labelled rows and free on the others."""

from dataclasses import replace

import numpy as np

from eigensieve._progress import silent
from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.qalpha.alternating import alternate
from eigensieve.qalpha.knowledge.labels import UNLABELLED, class_span
from eigensieve.qalpha.problem import Problem, Result, SolveSettings
from eigensieve.qalpha.subspace import solve_subspace

ANCHOR = 0.8
"""Least share of the embedding's energy on the labelled rows, for any number of them."""

_INNER = 4  # steps on the weights between two steps on the embedding


def solve_anchored(problem: Problem, codes: IntArray, settings: SolveSettings) -> Result:
    """Maximise the criterion over the weights and the unlabelled rows of Q = [sqrt(s) C; sqrt(1 - s) U].

    C spans the centred class indicators on the labelled rows; U is orthonormal and free. The labelled rows' natural
    share would make a handful of labels change nothing (9 or 15 of 150 samples, data with two solutions), so
    s = 0.8 + 0.2 (labelled / samples). trace(Q'L^2Q) is convex in Q and never falls when U becomes the polar factor of
    the unlabelled rows of L^2 Q. The weights are improved by the usual solver with Q fixed.
    """
    free = codes == UNLABELLED
    share = ANCHOR + (1 - ANCHOR) * float(np.mean(~free))
    quiet = replace(settings, progress=silent)

    def step(problem: Problem, weights: FloatArray, Q: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        Q = _extend(problem, weights, Q, free, share)
        result = solve_subspace(_fixed(problem, Q, weights), Q, replace(quiet, max_iter=_INNER))
        return result.weights, result.objective / problem.unit, Q

    first_pass, span = problem.n_passes, class_span(codes)
    start = solve_subspace(_fixed(problem, span, None), span, quiet).weights
    result = alternate(replace(problem, initial_weights=start), np.sqrt(share) * span, settings, step=step)
    return replace(result, n_passes=problem.n_passes - first_pass)


def _fixed(problem: Problem, Q: FloatArray, weights: FloatArray | None) -> Problem:
    return replace(problem, n_clusters=Q.shape[1], fixed_embedding=Q, initial_weights=weights)


def _extend(problem: Problem, weights: FloatArray, Q: FloatArray, free: BoolArray, share: float) -> FloatArray:
    """Replace the free rows of Q by the best ones for the linearised criterion."""
    LLQ = problem.affinity.apply(weights, problem.affinity.apply(weights, Q))
    U, _, Vt = np.linalg.svd(LLQ[free], full_matrices=False)
    extended = Q.copy()
    extended[free] = np.sqrt(1 - share) * (U @ Vt)
    return extended
