"""The other shapes of the mask: feature (rows), basis (columns), joint (rank 1) and prototypes (rank r).

There is one mask M (features x basis vectors), equations 1 to 5 of the paper:

    feature     M = f 1'    the same features for every basis vector
    basis       M = 1 b'    whole basis vectors
    joint       M = f b'    the same features for some basis vectors
    prototypes  each column is one of r feature subsets (the paper's future work: a rank-constrained mask)

`n_elements` always counts entries of the mask.
"""

from dataclasses import replace

import numpy as np

from eigensieve._progress import silent
from eigensieve._types import FloatArray
from eigensieve.elements.greedy import draw_rows
from eigensieve.elements.guided import select_guided
from eigensieve.elements.selection import Plan
from eigensieve.elements.state import NOTHING, Column, SelectionState, Trial

POOL = 512
"""Prototype columns are chosen among at most this many basis vectors."""


def select_basis(state: SelectionState, plan: Plan) -> SelectionState:
    """Add whole basis vectors, each time the one that lowers the error most."""
    state = state.copy()
    every = list(range(state.B.shape[1]))
    trial = Trial(state.kernel.full(state.X.astype(np.float64), state.B.astype(np.float64)))
    free = np.ones(state.B.shape[0], dtype=bool)
    while state.n_elements + len(every) <= plan.n_elements:
        before = state.relative_error
        gains = np.where(free, trial.gains(state), 0.0)
        best = int(np.argmax(gains))
        if gains[best] <= NOTHING * state.start_error:
            break
        state.add_whole_column(best, every)
        free[best] = False
        plan.progress(f"{len(state.columns)} basis vectors, error {state.relative_error:.4g}")
        if before - state.relative_error < plan.tol * len(every):
            break
    return state


def select_features(
    state: SelectionState, plan: Plan, alpha: FloatArray, rng: np.random.Generator
) -> tuple[list[Column], list[float]]:
    """Add rows: features that every basis vector sees (equation 1), with alpha kept. Fewer features give larger kernel
    values, so the masked sum is compared with the full one up to scale and offset."""
    n_basis, d = state.B.shape
    rows = draw_rows(state.X.shape[0], plan.sample_size(state.X.shape[0]), rng)
    X, B = state.X[rows].astype(np.float64), state.B.astype(np.float64)
    targets = state.kernel.full(X, B) @ alpha
    sums = np.zeros((rows.size, n_basis))
    chosen: list[int] = []
    path: list[float] = []
    while (len(chosen) + 1) * n_basis <= plan.n_elements:
        kernel = state.kernel.scaled(plan.width(state, len(chosen) + 1))
        candidates = _others(d, chosen, plan.n_candidates, rng)
        errors = [
            _affine_error(kernel.finish(sums + kernel.terms(X[:, i, None], B[None, :, i])) @ alpha, targets)
            for i in candidates
        ]
        best = int(np.argmin(errors))
        i = int(candidates[best])
        sums += kernel.terms(X[:, i, None], B[None, :, i])
        chosen.append(i)
        path.append(float(errors[best]))
        plan.progress(f"{len(chosen)} features, error {path[-1]:.4g}")
        if len(path) > 1 and path[-2] - path[-1] < plan.tol * n_basis:
            break
    factor = plan.width(state, len(chosen))
    return [Column(j, factor, list(chosen)) for j in range(n_basis)], path


def select_joint(state: SelectionState, plan: Plan, rng: np.random.Generator) -> SelectionState:
    """Grow a rank-1 mask from the guided search's first element: each step adds the row or column with the larger gain
    per element. Candidates are compared on some samples. The result is fitted on all."""
    rows = draw_rows(state.X.shape[0], plan.sample_size(state.X.shape[0]), rng)
    one_element = replace(plan, n_elements=1, rescale=False, n_tries=1, tol=0.0, progress=silent)
    found = select_guided(state, one_element, rng)
    if not found.columns:  # no element lowers the error
        return found
    first = found.columns[0]
    features, bases = list(first.features), [first.basis]
    X, B, targets = state.X[rows].astype(np.float64), state.B.astype(np.float64), state.targets[rows]

    def masked(bases: list[int], features: list[int]) -> FloatArray:
        kernel = state.kernel.scaled(plan.width(state, len(features)))
        return kernel.full(X[:, features], B[np.ix_(bases, features)])

    error = _ridge_error(masked(bases, features), targets)
    while True:
        held = len(features) * len(bases)
        moves: list[tuple[float, float, list[int], list[int]]] = []
        if held + len(bases) <= plan.n_elements:
            for i in _others(B.shape[1], features, plan.n_candidates, rng):
                wider = [*features, int(i)]
                after = _ridge_error(masked(bases, wider), targets)
                moves.append(((error - after) / len(bases), after, wider, bases))
        if held + len(features) <= plan.n_elements:
            current = masked(bases, features)
            for j in _others(B.shape[0], bases, plan.n_candidates, rng):
                after = _ridge_error(np.hstack([current, masked([int(j)], features)]), targets)
                moves.append(((error - after) / len(features), after, features, [*bases, int(j)]))
        if not moves:
            break
        rate, after, features_next, bases_next = max(moves, key=lambda move: move[0])
        if rate <= max(plan.tol, NOTHING):
            break
        error, features, bases = after, features_next, bases_next
        plan.progress(f"{len(features)} features x {len(bases)} basis vectors, error {error:.4g}")
    state = state.copy()
    for j in bases:
        state.add_column(j, features, plan.width(state, len(features)))
    return state


def select_prototypes(
    state: SelectionState, plan: Plan, rng: np.random.Generator
) -> tuple[SelectionState, list[list[int]]]:
    """Find r feature subsets, then add the best pair (basis vector, subset) until the budget is spent; return the
    subsets used."""
    size = min(plan.prototype_size, state.B.shape[1])
    prototypes = _grown_prototypes(state, plan, size, rng)
    factor = plan.width(state, size)
    pool = draw_rows(state.B.shape[0], POOL, rng)
    candidates = [Column(int(j), factor, p) for j in pool for p in prototypes]
    state = state.copy()
    if not candidates:  # no element lowers the error
        return state, []
    trial = Trial(np.stack([state.values(column) for column in candidates], axis=1))
    owners = np.array([column.basis for column in candidates])
    free = np.ones(len(candidates), dtype=bool)
    while state.n_elements + size <= plan.n_elements:
        gains = np.where(free, trial.gains(state), 0.0)
        best = int(np.argmax(gains))
        if gains[best] <= max(NOTHING, plan.tol * size) * state.start_error:
            break
        column = candidates[best]
        state.add_column(column.basis, column.features, column.factor)
        free[owners == column.basis] = False
        plan.progress(f"{len(state.columns)} columns, error {state.relative_error:.4g}")
    used = {tuple(column.features) for column in state.columns}
    return state, [p for p in prototypes if tuple(p) in used]


def _grown_prototypes(state: SelectionState, plan: Plan, size: int, rng: np.random.Generator) -> list[list[int]]:
    """Return the feature subsets, each from one basis vector grown on what the earlier ones leave unexplained."""
    prototypes: list[list[int]] = []
    for _ in range(plan.n_prototypes):
        one_column = replace(
            plan, n_elements=state.n_elements + size, n_tries=3, grown_to=size, fill=True, tol=0.0, progress=silent
        )
        grown = select_guided(state, one_column, rng)
        if len(grown.columns) == len(state.columns):
            break
        state = grown
        prototypes.append(list(grown.columns[-1].features))
    return prototypes


def _others(n: int, taken: list[int], size: int, rng: np.random.Generator) -> FloatArray:
    """Draw `size` unused indices below n, or return all of them if there are no more."""
    items = np.setdiff1d(np.arange(n), taken)
    return items if size >= items.size else rng.choice(items, size, replace=False)


def _affine_error(values: FloatArray, targets: FloatArray) -> float:
    """Relative squared error of targets ~ scale * values + offset, separately per output."""
    v, t = values - values.mean(axis=0), targets - targets.mean(axis=0)
    square = (v**2).sum(axis=0)
    alive = square > NOTHING * (values**2).sum(axis=0)
    explained = np.where(alive, (v * t).sum(axis=0) ** 2 / np.where(alive, square, 1.0), 0.0)
    total = (t**2).sum()
    return float(1.0 - explained.sum() / total) if total > 0 else 0.0


def _ridge_error(design: FloatArray, targets: FloatArray) -> float:
    """Relative squared error of least squares with a constant, lightly regularised."""
    A, t = design - design.mean(axis=0), targets - targets.mean(axis=0)
    gram = A.T @ A
    gram[np.diag_indices_from(gram)] += 1e-9 * (design**2).sum(axis=0) + np.finfo(float).tiny
    cross = A.T @ t
    total = (t**2).sum()
    return float(1.0 - (cross * np.linalg.solve(gram, cross)).sum() / total) if total > 0 else 0.0
