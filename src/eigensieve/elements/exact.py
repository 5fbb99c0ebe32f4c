"""Exact greedy element selection (Avidan, Algorithm 1): every candidate, every sample, at every step.

The gain of a candidate column c against the span S of what is selected is

    |R'c|^2 / |c - P_S c|^2        (R the residual of the targets)

If c replaces a column whose own direction in the span is u, then u is taken out of the span, and the |T'u|^2 that is
given up is subtracted. |P_S c|^2 is kept for every candidate and updated with the direction that entered the span (and
the one that left). A candidate therefore costs O(samples) per step and is never projected afresh.
"""

import numpy as np

from eigensieve._types import Array
from eigensieve.elements._exact_numba import exact_dots
from eigensieve.elements.kernel import MaskedKernel
from eigensieve.elements.plan import Plan
from eigensieve.elements.state import COLLINEAR, NOTHING, SelectionState

_TIE = 1e-9  # gains this close are equal: polynomials of two columns may span the same, and rounding must not choose


def select_exact(state: SelectionState, plan: Plan) -> SelectionState:
    """Add the best of all elements, one at a time, until the budget is spent or the gain dies out.

    Ties go to the first basis vector, then the first feature.
    """
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
        self.left: Array | None = None
        self.fresh: set[int] = {column.basis for column in state.columns}

    def update(self, state: SelectionState, basis: int, left: Array | None) -> None:
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

    def _gains(self, state: SelectionState, basis: int, w: int, factor: float, position: int) -> Array:
        kernel = state.kernel.scaled(factor)
        m = state.residual.shape[1]
        active = position >= 0
        fresh = basis in self.fresh
        moved = [state.Q] if fresh else [self.entered] + ([] if self.left is None else [self.left[:, None]])
        own = state.drop_direction(position) if active else None
        directions = np.hstack([state.residual, *moved] + ([] if own is None else [own[:, None]]))
        sums = state.sums(state.columns[position]) if active else np.zeros(state.X.shape[0])
        dots, norms = self._dots(kernel, basis, sums, directions)
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

    def _dots(self, kernel: MaskedKernel, basis: int, sums: Array, directions: Array) -> tuple[Array, Array]:
        dots = np.empty((self.XT.shape[0], directions.shape[1]))
        norms = np.empty(self.XT.shape[0])
        exact_dots(
            kernel.kind, kernel.gamma, kernel.degree, kernel.coef0, self.XT, self.B[basis], sums,
            np.ascontiguousarray(directions.T), dots, norms,
        )  # fmt: skip
        return dots, norms
