"""The paper's two searches: exact greedy selection (Algorithm 1) and its probabilistic version (section 4.1).

A candidate column c gains |R'c|^2 / |c - P_S c|^2 against the span S of the selected columns and the residual R. If c
replaces a column whose own direction in the span is u, then u is taken out of the span, and the |T'u|^2 that is given
up is subtracted. The exact search updates |P_S c|^2 of every candidate with the direction that entered the span (and
the one that left): O(samples) per step and candidate.

The probabilistic search draws sixty candidates per choice: with probability 0.95 they include one of the best
twentieth. Each is judged on a tenth of the samples. A chunk of ten elements is tried several times, and the try with
the smallest error on all samples is kept.
"""

from dataclasses import dataclass, replace

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.elements._greedy_numba import matching_gains
from eigensieve.elements.kernel import MaskedKernel
from eigensieve.elements.printed import PrintedState
from eigensieve.elements.selection import Plan
from eigensieve.elements.state import COLLINEAR, NOTHING, Column, SelectionState

SKETCH = 4
"""A residual with more columns than this is replaced by this many random mixtures of them."""
_TIE = 1e-9  # gains this close are equal: polynomials of two columns may span the same, and rounding must not choose


def select_exact(state: SelectionState, plan: Plan) -> SelectionState:
    """Add the best of all elements, one at a time, until the budget is spent or the gain dies out. Ties go to the first
    basis vector, then the first feature."""
    state = state.copy()
    table = _Table(state, plan.widths(state))
    while state.n_elements < plan.n_elements:
        before = state.relative_error
        choice = table.best(state)
        if choice is None:
            break
        basis, feature, factor = choice
        position = state.position(basis)
        left = state.drop_direction(position) if position >= 0 else None
        if not state.add_element(basis, feature, factor):
            break
        table.update(state, basis, left)
        if plan.gain_died_out(state, before, 1):
            break
    return state


class _Table:
    """The squared length of every candidate's part inside the span."""

    def __init__(self, state: SelectionState, widths: tuple[float, ...]) -> None:
        self.XT = np.ascontiguousarray(state.X.T, dtype=np.float64)
        self.B = np.asarray(state.B, dtype=np.float64)
        n_basis, n_features = self.B.shape
        self.widths = widths
        self.inside = np.zeros((n_basis, len(widths), n_features))
        self.entered = state.Q
        self.left: FloatArray | None = None
        self.fresh: set[int] = {column.basis for column in state.columns}

    def update(self, state: SelectionState, basis: int, left: FloatArray | None) -> None:
        """Note which direction entered the span, which left, and whose candidates changed altogether."""
        self.entered = state.Q[:, -1:]
        self.left = left
        self.fresh = {basis}

    def best(self, state: SelectionState) -> tuple[int, int, float] | None:
        """Return (basis, feature, factor) of the largest gain, or None when no candidate gains."""
        best_gain, choice = NOTHING * state.start_error, None
        for basis in range(self.B.shape[0]):
            position = state.position(basis)
            widths = self.widths if position < 0 else (state.columns[position].factor,)
            for w, factor in enumerate(widths):
                gains = self._gains(state, basis, w, factor, position)
                most = float(gains.max())
                if most > best_gain * (1 + _TIE):
                    feature = int(np.argmax(gains >= most * (1 - _TIE)))  # the first of those that are equally good
                    best_gain, choice = most, (basis, feature, factor)
        return choice

    def _gains(self, state: SelectionState, basis: int, w: int, factor: float, position: int) -> FloatArray:
        m = state.residual.shape[1]
        active = position >= 0
        fresh = basis in self.fresh
        moved = [state.Q] if fresh else [self.entered] + ([] if self.left is None else [self.left[:, None]])
        own = state.drop_direction(position) if active else None
        directions = np.hstack([state.residual, *moved] + ([] if own is None else [own[:, None]]))
        sums = state.sums(state.columns[position]) if active else 0.0
        kernel = state.kernel.scaled(factor)
        columns = kernel.finish(sums + kernel.terms(self.XT, self.B[basis][:, None]))
        dots, norms = columns @ directions, (columns**2).sum(axis=1)
        r_dots = dots[:, :m]
        if fresh:
            self.inside[basis, w] = (dots[:, m : m + state.Q.shape[1]] ** 2).sum(axis=1)
        else:
            entered = self.entered.shape[1]
            self.inside[basis, w] += (dots[:, m : m + entered] ** 2).sum(axis=1)
            if self.left is not None:
                self.inside[basis, w] -= dots[:, m + entered] ** 2
        outside = norms - self.inside[basis, w]
        given_up = 0.0
        if own is not None:
            own_dots = dots[:, -1]
            t_own = own @ state.targets
            r_dots = r_dots + np.outer(own_dots, t_own)
            outside = outside + own_dots**2
            given_up = float(t_own @ t_own)
        free = outside > COLLINEAR * norms
        gains = np.where(free, (r_dots**2).sum(axis=1) / np.where(free, outside, 1.0) - given_up, -np.inf)
        if active:
            gains[state.columns[position].features] = -np.inf
        return gains


def draw_rows(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """Return `size` of n rows, drawn without replacement and in order, or all of them if there are no more."""
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))


def sketch(residual: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return at most `SKETCH` columns Z with E|Z'c|^2 = |R'c|^2 for every c."""
    m = residual.shape[1]
    if m <= SKETCH:
        return residual
    return residual @ (rng.standard_normal((m, SKETCH)) / np.sqrt(SKETCH))


@dataclass
class SampledData:
    """Single-precision copies of some samples, features as rows, for the compiled gains."""

    rows: IntArray
    XT: FloatArray
    B: FloatArray

    @classmethod
    def draw(cls, state: SelectionState, size: int, rng: np.random.Generator) -> "SampledData":
        """Draw `size` samples without replacement."""
        rows = draw_rows(state.X.shape[0], size, rng)
        return cls(rows, np.ascontiguousarray(state.XT32[:, rows]), state.B32)

    def residuals(self, residual: FloatArray) -> FloatArray:
        """Return these samples' residual, centred; each of its columns becomes a row."""
        return np.ascontiguousarray((residual - residual.mean(axis=0)).T, dtype=np.float32)

    def sums(self, kernel: MaskedKernel, column: Column) -> FloatArray:
        """Return the column's sums over its features on these samples."""
        features = column.features
        return kernel.terms(self.XT[features], self.B[column.basis, features][:, None]).sum(axis=0)

    def gains(
        self, kernel: MaskedKernel, basis: int, features: IntArray, sums: FloatArray, residuals: FloatArray
    ) -> FloatArray:
        """Return the gain per sample of adding each feature to the basis vector's column."""
        gains = np.empty(features.size, np.float32)
        matching_gains(
            kernel.kind, np.float32(kernel.gamma), kernel.degree, np.float32(kernel.coef0),
            self.XT, features, self.B[basis, features], sums, residuals, gains,
        )  # fmt: skip
        return gains / self.rows.size


def select_probabilistic(state: SelectionState, plan: Plan, rng: np.random.Generator) -> SelectionState:
    """Add elements chunk by chunk until the budget is spent or the gain dies out."""
    plan = replace(plan, least_samples=2)
    while state.n_elements < plan.n_elements:
        tries = [_chunk(state, plan, rng) for _ in range(plan.n_tries)]
        before, state = state, min(tries, key=lambda one: one.relative_error)
        added = state.n_elements - before.n_elements
        if added == 0 or plan.gain_died_out(state, before.relative_error, added):
            break
    return state


def _chunk(state: SelectionState, plan: Plan, rng: np.random.Generator) -> SelectionState:
    """Return a copy of the state with one more chunk of elements."""
    wanted = min(plan.n_elements, state.n_elements + plan.chunk_size)
    state = state.copy()
    misses = 0
    while state.n_elements < wanted and misses < 3:
        choice = _best_of_random(state, plan, rng)
        if choice is None or not state.add_element(*choice):
            misses += 1
    return state


def _best_of_random(state: SelectionState, plan: Plan, rng: np.random.Generator) -> tuple[int, int, float] | None:
    """Return (basis, feature, factor) of the best of some random elements outside the mask."""
    sample = SampledData.draw(state, plan.sample_size(state.X.shape[0]), rng)
    n_basis, n_features = state.B.shape
    taken = {(column.basis, feature) for column in state.columns for feature in column.features}
    wanted = min(plan.n_candidates, n_basis * n_features - len(taken))
    candidates: dict[tuple[int, int], None] = {}  # a set in order
    while len(candidates) < wanted:
        element = int(rng.integers(n_basis)), int(rng.integers(n_features))
        if element not in taken:
            candidates[element] = None
    if isinstance(state, PrintedState):
        return (*state.best(sample.rows, list(candidates)), 1.0)
    new_widths = plan.widths(state)
    residual = state.residual[sample.rows]
    residual_of = {-1: sample.residuals(residual)}
    sums_of = {-1: np.zeros(sample.rows.size, np.float32)}
    given_up = {-1: 0.0}
    best, choice = NOTHING * state.start_error / state.X.shape[0], None
    for basis, feature in candidates:
        position = state.position(basis)
        if position not in residual_of:
            direction = state.drop_direction(position)
            lost = direction @ state.targets
            residual_of[position] = sample.residuals(residual + np.outer(direction[sample.rows], lost))
            sums_of[position] = sample.sums(state.kernel, state.columns[position])
            given_up[position] = float(lost @ lost) / state.X.shape[0]
        for factor in new_widths if position < 0 else (state.columns[position].factor,):
            gain = sample.gains(
                state.kernel.scaled(factor), basis, np.array([feature]), sums_of[position], residual_of[position]
            )[0]
            if gain - given_up[position] > best:
                best, choice = gain - given_up[position], (basis, feature, factor)
    return choice
