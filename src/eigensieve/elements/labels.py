"""Elements that match the labels instead of a trained machine: boosting with all weights refitted in every round.

The machine has the same form, f(x) = c + sum_j w_j exp(-gamma_j sum_i (x_i - b_ij)^2) with few features per column. The
centres b need not be values of support vectors, and the widths are chosen from a few.

With g the negative gradient of the loss and h its curvature (classes: y - p and p (1 - p), with p the predicted
probabilities; numbers: y - f and 1), adding a column k lowers the loss, to second order, by half of

    (k'g)^2 / (sum h k^2 - (sum h k)^2 / sum h + ridge)

A round scores every bump on every single feature by histograms, grows the best by further features, adds the few best
columns and refits all weights (`penalised`). Several classes share the columns. Most columns tell few classes apart,
so only some of a column's weights are kept at the end.
"""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import thread_count
from eigensieve.elements._labels_numba import grow, single_gains
from eigensieve.elements._penalised_numba import bump_columns
from eigensieve.elements.expansion import ElementExpansion, FullExpansion
from eigensieve.elements.greedy import draw_rows
from eigensieve.elements.guided import BINS, SCREENED, FeatureBins
from eigensieve.elements.kernel import MaskedKernel
from eigensieve.elements.mixtures import largest, most_telling, with_mixtures
from eigensieve.elements.penalised import Goal, PenalisedFit, refine_penalised
from eigensieve.elements.selection import Plan
from eigensieve.elements.state import Column

WIDTHS = 5
PER_ROUND = 4
"""Columns added per round, on different features."""
BINS_PER_DEVIATION = 2
"""A bump's standard deviation is at least so many bins when bins are joined for it."""
NEARLY = 0.5
"""Beside the best column, a round adds those with at least this share of its gain."""
NEW_FEATURE = 0.9
"""A feature that no column reads yet counts with this share of its gain: fewer features are read at no cost."""
FIRST = 128
"""A round scores this many single features: those that gained most when they were scored last.

Gains seldom rise as the machine grows.
"""
SECOND = 64
"""A column's second feature is looked for among this many: half gain most on their own, half are drawn anew."""
PROMISING = 16
"""A column's third and further features are looked for among this many that gained most as the second."""
SPREAD = 8.0
"""Bins span all values up to so many standard deviations from the mean. Rare words need most of them."""
LEFT_OUT = 100
"""Samples that a round leaves out at random when it compares candidates, at most half.

With few samples this spreads the choice over more features. With many it changes little.
"""
WEIGHTS = 3
"""Weights per column, on average, beyond so many classes: more elements are worth more than more weights.

Fewer weights overfit less, so the ridge term of those that are kept is divided by the same number.
"""
NARROWEST = 1e-15
"""Features with a smaller standard deviation are not read: gamma, one over its square, must fit single precision."""
STEPS = 10
"""Steps of the refinement. Beyond `LARGEST` elements there are fewer: so many values would overfit."""
LARGEST = 400
"""The most elements that "auto" considers."""
HELD_OUT = 0.25
"""Share of the samples on which "auto" compares sizes."""


@dataclass(frozen=True)
class Bump:
    """One column: features, centres, the number of its width."""

    features: list[int]
    centres: list[float]
    width: int


@dataclass(frozen=True, eq=False)
class Candidates:
    """Bumps on several features. Each stands for all those that begin with the same features."""

    widths: IntArray
    features: IntArray  # bumps x longest, as centres and gains
    centres: FloatArray
    gains: FloatArray  # in column k, of the bump with the first k + 1 features; zero if it is there already

    def bump(self, row: int, length: int) -> Bump:
        """Return the bump of a row with its first features."""
        return Bump(self.features[row, :length].tolist(), self.centres[row, :length].tolist(), int(self.widths[row]))


class LabelSearch:
    """A machine that grows by rounds; its widths are factors on the gamma of an rbf kernel."""

    def __init__(
        self, kernel: MaskedKernel, X: FloatArray, goal: Goal, plan: Plan, rng: np.random.Generator, pool: Executor
    ) -> None:
        self.kernel, self.plan, self.rng = kernel, plan, rng
        self.middle = X.mean(axis=0, dtype=np.float64)
        self.X = np.ascontiguousarray((X - self.middle).T, dtype=np.float32)  # enough about the mean
        self.fit = PenalisedFit(goal)
        self.columns: list[Bump] = []
        self.path: list[float] = []
        self.n_elements = 0
        spread = self.X.std(axis=1, dtype=np.float64)
        low, high = (ends.astype(np.float64) for ends in (self.X.min(axis=1), self.X.max(axis=1)))
        reach = np.maximum(np.abs(self.middle + low), np.abs(self.middle + high))
        self.live = spread > np.maximum(1e-7 * reach, NARROWEST)
        self.used = np.zeros(self.live.size, dtype=bool)
        self.last_gains = np.where(self.live, np.float32(np.inf), np.float32(0.0))
        n = self.X.shape[1]
        self.rows = draw_rows(n, SCREENED, rng)
        self.part = self.X if self.rows.size == n else self.X[:, self.rows]
        self.low = np.maximum(low, -SPREAD * spread)
        self.step = np.where(high > low, np.minimum(high, SPREAD * spread) - self.low, 1.0) / BINS
        self.bins = FeatureBins(self.part, self.low, self.step, pool)
        self.factors = self._factors(spread[self.live])
        self.tables, self.joined = bump_tables(np.outer(kernel.gamma * self.factors, self.step**2))

    def _factors(self, spread: FloatArray) -> FloatArray:
        """Return the widths: from half a standard deviation of a narrow feature to four of a wide one."""
        if not self.plan.rescale or spread.size == 0:
            return np.ones(1)
        narrow, middle, wide = np.quantile(spread, [0.1, 0.5, 0.9])
        scales = np.geomspace(0.5 * min(narrow, middle), 4.0 * wide, WIDTHS)
        return np.asarray(1.0 / (2.0 * scales**2 * self.kernel.gamma))

    def rounds(self) -> Iterator["LabelSearch"]:
        """Yield the machine after every round, until the budget is spent or the gain dies out."""
        while self.n_elements < self.plan.n_elements and self._round():
            self.path += [self.fit.relative_loss] * (self.n_elements - len(self.path))
            self.plan.progress(f"{self.n_elements} elements, loss {self.path[-1]:.4g}")
            yield self

    def _round(self) -> bool:
        found = self._candidates(*self._slopes())
        least = 2.0 * self.plan.tol * self.fit.start * self.rows.size / self.X.shape[1]
        chosen: list[Bump] = []
        taken: set[int] = set()
        room = self.plan.n_elements - self.n_elements
        for place in np.argsort(-found.gains, axis=None, kind="stable"):
            row, last = divmod(int(place), found.gains.shape[1])
            if len(chosen) == PER_ROUND or found.gains[row, last] <= least:
                break
            bump = found.bump(row, last + 1)
            if len(bump.features) <= room and taken.isdisjoint(bump.features):
                least = max(least, NEARLY * float(found.gains[row, last])) if not chosen else least
                chosen.append(bump)
                taken.update(bump.features)
                room -= len(bump.features)
        if not chosen:
            return False
        self.columns += chosen
        self.used[list(taken)] = True
        self.n_elements = self.plan.n_elements - room
        self.fit.add(self._columns(chosen))
        self.fit.refit(1)
        return True

    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        """Return the gradient (outputs x samples) and the curvature; they are zero for samples that are left out."""
        goal = self.fit.goal
        mean = goal.loss.mean(self.fit.scores[self.rows])
        kept = np.zeros(self.rows.size, dtype=bool)
        kept[self.rng.permutation(kept.size)[min(LEFT_OUT, kept.size // 2) :]] = True
        gradient = goal.targets[self.rows] - mean
        gradient = np.where(kept[:, None], gradient - gradient[kept].mean(axis=0), 0.0)
        curvature = np.where(kept, goal.loss.curvature(mean, 1e-3).mean(axis=1), 0.0)
        return np.ascontiguousarray(gradient.T, dtype=np.float32), curvature.astype(np.float32)

    def _columns(self, bumps: list[Bump]) -> FloatArray:
        """Return the bumps' values (bumps x samples)."""
        starts = np.cumsum([0, *(len(bump.features) for bump in bumps)])
        centres = np.array([centre for bump in bumps for centre in bump.centres])
        seen = self.X[[i for bump in bumps for i in bump.features]]
        gammas = self.kernel.gamma * self.factors[[bump.width for bump in bumps]]
        sums, columns = np.empty((2, len(bumps), self.X.shape[1]), np.float32)
        bump_columns(seen, starts, centres, gammas, sums, columns)
        return columns

    def _candidates(self, gradient: FloatArray, curvature: FloatArray) -> "Candidates":
        """Return bumps on single features, and the best of them and of those in use grown by further features."""
        worth = np.where(self.used, 1.0, NEW_FEATURE).astype(np.float32) * self.live
        first = np.arange(self.live.size) if not self.columns else largest(self.last_gains, FIRST)
        gains, places = self._singles(first, gradient, curvature)
        gains *= worth[first]
        n_old = min(self.plan.n_tries, len(self.columns))
        old = [self.columns[k] for k in self.rng.choice(len(self.columns), n_old, replace=False)] if n_old else []
        # Chosen bumps share no feature, so that beside those to be grown a feature's best width is enough.
        best = gains.argmax(axis=0)
        self.last_gains[first] = alone = gains[best, np.arange(best.size)]
        singles = largest(alone, 4 * PER_ROUND)
        width, feature = np.divmod(largest(gains.ravel(), self.plan.n_tries), best.size)
        n_grown = n_old + width.size
        width, feature = np.append(width, best[singles]), np.append(feature, singles)
        longest = min(self.plan.grown_to, int(self.live.sum()), self.plan.n_elements - self.n_elements)
        shape = n_old + width.size, max(longest, 1)
        found = Candidates(
            np.append(np.array([bump.width for bump in old], dtype=np.int64), width),
            np.empty(shape, np.int64), np.empty(shape), np.zeros(shape, np.float32),
        )  # fmt: skip
        i = first[feature]
        centres = self.low[i] + self.step[i] * places[width, feature]
        found.centres[:, 0] = np.append([bump.centres[0] for bump in old], centres)
        found.features[:, 0] = np.append(np.array([bump.features[0] for bump in old], dtype=np.int64), i)
        found.gains[n_old:, 0] = gains[width, feature]
        among = self._second_features()
        self._grow(found, n_grown, among, worth, gradient, curvature)
        return found

    def _singles(
        self, features: IntArray, gradient: FloatArray, curvature: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gain of each feature's best bump of every width, and its centre in bins (widths x features)."""
        shape = self.factors.size, features.size
        gains, places = np.empty(shape, np.float32), np.empty(shape, np.float32)
        ridge = np.float32(self.fit.goal.ridge)

        def score(some: slice) -> None:
            single_gains(
                self.bins.order, self.bins.edges, self.tables, self.joined, features[some], gradient,
                curvature, ridge, gains[:, some], places[:, some],
            )  # fmt: skip

        self.bins.share(score, features.size)
        return gains, places

    def _grow(
        self, found: "Candidates", count: int, among: IntArray, worth: FloatArray, gradient: FloatArray,
        curvature: FloatArray,
    ) -> None:  # fmt: skip
        """Grow the first of the bumps by one, two, ... further features."""
        gammas = self.kernel.gamma * self.factors
        ridge = np.float32(self.fit.goal.ridge)

        def lengthen(some: slice) -> None:
            grow(
                self.bins.order, self.bins.edges, self.tables, self.joined, self.low, self.step, self.part, gammas,
                gradient, curvature, ridge, worth, among, PROMISING, found.widths[some], found.features[some],
                found.centres[some], found.gains[some],
            )  # fmt: skip

        self.bins.share(lengthen, count)

    def _second_features(self) -> IntArray:
        """Return the features that are tried beside the first, by their gains alone and at random."""
        live = np.flatnonzero(self.live)
        if live.size <= SECOND:
            return live
        tried = np.zeros(self.live.size, dtype=bool)
        tried[largest(self.last_gains, SECOND // 2)] = True
        tried[self.rng.choice(live, SECOND // 2, replace=False)] = True
        return np.flatnonzero(tried & self.live)

    def expansion(self) -> ElementExpansion:
        """Return the machine as it is now."""
        lengths = [len(bump.features) for bump in self.columns]
        features = np.array([i for bump in self.columns for i in bump.features], dtype=np.int64)
        return ElementExpansion(
            self.kernel,
            self.live.size,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            features,
            np.array([b for bump in self.columns for b in bump.centres], dtype=np.float64) + self.middle[features],
            self.factors[[bump.width for bump in self.columns]],
            self.fit.weights[1:].copy(),
            self.fit.weights[0].copy(),
        )


def bump_tables(sharpness: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return each bump's values at all distances between bins, and how many bins it sees as one, 1, 2 or 4. A bump of
    sharpness a is exp(-a t^2) at t bins. Tables (widths x features x distances) count joined bins, negative distances
    first."""
    # One over the squared standard deviation in bins, of which `BINS_PER_DEVIATION` must be left.
    narrow = 2.0 * sharpness * BINS_PER_DEVIATION**2
    joined = np.where(16.0 * narrow <= 1.0, 4, np.where(4.0 * narrow <= 1.0, 2, 1))
    distances = np.arange(2 * BINS - 1)[None, None, :] - (BINS // joined - 1)[:, :, None]
    values = np.exp(-sharpness[:, :, None] * (joined[:, :, None] * distances) ** 2)
    return values.astype(np.float32), joined


def fit_labels(
    kernel: MaskedKernel, X: FloatArray, goal: Goal, plan: Plan, rng: np.random.Generator,
    full: FullExpansion | None = None, *, refine: bool,
) -> tuple[ElementExpansion, list[float]]:  # fmt: skip
    """Return the machine and its path: the loss after each element, as a share of what a constant leaves. With a full
    machine of classes, mixtures are added."""
    d, seen = X.shape[1], most_telling(X, goal)
    X, goal = (X[:, seen], goal) if full is None else with_mixtures(X, seen, goal, full, rng)
    with ThreadPoolExecutor(thread_count(), thread_name_prefix="eigensieve") as pool:
        search = LabelSearch(kernel, X, goal, plan, rng, pool)
        for _ in search.rounds():
            pass
    if goal.targets.shape[1] > WEIGHTS:
        goal = search.fit.goal = replace(goal, ridge=goal.ridge / WEIGHTS)
    search.fit.refit(2)
    search.fit.thin(WEIGHTS * len(search.columns))
    search.fit.refit(3)
    machine = search.expansion()
    if refine and machine.n_columns:
        steps = round(STEPS * min(1.0, LARGEST / machine.n_elements) ** 2)
        machine = refine_penalised(machine, X, goal, max(1, steps))
    return replace(machine, n_features=d, features=seen[machine.features]), search.path


def held_out_size(kernel: MaskedKernel, X: FloatArray, goal: Goal, plan: Plan, rng: np.random.Generator) -> int:
    """Return the smallest number of elements whose loss on a held-out quarter (of each class) is within one standard
    error of the smallest."""
    held = _held_out(goal, rng)
    if not held.any():
        return plan.n_elements
    checked = goal.part(held)
    with ThreadPoolExecutor(thread_count(), thread_name_prefix="eigensieve") as pool:
        seen = most_telling(X[~held], goal.part(~held))
        X = X[:, seen]
        search = LabelSearch(kernel, X[~held], goal.part(~held), plan, rng, pool)
        sizes, losses = [1], [checked.losses(search.expansion().decision(X[held]))]
        for grown in search.rounds():
            sizes.append(grown.n_elements)
            losses.append(checked.losses(grown.expansion().decision(X[held])))
    worse = np.array(losses) - losses[int(np.argmin([one.sum() for one in losses]))]
    enough = worse.mean(axis=1) <= worse.std(axis=1) / np.sqrt(worse.shape[1])
    return sizes[int(np.argmax(enough))]


def _held_out(goal: Goal, rng: np.random.Generator) -> BoolArray:
    """Return which samples are held out."""
    held = np.zeros(len(goal.targets), dtype=bool)
    groups = np.zeros(held.size, dtype=np.int64)
    if goal.loss.classes:
        groups = np.unique(goal.targets, axis=0, return_inverse=True)[1].ravel()
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        held[rng.choice(members, int(HELD_OUT * members.size), replace=False)] = True
    return held


def as_columns(machine: ElementExpansion) -> tuple[FloatArray, list[Column]]:
    """Return a machine whose basis vectors are its own centres, one per masked column, 0 outside the mask."""
    basis = np.zeros((machine.n_columns, machine.n_features))
    owners = np.repeat(np.arange(machine.n_columns), machine.lengths)
    basis[owners, machine.features] = machine.values
    parts = np.split(machine.features, machine.starts[1:-1]) if machine.n_columns else []
    return basis, [Column(j, float(machine.factors[j]), [int(i) for i in features]) for j, features in enumerate(parts)]
