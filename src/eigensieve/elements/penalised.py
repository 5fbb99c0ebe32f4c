"""A ridge-penalised fit of weights on masked columns, refitted as columns are added, and the refinement.

With scores f = c + K w and targets y of a sample, the loss is summed over samples, and ridge / 2 |w|^2 is added:

    logistic, one output:    log(1 + exp f) - y f            y in {0, 1}
    logistic, one per class: log sum_k exp f_k - sum_k y_k f_k
    squared:                 (y - f)^2 / 2

Newton's step for one output solves a system of as many equations as there are columns. It is halved while the loss
rises.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.elements._penalised_numba import bump_columns, bump_slopes
from eigensieve.elements.expansion import ElementExpansion

LEAST_CURVATURE = 1e-4
"""Samples that are nearly certain still count with this curvature. It keeps Newton's steps finite."""
HALVINGS = 6
ROUNDING = 1e-6


class LogisticLoss:
    """The loss of classes: the scores are log-odds. The gradient of every loss is ``mean(scores) - targets``."""

    classes = True
    """Whether equal targets form groups, of which a held-out part takes its share each."""

    def constant(self, targets: FloatArray) -> FloatArray:
        """Return the best scores that are the same for all samples: the log-odds of the classes' shares."""
        share = (targets.sum(axis=0) + 0.5) / (len(targets) + 1.0)
        return np.asarray(np.log(share / (1.0 - share) if share.size == 1 else share))

    def mean(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each output (samples x outputs)."""
        return np.asarray(expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1))

    def curvature(self, mean: FloatArray, least: float) -> FloatArray:
        """Return p (1 - p)."""
        return np.maximum(mean * (1.0 - mean), least)

    def of_samples(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return minus the log-likelihood."""
        total = np.logaddexp(0.0, scores[:, 0]) if scores.shape[1] == 1 else logsumexp(scores, axis=1)
        return np.asarray(total - (targets * scores).sum(axis=1))


class SquaredLoss:
    """The loss of numbers."""

    classes = False

    def constant(self, targets: FloatArray) -> FloatArray:
        """Return the means."""
        return np.asarray(targets.mean(axis=0))

    def mean(self, scores: FloatArray) -> FloatArray:
        """Return the scores: they are the prediction."""
        return scores

    def curvature(self, mean: FloatArray, least: float) -> FloatArray:
        """Return ones."""
        return np.ones_like(mean)

    def of_samples(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return half the squared distance."""
        return np.asarray(0.5 * ((targets - scores) ** 2).sum(axis=1))


Loss = LogisticLoss | SquaredLoss
LOGISTIC, SQUARED = LogisticLoss(), SquaredLoss()


@dataclass(frozen=True, eq=False)
class Goal:
    """The loss, targets and ridge term of a fit."""

    loss: Loss
    targets: FloatArray  # samples x outputs; classes: zeros and ones; numbers: best of variance 1
    ridge: float

    def part(self, rows: BoolArray | IntArray) -> "Goal":
        """Return the goal for some of the samples."""
        return replace(self, targets=self.targets[rows])

    def losses(self, scores: FloatArray) -> FloatArray:
        """Return the loss of each sample."""
        return self.loss.of_samples(scores, self.targets)

    def total(self, scores: FloatArray, weights: FloatArray | float = 0.0) -> float:
        """Return the loss summed over samples, with the ridge term of the weights."""
        return float(self.losses(scores).sum()) + self.penalty(weights)

    def penalty(self, weights: FloatArray | float) -> float:
        """Return the ridge term."""
        return 0.5 * self.ridge * float(np.vdot(weights, weights))


class PenalisedFit:
    """Weights and intercepts on a growing set of columns."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        n = len(goal.targets)
        # The constant is the first column; it is not penalised. Columns are contiguous, with room for more.
        self._columns = np.ones((16, n), dtype=np.float32)
        self.weights = goal.loss.constant(goal.targets)[None, :]
        # A weight that is not kept is zero.
        self.kept = np.ones(self.weights.shape, dtype=bool)
        self.scores = np.repeat(self.weights, n, axis=0)
        self.loss = self.start = goal.total(self.scores)

    @property
    def design(self) -> FloatArray:
        """The columns (samples x columns)."""
        return self._columns[: len(self.weights)].T

    @property
    def relative_loss(self) -> float:
        """The loss as a share of what a constant leaves."""
        return self.loss / self.start if self.start > 0 else 0.0

    def add(self, columns: FloatArray) -> None:
        """Add columns (new x samples) with weight zero."""
        before, after = len(self.weights), len(self.weights) + len(columns)
        if after > len(self._columns):
            self._columns = np.concatenate([self._columns, np.empty((after, self._columns.shape[1]), np.float32)])
        self._columns[before:after] = columns
        shape = len(columns), self.weights.shape[1]
        self.weights = np.vstack([self.weights, np.zeros(shape)])
        self.kept = np.vstack([self.kept, np.ones(shape, dtype=bool)])

    def refit(self, steps: int) -> None:
        """Take Newton steps on all kept weights of every output."""
        for _ in range(steps):
            for k in range(self.weights.shape[1]):
                self._step(k)

    def thin(self, n_weights: int) -> None:
        """Keep at most so many weights, but one per column at least, and refit. A pass drops up to half of them, those
        that raise the loss least: with column k and curvature h by half of
        w^2 (sum h k^2 - (sum h k)^2 / sum h + ridge)."""
        left = self.weights[1:].size
        while left > n_weights:
            left = max(n_weights, left // 2)
            self._keep(left)
            self.refit(1)

    def _keep(self, n_weights: int) -> None:
        columns, weights, goal = self.design[:, 1:], self.weights[1:], self.goal
        h = goal.loss.curvature(goal.loss.mean(self.scores), LEAST_CURVATURE)
        worth = weights**2 * ((columns**2).T @ h - (columns.T @ h) ** 2 / h.sum(axis=0) + goal.ridge)
        worth[np.arange(len(worth)), worth.argmax(axis=1)] = np.inf
        dropped = np.argsort(-worth, axis=None, kind="stable")[n_weights:]
        self.kept[1:].flat[dropped] = False
        self.weights = np.where(self.kept, self.weights, 0.0)
        self.scores = (self.design @ self.weights.astype(np.float32)).astype(np.float64)
        self.loss = goal.total(self.scores)

    def _step(self, k: int) -> None:
        kept = self.kept[:, k]
        A, w = self.design if kept.all() else self.design[:, kept], self.weights[kept, k]
        goal = self.goal
        mean = goal.loss.mean(self.scores)
        curvature = goal.loss.curvature(mean, LEAST_CURVATURE)[:, k]
        root = A.T * np.sqrt(curvature, dtype=np.float32)
        hessian = (root @ root.T).astype(np.float64)
        penalty = np.full(w.size, goal.ridge)
        penalty[0] = 1e-9
        # In single precision, the system alone may be off by so much. The step is then shorter.
        hessian.flat[:: w.size + 1] += np.maximum(penalty, ROUNDING * np.trace(hessian))
        pull = (goal.targets[:, k] - mean[:, k]).astype(np.float32)
        _, step, failed = dposv(hessian, A.T @ pull - penalty * w)
        if failed:
            raise LinAlgError("The columns are too nearly collinear for so small a ridge term.")
        change = (A @ step.astype(np.float32)).astype(np.float64)
        before = self.loss + goal.penalty(w[1:])
        for _ in range(HALVINGS):
            moved = self.scores.copy()
            moved[:, k] += change
            loss = goal.total(moved)
            if loss + goal.penalty((w + step)[1:]) <= before:
                self.weights[kept, k] = w + step
                self.scores, self.loss = moved, loss
                return
            step, change = step / 2, change / 2


def refine_penalised(expansion: ElementExpansion, rows: FloatArray, goal: Goal, max_iter: int) -> ElementExpansion:
    """Move values, weights and widths together to lower the penalised loss, by L-BFGS (bumps). `rows` has the
    samples (features x samples) in single precision, about their mean. Columns of one width keep one width, so that few
    are stored. Weights of zero stay zero."""
    seen = rows[expansion.features]
    squares, means = np.einsum("et,et->e", seen, seen), seen @ np.ones(seen.shape[1], np.float32)
    unit = np.sqrt(np.maximum(squares / seen.shape[1] - (means / seen.shape[1]) ** 2, 0.0), dtype=np.float64)
    unit[unit == 0] = 1.0
    widths, which = np.unique(expansion.factors, return_inverse=True)
    kept = expansion.weights != 0
    c, m = expansion.weights.shape
    cuts = np.cumsum([c * m, m, expansion.n_elements]).tolist()
    sums, K = np.empty((2, c, seen.shape[1]), np.float32)
    by_value, by_width = np.empty(expansion.n_elements), np.empty(c)

    def parts(flat: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        weights, intercept, values, logs = (flat[a:b] for a, b in pairwise((0, *cuts, flat.size)))
        return weights.reshape(c, m), intercept, values * unit, widths * np.exp(logs)

    def loss_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        weights, intercept, values, factors = parts(flat)
        gammas = (expansion.kernel.gamma * factors)[which]
        bump_columns(seen, expansion.starts, values, gammas, sums, K)
        scores = (K.T @ weights.astype(np.float32)).astype(np.float64) + intercept
        pull = goal.loss.mean(scores) - goal.targets
        across = np.ascontiguousarray(pull.T, dtype=np.float32)
        bump_slopes(seen, expansion.starts, values, gammas, sums, weights, across, by_value, by_width)
        gradient = [
            np.where(kept, K @ across.T + goal.ridge * weights, 0.0).ravel(),
            pull.sum(axis=0),
            by_value * unit,
            np.bincount(which, weights=by_width, minlength=widths.size),
        ]
        return goal.total(scores, weights), np.concatenate(gradient)

    start = np.concatenate(
        [expansion.weights.ravel(), expansion.intercept, expansion.values / unit, np.zeros(widths.size)]
    )
    result = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter})
    weights, intercept, values, factors = parts(result.x)
    return replace(expansion, values=values, factors=factors[which], weights=weights, intercept=intercept)
