"""Elements that match the labels instead of a trained machine: boosting with all weights refitted in every round.

The machine has the same form, f(x) = c + sum_j w_j k_j(x) with few features per column and bumps
k_j(x) = max(0, 1 - gamma_j / 4 sum_i (x_i - b_ij)^2)^4. The centres b need not be values of support vectors, and the
widths are chosen from a few.

With g the negative gradient of the loss and h its curvature (classes: y - p and p (1 - p), with p the predicted
probabilities; numbers: y - f and 1), adding a column k lowers the loss, to second order, by half of

    (k'g)^2 / (sum h k^2 - (sum h k)^2 / sum h + ridge)

A round scores the bumps on single features by histograms, grows the best by further features, adds the best columns and
refits all weights (`penalised`). Several classes share the columns. Most columns tell few classes apart, so only some
of a column's weights are kept at the end.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.elements._labels_numba import grow, mix, moments_of, most_promising, pick, single_gains
from eigensieve.elements._penalised_numba import bump_columns
from eigensieve.elements.expansion import ElementExpansion, FullExpansion
from eigensieve.elements.greedy import draw_rows
from eigensieve.elements.guided import BINS, SCREENED, FeatureBins
from eigensieve.elements.kernel import MaskedKernel
from eigensieve.elements.penalised import Goal, PenalisedFit, refine_penalised
from eigensieve.elements.selection import Plan
from eigensieve.elements.state import Column

KEPT = 1024
"""Features that are read, at most: those on which targets depend most, by straight lines and parabolas."""
MIXTURES = 600
"""Mixtures of two samples that are added. Without them, elements fit the samples too closely."""
SHARPNESS = 2.0
"""Log-odds per unit of an SVM's decision value."""
WIDTHS = 5
PER_ROUND = 16
"""Columns added per round, at most."""
GROWN = 3
"""Bumps on single features that a round grows by further features, per try (`Plan.n_tries`)."""
BINS_PER_DEVIATION = 2
"""A bump's standard deviation is at least so many bins when bins are joined for it."""
NEARLY = 0.1, 0.5, 6000
"""Beside the best column, a round adds those that gain at least a share of its gain when it is there: the number of
samples over the last, between the two first. With few samples, gains differ by chance, and many are taken at once."""
FIRST = 64
"""A round scores this many single features: those whose values and squares go most with the gradient."""
PROMISING = 6
"""Of these, so many are tried when a column grows: those that go most with the gradient where the column is large."""
SPREAD = 8.0
"""Bins span all values up to so many standard deviations from the mean. Rare words need most of them."""
WEIGHTS = 3
"""Weights per column, on average, beyond so many classes: more elements are worth more than more weights.

Fewer weights overfit less, so the ridge term of those that are kept is divided by the same number.
"""
NARROWEST = 1e-15
"""Features with a smaller standard deviation are not read: gamma, one over its square, must fit single precision."""
PART, OVER = 200, 40
"""Of classes, the first plus the second, 240 elements, are two machines, each with mixtures of its own, which are
averaged; every further 200 are another one. Three of 200 elements are better than one of 600."""
STEPS = 7
"""Steps of the refinement. Beyond `LARGEST` elements there are fewer: so many values would overfit."""
LARGEST = 400
"""The most elements that "auto" considers."""
HELD_OUT = 0.25
"""Share of the samples on which "auto" compares sizes."""


class Bump(NamedTuple):
    """One column: features, centres, the number of its width."""

    features: list[int]
    centres: list[float]
    width: int


class LabelSearch:
    """A machine that grows by rounds on the samples and on mixtures of two; its widths are factors on the gamma of an
    rbf kernel."""

    def __init__(
        self, kernel: MaskedKernel, X: FloatArray, goal: Goal, plan: Plan, rng: np.random.Generator,
        n_mixtures: int = 0, full: FullExpansion | None = None,
    ) -> None:  # fmt: skip
        self.kernel, self.plan, self.rng = kernel, plan, rng
        self.n_features, self.seen = X.shape[1], most_telling(X, goal)
        seen = X if self.seen.size == X.shape[1] else X[:, self.seen]
        self.middle = seen.mean(axis=0, dtype=np.float64)
        n = len(X)
        self.X = np.empty((self.seen.size, n + n_mixtures), np.float32)  # enough about the mean
        self.X[:, :n] = (seen - self.middle).T
        rows = self.X[:, :n]
        spread = np.sqrt(np.einsum("it,it->i", rows, rows) / n, dtype=np.float64)
        low, high = rows.min(axis=1).astype(np.float64), rows.max(axis=1).astype(np.float64)
        reach = np.maximum(np.abs(self.middle + low), np.abs(self.middle + high))
        live = spread > np.maximum(1e-7 * reach, NARROWEST)
        self.readable = np.flatnonzero(live)
        self.goal = self._mixed(X, goal, n_mixtures, full) if n_mixtures else goal
        self.fit = PenalisedFit(self.goal)
        self.nearly = float(np.clip(n / NEARLY[2], *NEARLY[:2]))
        self.columns: list[Bump] = []
        self.path: list[float] = []
        self.n_elements = 0
        self.rows = draw_rows(n + n_mixtures, SCREENED, rng)
        self.part = self.X if self.rows.size == self.X.shape[1] else self.X.take(self.rows, axis=1)
        self.low = np.maximum(low, -SPREAD * spread)
        self.step = np.where(live, np.minimum(high, SPREAD * spread) - self.low, 1.0) / BINS
        self.bins = FeatureBins(self.part, self.low, self.step)
        self.moments = np.empty((len(self.part), 4), np.float32)
        moments_of(self.part, self.moments)
        self.factors = self._factors(spread[live])
        self.tables, self.joined = bump_tables(np.outer(kernel.gamma * self.factors, self.step**2))

    def _mixed(self, X: FloatArray, goal: Goal, n_mixtures: int, full: FullExpansion | None) -> Goal:
        """Fill in the mixtures, and return the goal with their targets: the mixed targets of the two samples or, with a
        full machine, the mean of these and of its probabilities, which know the space between samples."""
        one, other = self.rng.integers(len(X), size=(2, n_mixtures))
        share = self.rng.uniform(size=(n_mixtures, 1))
        mix(self.X, one, other, share[:, 0].astype(np.float32))
        mixed = share * goal.targets[one] + (1.0 - share) * goal.targets[other]
        if full is not None:
            told = full.decision(share * X[one] + (1.0 - share) * X[other])
            mixed = 0.5 * (mixed + goal.loss.mean(SHARPNESS * told))
        return replace(goal, targets=np.vstack([goal.targets, mixed]))

    def _factors(self, spread: FloatArray) -> FloatArray:
        """Return the widths: from half a standard deviation of a narrow feature to four of a wide one."""
        if spread.size == 0:
            return np.ones(1)
        narrow, middle, wide = np.quantile(spread, [0.1, 0.5, 0.9])
        scales = np.geomspace(0.5 * min(narrow, middle), 4.0 * wide, WIDTHS)
        return np.asarray(1.0 / (2.0 * scales**2 * self.kernel.gamma))

    def rounds(self, per_round: int) -> Iterator["LabelSearch"]:
        """Yield the machine after every round, until the budget is spent or the gain dies out."""
        while self.n_elements < self.plan.n_elements and self._round(per_round):
            self.path += [self.fit.relative_loss] * (self.n_elements - len(self.path))
            self.plan.progress(f"{self.n_elements} elements, loss {self.path[-1]:.4g}")
            yield self

    def _round(self, per_round: int) -> bool:
        gradient, curvature = self._slopes()
        least = 2.0 * self.plan.tol * self.fit.start * self.rows.size / self.X.shape[1]
        bumps = self._candidates(per_round, gradient, curvature)
        columns = self._columns(bumps)
        part = columns if self.rows.size == self.X.shape[1] else columns.take(self.rows, axis=1)
        root = np.sqrt(curvature)
        weighed = part * root
        means = weighed @ root
        gram = weighed @ weighed.T - np.outer(means, means / curvature.sum())
        room = self.plan.n_elements - self.n_elements
        lengths = np.array([len(bump.features) for bump in bumps], dtype=np.int64)
        chosen = pick(gram, part @ gradient.T, lengths, self.goal.ridge, room, per_round, least, self.nearly)
        if not chosen.size:
            return False
        self.columns += [bumps[k] for k in chosen]
        self.n_elements += int(lengths[chosen].sum())
        self.fit.add(columns[chosen])
        self.fit.refit(1)
        return True

    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        """Return the gradient (outputs x samples) and the curvature."""
        goal = self.goal
        mean = goal.loss.mean(self.fit.scores[self.rows])
        gradient = goal.targets[self.rows] - mean
        gradient -= gradient.mean(axis=0)
        curvature = goal.loss.curvature(mean, 1e-3).mean(axis=1)
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

    def _candidates(self, per_round: int, gradient: FloatArray, curvature: FloatArray) -> list[Bump]:
        """Return the best bumps on single features; some of them, and some that are in use, with further features."""
        everywhere = np.ones(curvature.size, np.float32)
        first = most_promising(
            self.part, self.moments, gradient, everywhere, self.readable, np.empty(0, np.int64), FIRST
        )
        gains, places = np.empty((2, self.factors.size, first.size), np.float32)
        ridge = np.float32(self.goal.ridge)
        bins = self.bins.order, self.bins.edges, self.tables, self.joined
        single_gains(*bins, first, gradient, curvature, ridge, gains, places)
        width = gains.argmax(axis=0)
        best = largest(gains.max(axis=0), per_round)
        i, width = first[best], width[best]
        centres = self.low[i] + self.step[i] * places[width, best]
        singles = [
            Bump([feature], [centre], w)
            for feature, centre, w in zip(i.tolist(), centres.tolist(), width.tolist(), strict=True)
        ]
        return singles + self._grown(singles[: GROWN * self.plan.n_tries], first, gradient, curvature)

    def _grown(self, starts: list[Bump], among: IntArray, gradient: FloatArray, curvature: FloatArray) -> list[Bump]:
        """Return the bumps that begin like the `starts` and see two, three, ... features."""
        longest = min(self.plan.grown_to, self.readable.size, self.plan.n_elements - self.n_elements)
        features, centres = np.zeros((len(starts), max(longest, 1)), np.int64), np.zeros((len(starts), max(longest, 1)))
        features[:, 0], centres[:, 0] = [one.features[0] for one in starts], [one.centres[0] for one in starts]
        lengths = np.ones(len(starts), np.int64)
        grow(
            self.bins.order, self.bins.edges, self.tables, self.joined, self.low, self.step, self.part, self.moments,
            self.kernel.gamma * self.factors, gradient, curvature, np.float32(self.goal.ridge), among, PROMISING,
            np.array([one.width for one in starts], dtype=np.int64), features, centres, lengths,
        )  # fmt: skip
        grown = zip(starts, features.tolist(), centres.tolist(), lengths.tolist(), strict=True)
        return [Bump(f[:k], c[:k], one.width) for one, f, c, length in grown for k in range(2, length + 1)]

    def expansion(self) -> ElementExpansion:
        """Return the machine as it is now, on values about the mean of the features that are seen."""
        lengths = [len(bump.features) for bump in self.columns]
        return ElementExpansion(
            self.kernel,
            self.seen.size,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array([i for bump in self.columns for i in bump.features], dtype=np.int64),
            np.array([b for bump in self.columns for b in bump.centres], dtype=np.float64),
            self.factors[[bump.width for bump in self.columns]],
            self.fit.weights[1:].copy(),
            self.fit.weights[0].copy(),
        )

    def placed(self, machine: ElementExpansion) -> ElementExpansion:
        """Return a machine of `expansion` on the values of all features."""
        values = machine.values + self.middle[machine.features]
        return replace(machine, values=values, n_features=self.n_features, features=self.seen[machine.features])


def largest(values: FloatArray, count: int) -> IntArray:
    """Return the places of the largest values, the largest first."""
    places = np.argpartition(-values, count)[:count] if count < values.size else np.arange(values.size)
    return places[np.argsort(-values[places], kind="stable")]


def most_telling(X: FloatArray, goal: Goal) -> IntArray:
    """Return the features that are read: all, or the `KEPT` on which the targets depend most. A feature counts by the
    squared correlations of its values, and of their squared deviations, with the targets."""
    if X.shape[1] <= KEPT:
        return np.arange(X.shape[1])
    pull = goal.targets - goal.targets.mean(axis=0)
    centred = X - X.mean(axis=0)
    worth = np.zeros(X.shape[1])
    for term in (centred, centred**2):
        across, squares = pull.T @ term, (term**2).sum(axis=0) - term.sum(axis=0) ** 2 / len(X)
        worth += (across**2).sum(axis=0) / np.maximum(squares, np.finfo(float).tiny)
    return np.sort(largest(worth, KEPT))


def bump_tables(sharpness: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return each bump's values at all distances between bins, and how many bins it sees as one, 1, 2 or 4. A bump of
    sharpness a is max(0, 1 - a t^2 / 4)^4 at t bins. Tables (widths x features x distances) count joined bins, negative
    distances first."""
    # One over the squared standard deviation in bins, of which `BINS_PER_DEVIATION` must be left.
    narrow = 2.0 * sharpness * BINS_PER_DEVIATION**2
    joined = np.where(16.0 * narrow <= 1.0, 4, np.where(4.0 * narrow <= 1.0, 2, 1))
    apart = np.arange(2 * BINS - 1, dtype=np.float32) - (BINS // joined - 1)[..., None].astype(np.float32)
    # A factor of 1 leaves the bump its own bin alone, and more would be the same.
    factor = np.minimum(0.25 * sharpness * joined**2, 1.0)[..., None].astype(np.float32)
    roots = np.maximum(1.0 - factor * apart**2, np.float32(0.0))
    return (roots * roots) ** 2, joined


def fit_labels(
    kernel: MaskedKernel, X: FloatArray, goal: Goal, plan: Plan, rng: np.random.Generator,
    full: FullExpansion | None = None, *, refine: bool,
) -> tuple[ElementExpansion, list[float]]:  # fmt: skip
    """Return the machine and its path: the loss after each element, as a share of what a constant leaves. For classes,
    mixtures are added, on which a full machine helps if there is one. Many elements are several machines, whose paths
    follow each other."""
    count = (plan.n_elements + PART - OVER) // PART if goal.loss.classes else 1
    if count > 1:
        plans = [replace(plan, n_elements=(plan.n_elements + k) // count) for k in range(count)]
        made = [fit_labels(kernel, X, goal, part, rng, full, refine=refine) for part in plans]
        return ElementExpansion.mean([one for one, _ in made]), [loss for _, path in made for loss in path]
    search = LabelSearch(kernel, X, goal, plan, rng, MIXTURES if goal.loss.classes else 0, full)
    for _ in search.rounds(PER_ROUND):
        pass
    goal = search.goal
    if goal.targets.shape[1] > WEIGHTS:
        goal = search.fit.goal = replace(goal, ridge=goal.ridge / WEIGHTS)
    search.fit.thin(WEIGHTS * len(search.columns))
    search.fit.refit(1 if refine else 2)
    machine = search.expansion()
    if refine and machine.n_columns:
        steps = round(STEPS * min(1.0, LARGEST / machine.n_elements) ** 2)
        machine = refine_penalised(machine, search.X, goal, max(1, steps))
    return search.placed(machine), search.path


def held_out_size(kernel: MaskedKernel, X: FloatArray, goal: Goal, plan: Plan, rng: np.random.Generator) -> int:
    """Return the smallest number of elements whose loss on a held-out quarter (of each class) is within one standard
    error of the smallest."""
    held = _held_out(goal, rng)
    if not held.any():
        return plan.n_elements
    checked = goal.part(held)
    search = LabelSearch(kernel, X[~held], goal.part(~held), plan, rng)
    sizes, losses = [1], [checked.losses(search.placed(search.expansion()).decision(X[held]))]
    for grown in search.rounds(4):
        sizes.append(grown.n_elements)
        losses.append(checked.losses(grown.placed(grown.expansion()).decision(X[held])))
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
