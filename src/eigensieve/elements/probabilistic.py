"""The probabilistic search (Avidan, section 4.1): few candidates, few samples, best of several tries.

Sixty random candidates hold, with probability 0.95, one of the best twentieth; each is judged on a tenth of the
samples; a chunk of ten elements is tried several times and the try with the smallest error on all samples is kept.
"""

import numpy as np

from eigensieve.elements.sampling import SampledData, sketch
from eigensieve.elements.search import Limits
from eigensieve.elements.state import NOTHING, SelectionState


def select_probabilistic(
    state: SelectionState,
    limits: Limits,
    *,
    n_candidates: int,
    sample_fraction: float,
    chunk_size: int,
    n_tries: int,
    rng: np.random.Generator,
) -> SelectionState:
    """Add elements chunk by chunk until the limits are reached.

    Parameters
    ----------
    state : SelectionState
    limits : Limits
    n_candidates : int
        Random elements compared for each choice.
    sample_fraction : float
        Share of the samples on which they are compared.
    chunk_size, n_tries : int
        Elements chosen ahead before the best of so many tries is kept.
    rng : numpy.random.Generator
    """
    size = max(2, int(np.ceil(sample_fraction * state.X.shape[0])))
    while state.n_elements < limits.n_elements:
        wanted = min(limits.n_elements, state.n_elements + chunk_size)
        tries = [_chunk(state, wanted, limits, n_candidates, size, rng) for _ in range(n_tries)]
        best = min(tries, key=lambda one: one.relative_error)
        added = best.n_elements - state.n_elements
        if added == 0:
            break
        gained = state.relative_error - best.relative_error
        state = best
        limits.progress(f"{state.n_elements} elements, error {state.relative_error:.4g}")
        if gained < limits.tol * added:
            state.finished = True
            break
    return state


def _chunk(
    state: SelectionState, wanted: int, limits: Limits, n_candidates: int, size: int, rng: np.random.Generator
) -> SelectionState:
    state = state.copy()
    misses = 0
    while state.n_elements < wanted and misses < 3:
        choice = _best_of_random(state, limits, n_candidates, size, rng)
        if choice is None or not state.add_element(*choice):
            misses += 1
    return state


def _best_of_random(
    state: SelectionState, limits: Limits, n_candidates: int, size: int, rng: np.random.Generator
) -> tuple[int, int, float] | None:
    """Return (basis, feature, factor) of the best of some random elements outside the mask."""
    sample = SampledData.draw(state, size, rng)
    n_basis, n_features = state.B.shape
    taken = {(column.basis, feature) for column in state.columns for feature in column.features}
    free = n_basis * n_features - len(taken)
    targets = sketch(state.targets, rng)
    residual_of = {-1: sample.residuals(targets - state.Q @ (state.Q.T @ targets))}
    sums_of = {-1: np.zeros(sample.rows.size, np.float32)}
    given_up = {-1: 0.0}
    best, choice = NOTHING * state.start_error / state.X.shape[0], None
    seen: set[tuple[int, int]] = set()
    while len(seen) < min(n_candidates, free):
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
        widths = limits.widths if position < 0 else (state.columns[position].factor,)
        for factor in widths:
            gain = sample.gains(
                state.kernel.scaled(factor), basis, np.array([feature]), sums_of[position], residual_of[position]
            )[0]
            if gain - given_up[position] > best:
                best, choice = gain - given_up[position], (basis, feature, factor)
    return choice
