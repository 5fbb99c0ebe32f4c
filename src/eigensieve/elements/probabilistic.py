"""The probabilistic search (Avidan, section 4.1): few candidates, few samples, best of several tries.

With probability 0.95, sixty random candidates include one of the best twentieth. Each is judged on a tenth of the
samples. A chunk of ten elements is tried several times, and the try with the smallest error on all samples is kept.
"""

from dataclasses import replace

import numpy as np

from eigensieve.elements.plan import Plan
from eigensieve.elements.sampling import SampledData, sketch
from eigensieve.elements.state import NOTHING, SelectionState


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
    new_widths = plan.widths(state)
    taken = {(column.basis, feature) for column in state.columns for feature in column.features}
    free = n_basis * n_features - len(taken)
    targets = sketch(state.targets, rng)
    residual_of = {-1: sample.residuals(targets - state.Q @ (state.Q.T @ targets))}
    sums_of = {-1: np.zeros(sample.rows.size, np.float32)}
    given_up = {-1: 0.0}
    best, choice = NOTHING * state.start_error / state.X.shape[0], None
    seen: set[tuple[int, int]] = set()
    while len(seen) < min(plan.n_candidates, free):
        basis, feature = int(rng.integers(n_basis)), int(rng.integers(n_features))
        if (basis, feature) in taken or (basis, feature) in seen:
            continue
        seen.add((basis, feature))
        position = state.position(basis)
        if position not in residual_of:
            direction = state.drop_direction(position)
            lost = direction @ targets
            residual = targets - state.Q @ (state.Q.T @ targets) + np.outer(direction, lost)
            residual_of[position] = sample.residuals(residual)
            sums_of[position] = sample.sums(state.kernel, state.columns[position])
            given_up[position] = float(lost @ lost) / state.X.shape[0]
        for factor in new_widths if position < 0 else (state.columns[position].factor,):
            gain = sample.gains(
                state.kernel.scaled(factor), basis, np.array([feature]), sums_of[position], residual_of[position]
            )[0]
            if gain - given_up[position] > best:
                best, choice = gain - given_up[position], (basis, feature, factor)
    return choice
