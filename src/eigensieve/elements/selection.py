"""The settings of a selection, and one entry to all searches and mask shapes, which are imported when first used."""

from dataclasses import dataclass, field

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import FloatArray
from eigensieve.elements.kernel import LINEAR
from eigensieve.elements.state import Column, SelectionState


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The elements to select, and how. Some fields are parameters of `ElementSelectedSVC`."""

    n_elements: int  # wanted in total
    shape: str = "element"
    search: str = "guided"  # for shape "element"
    rescale: bool = True  # masked columns may use a larger gamma, as local as the full kernel
    n_candidates: int = 60  # random candidates compared per choice (the paper's number)
    sample_fraction: float = 0.1  # share of the samples on which candidates are compared (the paper's number)
    least_samples: int = 350  # of those; the probabilistic search ignores it, as the paper does
    chunk_size: int = 10  # elements that the probabilistic search chooses per try (the paper's number)
    n_tries: int = 3  # tries per chunk; columns grown per choice in the guided search
    n_prototypes: int = 4  # feature subsets of shape "prototypes"
    prototype_size: int = 8
    grown_to: int = 4  # features of a column that the guided search grows, at most
    fill: bool = False  # the guided search grows every column as far as it can
    tol: float = 0.0  # an element must lower the relative error by so much (mean over those added together)
    progress: Progress = silent

    def smallest(self, n_basis: int, n_features: int) -> int:
        """Return how many elements the smallest mask of the shape has."""
        size = min(self.prototype_size, n_features)
        return {"basis": n_features, "feature": n_basis, "prototypes": size}.get(self.shape, 1)

    def sample_size(self, n_samples: int) -> int:
        """Return on how many samples candidates are compared."""
        return max(self.least_samples, int(np.ceil(self.sample_fraction * n_samples)))

    def width(self, state: SelectionState, n_seen: int) -> float:
        """Return the factor d / p on gamma that makes a column seeing p of d features as local as the full kernel. It
        is 1 without `rescale` and for the linear kernel."""
        return state.B.shape[1] / n_seen if self.rescale and state.kernel.kind != LINEAR else 1.0

    def widths(self, state: SelectionState) -> tuple[float, ...]:
        """Return the factors on gamma that a new masked column may take; (1.0,) is the paper's kernel."""
        local = self.width(state, self.grown_to)
        if self.fill:
            return (local,)
        return (1.0, local) if local > 1.0 else (1.0,)

    def gain_died_out(self, state: SelectionState, error_before: float, n_added: int) -> bool:
        """Report the progress, and return whether the added elements gained less than `tol` each."""
        self.progress(f"{state.n_elements} elements, error {state.relative_error:.4g}")
        state.finished = error_before - state.relative_error < self.tol * n_added
        return state.finished


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


def select(plan: Plan, state: SelectionState, alpha: FloatArray, rng: np.random.Generator) -> Selection:
    """Select masked columns as planned. The feature shape uses alpha (basis x outputs), the weights of the full
    machine."""
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
    from eigensieve.elements.greedy import select_exact, select_probabilistic
    from eigensieve.elements.guided import select_guided

    if plan.search == "exact":
        return select_exact(state, plan)
    if plan.search == "guided":
        state = select_guided(state, plan, rng)
        if state.finished or state.n_elements >= plan.n_elements:
            return state
        # No new column gains anything, or every basis vector has one: the rest of the budget lengthens columns.
    return select_probabilistic(state, plan, rng)
