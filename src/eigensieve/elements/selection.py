"""One door to all searches and mask shapes. The searches are compiled, and imported when first used."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eigensieve._progress import Progress, silent
from eigensieve.elements.kernel import LINEAR
from eigensieve.elements.search import GROWN, Limits
from eigensieve.elements.state import Column, SelectionState

LEAST_SAMPLES = 350
"""Candidates are compared on at least so many samples (except by the paper's probabilistic search)."""


@dataclass(frozen=True)
class Plan:
    """What to select and how; the fields are those of `ElementSelectedSVC`."""

    n_elements: int
    shape: str = "element"
    search: str = "guided"
    rescale: bool = True
    n_candidates: int = 60
    sample_fraction: float = 0.1
    chunk_size: int = 10
    n_tries: int = 3
    n_prototypes: int = 4
    prototype_size: int = 8
    tol: float = 0.0
    progress: Progress = silent

    def smallest(self, n_basis: int, n_features: int) -> int:
        """Return how many elements the smallest mask of the shape has."""
        size = min(self.prototype_size, n_features)
        return {"basis": n_features, "feature": n_basis, "prototypes": size}.get(self.shape, 1)

    def widths(self, state: SelectionState) -> tuple[float, ...]:
        """Return the factors on gamma that masked columns may take."""
        local = state.B.shape[1] / GROWN
        return (1.0, local) if self.rescale and local > 1.0 and state.kernel.kind != LINEAR else (1.0,)


@dataclass
class Selection:
    """The masked columns, the error after each addition and, for that shape, the prototypes."""

    columns: list[Column]
    path: list[float]
    prototypes: list[list[int]] = field(default_factory=list)


def select(plan: Plan, state: SelectionState, alpha: NDArray, rng: np.random.Generator) -> Selection:
    """Select masked columns from a state (empty, or with columns to keep) as planned.

    Parameters
    ----------
    plan : Plan
    state : SelectionState
    alpha : ndarray of shape (n_basis, n_outputs)
        Weights of the full machine; used by the feature shape.
    rng : numpy.random.Generator
    """
    from eigensieve.elements.shapes import select_basis, select_features, select_joint, select_prototypes

    sample_size = max(LEAST_SAMPLES, int(np.ceil(plan.sample_fraction * state.X.shape[0])))
    limits = Limits(plan.n_elements, plan.tol, plan.widths(state), plan.progress)
    if plan.shape == "element":
        state = _select_elements(plan, state, limits, sample_size, rng)
        return Selection(state.columns, state.path)
    if plan.shape == "basis":
        state = select_basis(state, limits)
        return Selection(state.columns, state.path)
    if plan.shape == "feature":
        columns, path = select_features(
            state,
            limits,
            alpha,
            n_candidates=plan.n_candidates,
            sample_size=sample_size,
            rescale=plan.rescale,
            rng=rng,
        )
        return Selection(columns, path)
    if plan.shape == "joint":
        state = select_joint(
            state, limits, n_candidates=plan.n_candidates, sample_size=sample_size, rescale=plan.rescale, rng=rng
        )
        return Selection(state.columns, state.path)
    state, prototypes = select_prototypes(
        state,
        limits,
        n_prototypes=plan.n_prototypes,
        prototype_size=plan.prototype_size,
        sample_size=sample_size,
        rescale=plan.rescale,
        rng=rng,
    )
    return Selection(state.columns, state.path, prototypes)


def _select_elements(
    plan: Plan, state: SelectionState, limits: Limits, sample_size: int, rng: np.random.Generator
) -> SelectionState:
    from eigensieve.elements.exact import select_exact
    from eigensieve.elements.guided import select_guided
    from eigensieve.elements.probabilistic import select_probabilistic

    if plan.search == "exact":
        return select_exact(state, limits)
    if plan.search == "guided":
        state = select_guided(state, limits, sample_size=sample_size, n_grown=plan.n_tries, rng=rng)
        if state.finished or state.n_elements >= plan.n_elements:
            return state
        # No new column gains anything, or every basis vector has one: what is left of the budget lengthens columns.
    return select_probabilistic(
        state,
        limits,
        n_candidates=plan.n_candidates,
        sample_fraction=plan.sample_fraction,
        chunk_size=plan.chunk_size,
        n_tries=plan.n_tries,
        rng=rng,
    )
