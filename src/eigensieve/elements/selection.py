"""One entry to all searches and mask shapes. They are compiled, so they are imported when first used."""

from dataclasses import dataclass, field

import numpy as np

from eigensieve._types import Array
from eigensieve.elements.plan import Plan
from eigensieve.elements.state import Column, SelectionState


@dataclass
class Selection:
    """The masked columns, the error after each addition and, for shape "prototypes", the feature subsets."""

    columns: list[Column]
    path: list[float]
    prototypes: list[list[int]] = field(default_factory=list)

    @property
    def n_elements(self) -> int:
        """How many elements the mask holds."""
        return sum(len(column.features) for column in self.columns)

    def shortfall(self, plan: Plan, n_basis: int) -> str | None:
        """Say why the search stopped though the budget had room for one more step, or return None if it had not."""
        last = len(self.columns[-1].features) if self.columns else 1
        step = {"feature": n_basis, "joint": min(last, len(self.columns)), "element": 1}.get(plan.shape, last)
        if plan.n_elements - self.n_elements < step:
            return None
        if plan.shape in ("basis", "prototypes") and len(self.columns) == n_basis:
            return "every support vector has a column already"
        return f"nothing tried lowered the relative error by more than tol={plan.tol:g} per element"


def select(plan: Plan, state: SelectionState, alpha: Array, rng: np.random.Generator) -> Selection:
    """Select masked columns as planned.

    Parameters
    ----------
    plan : Plan
    state : SelectionState
        Empty, or with columns to keep.
    alpha : ndarray of shape (n_basis, n_outputs)
        Weights of the full machine; used by the feature shape.
    rng : numpy.random.Generator
    """
    from eigensieve.elements.shapes import select_basis, select_features, select_joint, select_prototypes

    prototypes: list[list[int]] = []
    if plan.shape == "feature":
        return Selection(*select_features(state, plan, alpha, rng))
    if plan.shape == "basis":
        state = select_basis(state, plan)
    elif plan.shape == "joint":
        state = select_joint(state, plan, rng)
    elif plan.shape == "prototypes":
        state, prototypes = select_prototypes(state, plan, rng)
    else:
        state = _select_elements(state, plan, rng)
    return Selection(state.columns, state.path, prototypes)


def _select_elements(state: SelectionState, plan: Plan, rng: np.random.Generator) -> SelectionState:
    from eigensieve.elements.exact import select_exact
    from eigensieve.elements.guided import select_guided
    from eigensieve.elements.probabilistic import select_probabilistic

    if plan.search == "exact":
        return select_exact(state, plan)
    if plan.search == "guided":
        state = select_guided(state, plan, rng)
        if state.finished or state.n_elements >= plan.n_elements:
            return state
        # No new column gains anything, or every basis vector has one: the rest of the budget lengthens columns.
    return select_probabilistic(state, plan, rng)
