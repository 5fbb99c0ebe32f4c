"""The other shapes of the mask: feature (rows), basis (columns), joint (rank 1) and prototypes (rank r).

One mask, M (features x basis vectors), equations 1 to 5 of the paper:

    feature     M = f 1'    the same features for every basis vector
    basis       M = 1 b'    whole basis vectors
    joint       M = f b'    the same features for some basis vectors
    prototypes  each column is one of r feature subsets (the paper's future work: a rank-constrained mask)

Every function returns a `SelectionState` or, for the feature shape, whose columns are all basis vectors, the columns
alone. `n_elements` always counts entries of the mask.
"""

import numpy as np
from numpy.typing import NDArray

from eigensieve.elements.guided import select_guided
from eigensieve.elements.kernel import LINEAR
from eigensieve.elements.search import Limits
from eigensieve.elements.state import NOTHING, Column, SelectionState, Trial

POOL = 512
"""Basis vectors among which prototype columns are chosen, at most."""


def width_factor(state: SelectionState, n_seen: int, rescale: bool) -> float:
    """Return d / p, at which a column with p of d features is as local as the full kernel, or 1."""
    return state.B.shape[1] / n_seen if rescale and state.kernel.kind != LINEAR else 1.0


def select_basis(state: SelectionState, limits: Limits) -> SelectionState:
    """Add whole basis vectors, each time the one that lowers the error most."""
    state = state.copy()
    every = list(range(state.B.shape[1]))
    trial = Trial(state.kernel.full(state.X.astype(np.float64), state.B.astype(np.float64)))
    free = np.ones(state.B.shape[0], dtype=bool)
    while state.n_elements + len(every) <= limits.n_elements:
        before = state.relative_error
        gains = np.where(free, trial.gains(state), 0.0)
        best = int(np.argmax(gains))
        if gains[best] <= NOTHING * state.start_error:
            break
        state.add_whole_column(best, every)
        free[best] = False
        limits.progress(f"{len(state.columns)} basis vectors, error {state.relative_error:.4g}")
        if before - state.relative_error < limits.tol * len(every):
            break
    return state


def select_features(
    state: SelectionState,
    limits: Limits,
    alpha: NDArray,
    *,
    n_candidates: int,
    sample_size: int,
    rescale: bool,
    rng: np.random.Generator,
) -> tuple[list[Column], list[float]]:
    """Add rows: features that every basis vector sees (equation 1, weights alpha kept while searching).

    The masked sum is compared with the full one up to scale and offset, since fewer features give larger kernel values.

    Returns
    -------
    columns : list of Column
        One for each basis vector, with the same features.
    path : list of float
        Relative error on the sample after each row.
    """
    n_basis, d = state.B.shape
    rows = _draw(state.X.shape[0], sample_size, rng)
    X, B = state.X[rows].astype(np.float64), state.B.astype(np.float64)
    targets = state.kernel.full(X, B) @ alpha
    sums = np.zeros((rows.size, n_basis))
    chosen: list[int] = []
    path: list[float] = []
    while (len(chosen) + 1) * n_basis <= limits.n_elements:
        kernel = state.kernel.scaled(width_factor(state, len(chosen) + 1, rescale))
        candidates = _draw_from(np.setdiff1d(np.arange(d), chosen), n_candidates, rng)
        errors = [
            _affine_error(kernel.finish(sums + kernel.terms(X[:, i, None], B[None, :, i])) @ alpha, targets)
            for i in candidates
        ]
        best = int(np.argmin(errors))
        i = int(candidates[best])
        sums += kernel.terms(X[:, i, None], B[None, :, i])
        chosen.append(i)
        path.append(float(errors[best]))
        limits.progress(f"{len(chosen)} features, error {path[-1]:.4g}")
        if len(path) > 1 and path[-2] - path[-1] < limits.tol * n_basis:
            break
    factor = width_factor(state, len(chosen), rescale)
    return [Column(j, factor, list(chosen)) for j in range(n_basis)], path


def select_joint(
    state: SelectionState,
    limits: Limits,
    *,
    n_candidates: int,
    sample_size: int,
    rescale: bool,
    rng: np.random.Generator,
) -> SelectionState:
    """Grow a rank-1 mask: each step adds the row or the column with the larger gain an element.

    The first element comes from the guided search; candidates are compared on a sample, the result is refitted on all.
    """
    rows = _draw(state.X.shape[0], sample_size, rng)
    first = select_guided(state, Limits(1), sample_size=sample_size, n_grown=1, rng=rng)
    features, bases = list(first.columns[0].features), [first.columns[0].basis]
    X, B = state.X[rows].astype(np.float64), state.B.astype(np.float64)
    targets = state.targets[rows]
    error = _ridge_error(_masked(state, X, B, bases, features, rescale), targets)
    while True:
        held = len(features) * len(bases)
        moves: list[tuple[float, float, list[int], list[int]]] = []
        if held + len(bases) <= limits.n_elements:
            for i in _draw_from(np.setdiff1d(np.arange(B.shape[1]), features), n_candidates, rng):
                wider = [*features, int(i)]
                after = _ridge_error(_masked(state, X, B, bases, wider, rescale), targets)
                moves.append(((error - after) / len(bases), after, wider, bases))
        if held + len(features) <= limits.n_elements:
            current = _masked(state, X, B, bases, features, rescale)
            for j in _draw_from(np.setdiff1d(np.arange(B.shape[0]), bases), n_candidates, rng):
                more = np.hstack([current, _masked(state, X, B, [int(j)], features, rescale)])
                after = _ridge_error(more, targets)
                moves.append(((error - after) / len(features), after, features, [*bases, int(j)]))
        if not moves:
            break
        rate, after, features_next, bases_next = max(moves, key=lambda move: move[0])
        if rate <= max(limits.tol, NOTHING):
            break
        error, features, bases = after, features_next, bases_next
        limits.progress(f"{len(features)} features x {len(bases)} basis vectors, error {error:.4g}")
    state = state.copy()
    for j in bases:
        state.add_column(j, features, width_factor(state, len(features), rescale))
    return state


def select_prototypes(
    state: SelectionState,
    limits: Limits,
    *,
    n_prototypes: int,
    prototype_size: int,
    sample_size: int,
    rescale: bool,
    rng: np.random.Generator,
) -> tuple[SelectionState, list[list[int]]]:
    """Find r feature subsets, then basis vectors that each use one of them.

    Subsets come one after another from a basis vector grown, on what the earlier ones leave unexplained, to
    `prototype_size` features; then every pair (basis vector, subset) is a candidate and the best is added until the
    budget is spent.

    Returns
    -------
    state : SelectionState
    prototypes : list of list of int
        The subsets that are used.
    """
    size = min(prototype_size, state.B.shape[1])
    factor = width_factor(state, size, rescale)
    scratch = state.copy()
    prototypes: list[list[int]] = []
    for _ in range(n_prototypes):
        grown = select_guided(
            scratch,
            Limits(scratch.n_elements + size, widths=(factor,)),
            sample_size=sample_size,
            n_grown=3,
            rng=rng,
            grown_to=size,
            fill=True,
        )
        if len(grown.columns) == len(scratch.columns):
            break
        scratch = grown
        prototypes.append(list(grown.columns[-1].features))
    pool = _draw(state.B.shape[0], POOL, rng)
    candidates = [Column(int(j), factor, p) for j in pool for p in prototypes]
    state = state.copy()
    trial = Trial(np.stack([state.values(column) for column in candidates], axis=1))
    owners = np.array([column.basis for column in candidates])
    free = np.ones(len(candidates), dtype=bool)
    while state.n_elements + size <= limits.n_elements:
        gains = np.where(free, trial.gains(state), 0.0)
        best = int(np.argmax(gains))
        if gains[best] <= max(NOTHING, limits.tol * size) * state.start_error:
            break
        column = candidates[best]
        state.add_column(column.basis, column.features, column.factor)
        free[owners == column.basis] = False
        limits.progress(f"{len(state.columns)} columns, error {state.relative_error:.4g}")
    used = {tuple(column.features) for column in state.columns}
    return state, [p for p in prototypes if tuple(p) in used]


def _draw(n: int, size: int, rng: np.random.Generator) -> NDArray:
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))


def _draw_from(items: NDArray, size: int, rng: np.random.Generator) -> NDArray:
    return items if size >= items.size else rng.choice(items, size, replace=False)


def _masked(
    state: SelectionState, X: NDArray, B: NDArray, bases: list[int], features: list[int], rescale: bool
) -> NDArray:
    kernel = state.kernel.scaled(width_factor(state, len(features), rescale))
    return kernel.full(X[:, features], B[np.ix_(bases, features)])


def _affine_error(values: NDArray, targets: NDArray) -> float:
    """Relative squared error of targets ~ scale * values + offset, each output on its own."""
    v, t = values - values.mean(axis=0), targets - targets.mean(axis=0)
    square = (v**2).sum(axis=0)
    alive = square > NOTHING * (values**2).sum(axis=0)
    explained = np.where(alive, (v * t).sum(axis=0) ** 2 / np.where(alive, square, 1.0), 0.0)
    total = (t**2).sum()
    return float(1.0 - explained.sum() / total) if total > 0 else 0.0


def _ridge_error(design: NDArray, targets: NDArray) -> float:
    """Relative squared error of least squares with a constant, lightly regularised."""
    A, t = design - design.mean(axis=0), targets - targets.mean(axis=0)
    gram = A.T @ A
    gram[np.diag_indices_from(gram)] += 1e-9 * (design**2).sum(axis=0) + np.finfo(float).tiny
    cross = A.T @ t
    total = (t**2).sum()
    return float(1.0 - (cross * np.linalg.solve(gram, cross)).sum() / total) if total > 0 else 0.0
