"""What a fit of labels reads: the features that tell most, and the samples with mixtures of two of them."""

from dataclasses import replace

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.elements.expansion import FullExpansion
from eigensieve.elements.penalised import Goal

KEPT = 1024
"""Features that are read, at most: those on which targets depend most, by straight lines and parabolas."""
MIXTURES = 1000
"""Mixtures of two samples that are added.

Without them the mean area is that of boosted trees; with them, 0.007 above (docs/measured/elements.md).
"""
SHARPNESS = 2.0
"""Log-odds per unit of an SVM's decision value."""


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


def with_mixtures(
    X: FloatArray, seen: IntArray, goal: Goal, full: FullExpansion, rng: np.random.Generator
) -> tuple[FloatArray, Goal]:
    """Return the samples and mixtures of two, with the features that are seen. A mixture's targets are the mean of the
    full machine's probabilities, which know the space between samples, and of the mixed labels, which are right where
    these are not."""
    (one, other), share = rng.integers(len(X), size=(2, MIXTURES)), rng.uniform(size=MIXTURES)
    s, seen = share[:, None], np.asarray(X[:, seen], dtype=np.float64)
    mixed = s * seen[one] + (1.0 - s) * seen[other]
    labels = s * goal.targets[one] + (1.0 - s) * goal.targets[other]
    targets = 0.5 * (goal.loss.mean(SHARPNESS * full.between(X, one, other, share)) + labels)
    return np.vstack([seen, mixed]), replace(goal, targets=np.vstack([goal.targets, targets]))
