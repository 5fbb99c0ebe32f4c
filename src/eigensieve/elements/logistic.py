"""Ridge-penalised logistic regression on masked columns, refitted as columns are added.

With one output, labels y in {0, 1} and f = c + K w, the loss is

    sum_t [log(1 + exp f_t) - y_t f_t] + ridge / 2 |w|^2

With several outputs, one per class, log(1 + exp f) becomes log sum_k exp f_k (the multinomial loss). Newton's step for
one output solves a system of as many equations as there are columns. It is halved while the loss rises.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax

from eigensieve._types import Array
from eigensieve.elements.expansion import ElementExpansion

LEAST_CURVATURE = 1e-4
"""Samples that are nearly certain still count with this curvature. It keeps Newton's steps finite."""
HALVINGS = 6


def probabilities(scores: Array) -> Array:
    """Return the probability of each output (samples x outputs)."""
    return np.asarray(expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1))


def sample_losses(scores: Array, targets: Array) -> Array:
    """Return the logistic loss of each sample."""
    total = np.logaddexp(0.0, scores[:, 0]) if scores.shape[1] == 1 else logsumexp(scores, axis=1)
    return np.asarray(total - (targets * scores).sum(axis=1))


def deviance(scores: Array, targets: Array) -> float:
    """Return the logistic loss summed over samples."""
    return float(sample_losses(scores, targets).sum())


class LogisticFit:
    """Weights and intercepts on a growing set of columns.

    Parameters
    ----------
    targets : ndarray of shape (n_samples, n_outputs)
        Zeros and ones.
    ridge : float
    """

    def __init__(self, targets: Array, ridge: float) -> None:
        self.targets = targets
        self.ridge = ridge
        n = len(targets)
        share = (targets.sum(axis=0) + 0.5) / (n + 1.0)
        # The constant is the first column; it is not penalised.
        self.design = np.ones((n, 1))
        self.weights = np.log(share / (1.0 - share) if share.size == 1 else share)[None, :]
        self.scores = np.repeat(self.weights, n, axis=0)
        self.start = deviance(self.scores, targets)

    @property
    def relative_deviance(self) -> float:
        """The loss as a share of what a constant leaves."""
        return deviance(self.scores, self.targets) / self.start

    def add(self, columns: Array) -> None:
        """Add columns (samples x new) with weight zero."""
        self.design = np.hstack([self.design, columns])
        self.weights = np.vstack([self.weights, np.zeros((columns.shape[1], self.weights.shape[1]))])

    def refit(self, steps: int) -> None:
        """Take Newton steps on all weights of every output."""
        for _ in range(steps):
            for k in range(self.targets.shape[1]):
                self._step(k)

    def _step(self, k: int) -> None:
        A, w = self.design, self.weights[:, k]
        p = probabilities(self.scores)[:, k]
        curvature = np.maximum(p * (1.0 - p), LEAST_CURVATURE)
        hessian = (A * curvature[:, None]).T @ A
        penalty = np.full(w.size, self.ridge)
        penalty[0] = 1e-9
        hessian[np.diag_indices_from(hessian)] += penalty
        step = cho_solve(cho_factor(hessian), A.T @ (self.targets[:, k] - p) - penalty * w)
        change = A @ step
        before = self._loss(self.scores, w)
        for _ in range(HALVINGS):
            moved = self.scores.copy()
            moved[:, k] += change
            if self._loss(moved, w + step) <= before:
                self.weights[:, k] = w + step
                self.scores = moved
                return
            step, change = step / 2, change / 2

    def _loss(self, scores: Array, w: Array) -> float:
        return deviance(scores, self.targets) + 0.5 * self.ridge * float(w[1:] @ w[1:])


def refine_logistic(
    expansion: ElementExpansion, X: Array, targets: Array, ridge: float, max_iter: int
) -> ElementExpansion:
    """Move values, weights and widths together to lower the penalised loss, by L-BFGS (rbf kernel).

    Columns of one width keep one width: what is stored stays a few widths, and for each column which one.
    """
    seen = np.asarray(X[:, expansion.features], dtype=np.float64)
    unit = seen.std(axis=0)
    unit[unit == 0] = 1.0
    widths, which = np.unique(expansion.factors, return_inverse=True)
    member = expansion.membership()
    column = np.repeat(np.arange(expansion.n_columns), expansion.lengths)
    c, m = expansion.weights.shape
    cuts = np.cumsum([c * m, m, expansion.n_elements])

    def parts(flat: Array) -> tuple[Array, Array, Array, Array]:
        weights, intercept, values, logs = np.split(flat, cuts)
        return weights.reshape(c, m), intercept, values * unit, widths * np.exp(logs)

    def loss_and_gradient(flat: Array) -> tuple[float, Array]:
        weights, intercept, values, factors = parts(flat)
        gammas = (expansion.kernel.gamma * factors)[which]
        difference = seen - values
        sums = difference**2 @ member
        K = np.exp(-gammas * sums)
        scores = K @ weights + intercept
        pull = probabilities(scores) - targets
        slope = (pull @ weights.T) * K * gammas
        gradient = [
            (K.T @ pull + ridge * weights).ravel(),
            pull.sum(axis=0),
            2.0 * np.einsum("te,te->e", slope[:, column], difference) * unit,
            np.bincount(which, weights=-(slope * sums).sum(axis=0), minlength=widths.size),
        ]
        return deviance(scores, targets) + 0.5 * ridge * float((weights**2).sum()), np.concatenate(gradient)

    start = np.concatenate(
        [expansion.weights.ravel(), expansion.intercept, expansion.values / unit, np.zeros(widths.size)]
    )
    result = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter})
    weights, intercept, values, factors = parts(result.x)
    return ElementExpansion(
        expansion.kernel,
        expansion.n_features,
        expansion.starts,
        expansion.features,
        values,
        factors[which],
        weights,
        intercept,
    )
