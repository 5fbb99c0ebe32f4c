"""Labels, pairs and side data (a scale per feature; 2004, section 3) in one problem, and its result as weights."""

from dataclasses import dataclass, replace

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.data import ColumnStats
from eigensieve.qalpha.class_blocks import solve_blocks
from eigensieve.qalpha.knowledge.anchored import solve_anchored
from eigensieve.qalpha.knowledge.checks import Pairs
from eigensieve.qalpha.knowledge.labels import Labels, class_span
from eigensieve.qalpha.knowledge.pairs import PairPenalty
from eigensieve.qalpha.problem import Problem, Result, SolveSettings
from eigensieve.qalpha.solving import solve

SIDE_STRENGTH, PAIR_STRENGTH = 0.1, 2.0
"""lambda of side data, the smaller the stronger, and of pairs, the larger the stronger."""

_LARGEST_RATIO = 1e100
"""Largest ratio of deviations that is used. Its square neither overflows nor, inverted, vanishes."""


@dataclass(frozen=True)
class Knowledge:
    """Labels, pairs and side data, ready for the solver."""

    labels: Labels | None = None
    blocks: bool = False  # the class-block criterion, in place of the span of the class indicators
    scale: FloatArray | None = None  # s_i = (D_i + lambda)^-1/2 from side data or earlier rounds
    pairs: Pairs | None = None
    pair_strength: float = 0.0


def side_variances(main: ColumnStats, side: ColumnStats, exponents: IntArray | None = None) -> FloatArray:
    """Return D: each feature's variance over the side samples, in units of its variance over the main samples. Features
    that are constant in the main data get 0. `exponents` are the powers of two by which the columns of the main data
    were multiplied, if they were."""
    ratio = np.zeros(len(main.mean))
    deviation = side.centered_norm / np.sqrt(side.n_samples)
    with np.errstate(over="ignore", under="ignore"):
        if exponents is not None:
            deviation = np.ldexp(deviation, exponents)
        np.divide(deviation, main.centered_norm / np.sqrt(main.n_samples), out=ratio, where=~main.constant)
    return np.minimum(ratio, _LARGEST_RATIO) ** 2


def inhibition(variances: FloatArray, strength: float) -> FloatArray:
    """Return s_i = (D_i + lambda)^-1/2. The leading eigenvector of (D + lambda I)^-1 G is S b for the b of S G S."""
    return 1.0 / np.sqrt(variances + strength)


def solve_steered(problem: Problem, knowledge: Knowledge, settings: SolveSettings) -> Result:
    """Find the weights for the data's problem and the knowledge. Labels set the number of clusters."""
    scale, labels, affinity = knowledge.scale, knowledge.labels, problem.affinity
    if knowledge.pairs is not None and knowledge.pair_strength > 0:
        problem = replace(problem, penalty=PairPenalty(affinity.data, knowledge.pairs, knowledge.pair_strength, scale))
    if scale is not None:
        problem = replace(problem, affinity=affinity.scaled(scale), scale=scale)
    if labels is not None:
        problem = replace(problem, n_clusters=len(labels.classes) - 1)
    if labels is None:
        result = solve(problem, settings)
    elif knowledge.blocks:
        result = solve_blocks(problem, labels.codes, settings)
    elif not labels.complete:
        result = solve_anchored(problem, labels.codes, settings)
    else:
        result = solve(replace(problem, fixed_embedding=class_span(labels.codes)), settings)
    return result if scale is None else _unscaled(result, scale)


def _unscaled(result: Result, scale: FloatArray) -> Result:
    """Turn the solution b of the symmetric form into unit weights w = S b / |S b|."""
    weights = scale * result.weights
    largest = float(np.abs(weights).max())
    if largest == 0:  # no feature has weight: nothing was found
        return result
    weights = weights / largest  # strong side data make the weights so small that their squares would vanish
    size = float(np.linalg.norm(weights))
    sign = -1.0 if weights.sum() < 0 else 1.0
    return replace(result, weights=sign * weights / size, eigenvalues=sign * result.eigenvalues / (size * largest))
