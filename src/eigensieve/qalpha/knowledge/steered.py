"""From what the user knows to a problem for the solver, and from its result to weights."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.operators import Affinity, ScaledAffinity
from eigensieve.qalpha.class_blocks import BlockSettings, solve_blocks
from eigensieve.qalpha.knowledge.anchored import solve_anchored
from eigensieve.qalpha.knowledge.labels import Labels, class_span
from eigensieve.qalpha.knowledge.pairs import PairPenalty, Pairs
from eigensieve.qalpha.knowledge.side import unscaled
from eigensieve.qalpha.problem import Problem, Result
from eigensieve.qalpha.solving import solve


@dataclass(frozen=True)
class Knowledge:
    """What the user knows besides the data.

    Attributes
    ----------
    labels : Labels or None
    blocks : BlockSettings or None
        Settings of the class-block criterion; None for the span of the class indicators.
    scale : ndarray of shape (n_features,) or None
        s_i = (D_i + lambda)^-1/2 from side data or earlier rounds.
    pairs : Pairs or None
    pair_strength : float
    """

    labels: Labels | None = None
    blocks: BlockSettings | None = None
    scale: Array | None = None
    pairs: Pairs | None = None
    pair_strength: float = 0.0


def solve_steered(
    affinity: Affinity,
    n_clusters: int,
    tau: float,
    usable: Array,
    knowledge: Knowledge,
    *,
    solver: str = "auto",
    init: str | Array = "eigen",
    n_init: int = 1,
    max_iter: int = 200,
    tol: float = 5e-3,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Result:
    """Find the weights for the data and the knowledge; the parameters are those of `solve`."""
    scale, labels = knowledge.scale, knowledge.labels
    penalty = None
    if knowledge.pairs is not None and knowledge.pair_strength > 0:
        penalty = PairPenalty(affinity.data, knowledge.pairs, knowledge.pair_strength, scale)
    steered = affinity if scale is None else ScaledAffinity(affinity, scale)
    fixed = None
    if labels is not None:
        n_clusters = len(labels.classes) - 1
        fixed = class_span(labels.codes) if labels.complete and knowledge.blocks is None else None
    problem = Problem(steered, n_clusters, tau, usable, fixed, penalty)
    limits: Any = {"max_iter": max_iter, "tol": tol, "progress": progress}
    if labels is not None and knowledge.blocks is not None:
        result = solve_blocks(problem, labels.codes, knowledge.blocks, **limits)
    elif labels is not None and not labels.complete:
        result = solve_anchored(problem, labels.codes, **limits)
    else:
        start: Any = {"solver": solver, "init": init, "n_init": n_init, "rng": rng, "checkpoint": checkpoint}
        result = solve(problem, **start, **limits)
    return result if scale is None else unscaled(result, scale)
