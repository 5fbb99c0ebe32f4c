"""The guided search, the default: histograms score all first elements at once, then the best few are grown.

*Width.* A column with p of d features sees p/d of the squared distance, and is as local as the full kernel with
gamma * d / p. A column may use gamma, as printed, or gamma * d / `Plan.grown_to`, whichever gains more.

*Histograms.* The gain of a first element (i, j) depends on the samples through x_i alone. With the residual summed in
bins of x_i, one pass over the data scores every element of the mask. The paper draws sixty.

A first element of the second width is grown by further features of the same basis vector, and cut where the gain per
element is largest: features may count only together. Those of the first width are grown once no single feature gains.
"""

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.elements._guided_numba import BINS, all_sums, best_by_basis, bin_codes, order_by_bin, screened_gains
from eigensieve.elements.greedy import SampledData, draw_rows, sketch
from eigensieve.elements.selection import Plan
from eigensieve.elements.state import NOTHING, Column, SelectionState, Trial

SCREENED = 4096
"""Candidates are screened on at most this many samples."""
FREE = np.float32(1e-6)
"""A binned candidate is left out if less of its square than this share lies outside the span: binning error."""
PATIENCE = 3
"""The search stops after this many shortlists in a row without a worthwhile column."""
REDRAWN = 5
"""After this many columns, another sample is drawn for the growing."""


def select_guided(state: SelectionState, plan: Plan, rng: np.random.Generator) -> SelectionState:
    """Add columns until the budget is spent, the gain dies out or every basis vector has a column."""
    return _add_columns(state.copy(), _Screen(state, plan.widths(state), rng), plan, rng)


def _add_columns(state: SelectionState, screen: "_Screen", plan: Plan, rng: np.random.Generator) -> SelectionState:
    sample_size = plan.sample_size(state.X.shape[0])
    sample = SampledData.draw(state, sample_size, rng)
    misses = drawn = 0
    stuck = False
    while state.n_elements < plan.n_elements and misses < PATIENCE:
        if len(state.columns) >= drawn + REDRAWN:
            sample, drawn = SampledData.draw(state, sample_size, rng), len(state.columns)
        unused = np.setdiff1d(np.arange(len(state.B)), [column.basis for column in state.columns])
        if unused.size == 0:
            break
        before, held = state.relative_error, state.n_elements
        _add_best(state, _shortlist(state, screen, sample, unused, plan, rng, grow_all=stuck), plan)
        added = state.n_elements - held
        stuck = added == 0
        # One nearly collinear column says little about the next: binned gains are approximate.
        misses = misses + 1 if stuck or plan.gain_died_out(state, before, added) else 0
    return state


class FeatureBins:
    """The samples of every feature, ordered by bin, from `values` (features x samples). The first bin begins at `low`
    and is `step` wide."""

    def __init__(self, values: FloatArray, low: FloatArray, step: FloatArray) -> None:
        codes = np.empty(values.shape, dtype=np.uint8)
        bin_codes(values, low, step, codes)
        self.order = np.empty(codes.shape, dtype=np.uint16)
        self.edges = np.empty((len(codes), BINS + 1), dtype=np.int32)
        order_by_bin(codes, self.order, self.edges)

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sums of the weights (samples x m) in each feature's bins (features x m x bins)."""
        n, m = weights.shape
        terms = np.zeros((-(-m // 4), n, 4), np.float32)
        for k in range(m):
            terms[k // 4, :, k % 4] = weights[:, k]
        bins = np.empty((len(self.order), 4 * len(terms), BINS), np.float32)
        all_sums(self.order, self.edges, terms, bins)
        return bins[:, :m]


class _Screen:
    """Gains of all first elements, |R'c|^2 / (|c|^2 - |Q'c|^2), from binned features: a candidate c is a function of
    one feature, so the sums of R and Q in its bins are enough. |Q'c|^2 grows with each direction that enters Q."""

    def __init__(self, state: SelectionState, widths: tuple[float, ...], rng: np.random.Generator) -> None:
        self.rows = draw_rows(state.X.shape[0], SCREENED, rng)
        X, B = state.XT32[:, self.rows], state.B32.T
        low = np.minimum(X.min(axis=1), B.min(axis=1))
        step = (np.maximum(X.max(axis=1), B.max(axis=1)) - low) / BINS
        step[step == 0] = 1.0
        self.bins = FeatureBins(X, low, step)
        codes = np.empty(B.shape, dtype=np.uint8)
        bin_codes(B, low, step, codes)
        self.basis_codes = np.ascontiguousarray(codes.T)
        centres = low[:, None] + (np.arange(BINS) + 0.5) * step[:, None]
        share = self.bins.sums(np.ones((self.rows.size, 1)))[:, 0] / self.rows.size
        self.widths = widths
        self.values, self.outside, self.squares = [], [], []
        for factor in widths:
            values = state.kernel.scaled(factor).finish(state.kernel.terms(centres[:, None, :], centres[:, :, None]))
            means = np.einsum("ibx,ix->ib", values, share)
            centred = values - means[:, :, None]
            self.values.append(np.ascontiguousarray(centred, dtype=np.float32))
            outside, squares = (np.einsum("ibx,ibx,ix->ib", rows, rows, share) for rows in (centred, values))
            self.outside.append((self.rows.size * outside).astype(np.float32))
            self.squares.append((self.rows.size * squares).astype(np.float32))
        self.known = 1

    def first_elements(
        self, state: SelectionState, residual: FloatArray, unused: IntArray
    ) -> list[tuple[IntArray, FloatArray]]:
        """Return every unused basis vector's best first feature and its gain, per width."""
        entered = state.Q[self.rows, self.known :]
        self.known = state.Q.shape[1]
        bins = self.bins.sums(np.hstack([residual[self.rows], entered]))
        m, found = residual.shape[1], []
        for w, values in enumerate(self.values):
            gains = np.empty(self.outside[w].shape, np.float32)
            screened_gains(values, bins, m, self.outside[w], self.squares[w], FREE, gains)
            found.append(best_by_basis(self.basis_codes, unused, gains))
        return found


def _shortlist(
    state: SelectionState, screen: _Screen, sample: SampledData, unused: IntArray, plan: Plan,
    rng: np.random.Generator, *, grow_all: bool,
) -> list[Column]:  # fmt: skip
    """Return the best first elements of each width, on different features, grown unless they are of the first width."""
    residual = sketch(state.residual, rng)
    sampled_residuals = sample.residuals(residual[sample.rows])
    longest = min(plan.grown_to, plan.n_elements - state.n_elements, state.B.shape[1])
    columns: list[Column] = []
    for (features, gains), factor in zip(screen.first_elements(state, residual, unused), screen.widths, strict=True):
        order = np.argsort(-gains, kind="stable")
        grown = longest if plan.fill or grow_all or factor != 1.0 else 1
        _, firsts = np.unique(features[order], return_index=True)
        for k in order[np.sort(firsts)[: plan.n_tries]]:
            start = Column(int(unused[k]), factor, [int(features[k])])
            columns.append(_grow(state, sample, sampled_residuals, start, grown))
    return columns


def _add_best(state: SelectionState, columns: list[Column], plan: Plan) -> None:
    """Add the shortlisted column (or its beginning) with the largest gain per element; others too if nearly as good."""
    # The more columns are tried, the fewer are taken from one shortlist: patience buys a better choice.
    nearly = max(0.0, 1.0 - 2.1 / plan.n_tries)
    # single precision takes a third of the time and is good enough to compare candidates
    values = [state.prefix_values(column, state.XT32[column.features], state.B32) for column in columns]
    trial = Trial(np.vstack(values).astype(np.float64).T)
    lengths = np.concatenate([np.arange(1, len(column.features) + 1) for column in columns])
    owners = np.repeat(np.arange(len(columns)), [len(column.features) for column in columns])
    least = NOTHING * state.start_error
    while state.n_elements < plan.n_elements:
        rates = trial.gains(state) / lengths
        rates[lengths > plan.n_elements - state.n_elements] = 0.0
        rates[owners < 0] = 0.0
        if plan.fill:
            rates[lengths < lengths.max()] = 0.0
        best = int(np.argmax(rates))
        if rates[best] <= least:
            return
        column = columns[owners[best]]
        state.add_column(column.basis, column.features[: lengths[best]], column.factor)
        owners[[columns[k].basis == column.basis for k in owners]] = -1
        least = max(least, nearly * rates[best])


def _grow(state: SelectionState, sample: SampledData, residuals: FloatArray, start: Column, longest: int) -> Column:
    """Return the start, extended greedily by one feature at a time."""
    kernel = state.kernel.scaled(start.factor)
    column = start.copy()
    sums = sample.sums(kernel, start)
    every = np.arange(state.B.shape[1])
    while len(column.features) < longest:
        gains = sample.gains(kernel, column.basis, every, sums, residuals)
        gains[column.features] = -1.0
        feature = int(np.argmax(gains))
        sums = sums + kernel.terms(sample.XT[feature], sample.B[column.basis, feature])
        column.features.append(feature)
    return column
