"""What elements that match the labels make small: the logistic loss of classes, the squared loss of numbers.

With f the scores of one sample and y its targets:

    logistic, one output:   log(1 + exp f) - y f            y in {0, 1}
    logistic, one per class: log sum_k exp f_k - sum_k y_k f_k
    squared:                (y - f)^2 / 2
"""

from typing import Protocol

import numpy as np
from scipy.special import expit, logsumexp, softmax

from eigensieve._types import Array


class Loss(Protocol):
    """A loss with a gradient ``mean(scores) - targets`` and a diagonal curvature."""

    classes: bool
    """Whether equal targets form groups, of which a held-out part takes its share each."""

    def constant(self, targets: Array) -> Array:
        """Return the best scores that are the same for all samples, one per output."""
        ...

    def mean(self, scores: Array) -> Array:
        """Return the targets that the scores predict (samples x outputs)."""
        ...

    def curvature(self, mean: Array, least: float) -> Array:
        """Return the second derivative where the prediction is `mean`, and not below `least`."""
        ...

    def of_samples(self, scores: Array, targets: Array) -> Array:
        """Return the loss of each sample."""
        ...


class LogisticLoss:
    """Classes; the scores are log-odds."""

    classes = True

    def constant(self, targets: Array) -> Array:
        """Return the log-odds of the classes' shares."""
        share = (targets.sum(axis=0) + 0.5) / (len(targets) + 1.0)
        return np.asarray(np.log(share / (1.0 - share) if share.size == 1 else share))

    def mean(self, scores: Array) -> Array:
        """Return the probability of each output (samples x outputs)."""
        return np.asarray(expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1))

    def curvature(self, mean: Array, least: float) -> Array:
        """Return p (1 - p)."""
        return np.maximum(mean * (1.0 - mean), least)

    def of_samples(self, scores: Array, targets: Array) -> Array:
        """Return minus the logarithm of the probability of what was seen."""
        total = np.logaddexp(0.0, scores[:, 0]) if scores.shape[1] == 1 else logsumexp(scores, axis=1)
        return np.asarray(total - (targets * scores).sum(axis=1))


class SquaredLoss:
    """Numbers."""

    classes = False

    def constant(self, targets: Array) -> Array:
        """Return the means."""
        return np.asarray(targets.mean(axis=0))

    def mean(self, scores: Array) -> Array:
        """Return the scores: they are the prediction."""
        return scores

    def curvature(self, mean: Array, least: float) -> Array:
        """Return ones."""
        return np.ones_like(mean)

    def of_samples(self, scores: Array, targets: Array) -> Array:
        """Return half the squared distance."""
        return np.asarray(0.5 * ((targets - scores) ** 2).sum(axis=1))


LOGISTIC, SQUARED = LogisticLoss(), SquaredLoss()
