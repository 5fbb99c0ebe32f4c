"""Selection with a target: classes, numbers, several targets, known for all samples or for a few."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import DataMatrix, SquaredData, share_present
from eigensieve.evidence import agreement
from eigensieve.operators import StandardAffinity
from eigensieve.sieve.target import Target
from eigensieve.sieve.unwanted import multiplied_rows

SQUARES = 0.5
"""How much the squares of the features count beside the features, for numbers."""

CENSORED_RIDGE = 10.0
"""Ridge of the pick for times to an event, whose signal is weak (docs/measured/panels.md); 1 otherwise."""

_ROUNDS = 2  # of guessing labels, scoring features by the guesses and weighting them by the scores
_RIDGE = 0.1  # of the guesses, in units of the mean squared length of a labelled sample
_SHARPNESS = 8.0  # of the guesses' probabilities
_MOST_LABELLED = 1_000  # labelled samples that guesses are made from: the first in `order`


@dataclass(frozen=True)
class TargetFit:
    """A target as the structure, and the scores of the features by it."""

    scores: FloatArray  # agreement of every feature with the target over pairs of different samples; about 0 for noise
    target: FloatArray  # samples x columns: T: an orthonormal basis of the target, with guesses where it is not known
    # samples x columns: T on the samples with known y alone, 0 elsewhere. False discoveries are judged by it
    known: FloatArray
    columns: FloatArray  # samples x columns of y: TT'y, what the picked features explain
    square_share: float  # how much the squares of the features count
    ridge: float = 1.0  # of the regression that says how much is explained
    source: Literal["labels", "products"] = "labels"  # what the scores are made of (interactions.py)


def fit_target(
    data: DataMatrix,
    usable: BoolArray,
    target: Target,
    *,
    batches: FloatArray | None = None,
    donors: IntArray | None = None,
    order: IntArray | None = None,
) -> TargetFit:
    """Score every feature by u_i = m_i'(TT' - diag(TT'))m_i, T an orthonormal basis of the target.

    For numbers half the agreement of the feature's square is added. Unknown y is guessed first
    (:func:`guessed_target`). The part of y within the orthonormal `batches` does not count; with `donors` only pairs of
    different donors do.
    """
    T = known = target.basis(batches, data.roots)
    if not target.complete:
        T = guessed_target(data, usable, target, batches, donors, order)
    share = SQUARES if target.kind == "numbers" else 0.0
    scores = agreement(data, T, donors)
    if share:
        scores = np.maximum(scores, 0.0) + share * np.maximum(agreement(SquaredData(data), T, donors), 0.0)
    ridge = CENSORED_RIDGE if target.kind == "survival" else 1.0
    columns = T if T.shape[1] == 1 else T @ (T.T @ multiplied_rows(target.columns, data.roots))
    return TargetFit(share_present(data) * scores, T, known, columns, share, ridge)


def guessed_target(
    data: DataMatrix,
    usable: BoolArray,
    target: Target,
    batches: FloatArray | None = None,
    donors: IntArray | None = None,
    order: IntArray | None = None,
) -> FloatArray:
    """Return T for all samples: known y, and guesses by kernel ridge regression elsewhere.

    Two rounds: guess y from the affinity A of the weighted features, F = A_l (A_ll + r I)^-1 Y; score the features by
    the guesses; weight them by the positive scores. Guesses of classes are made probabilities. The columns of T are
    scaled by how much of the guesses they carry.
    """
    order = np.arange(data.n_samples) if order is None else order
    here = order[target.known[order]][:_MOST_LABELLED]
    Y, r = target.columns[here], np.ones(data.n_samples) if data.roots is None else data.roots
    middle = np.average(Y, axis=0, weights=r[here] ** 2)
    weights = usable * share_present(data)
    chosen = np.zeros((data.n_samples, len(here)))
    chosen[here, np.arange(len(here))] = 1.0
    for _ in range(_ROUNDS):
        K = np.asarray(StandardAffinity(data).apply(weights, chosen))
        # Without any ridge the labelled samples are all zero under the weights: every guess is the mean then.
        ridge = _RIDGE * float(np.trace(K[here])) / len(here) or 1.0
        fit = np.linalg.solve(K[here] + ridge * np.eye(len(here)), (Y - middle) * r[here, None])
        T = _scaled_basis(_filled(target, middle + K @ fit / r[:, None]), batches, data.roots)
        scores = np.where(usable, np.maximum(agreement(data, T, donors), 0.0), 0.0) * share_present(data) ** 2
        weights = scores if scores.any() else weights
    return T


def _filled(target: Target, guesses: FloatArray) -> FloatArray:
    if target.kind == "classes":
        likely = np.exp(_SHARPNESS * (guesses - guesses.max(axis=1, keepdims=True)))
        guesses = likely / likely.sum(axis=1, keepdims=True)
    return np.where(target.known[:, None], target.columns, guesses)


def _scaled_basis(columns: FloatArray, batches: FloatArray | None, roots: FloatArray | None) -> FloatArray:
    """Return an orthonormal basis of the centred columns, each vector scaled by its share of the longest."""
    if (columns >= 0).all():
        totals = columns.sum(axis=0) if roots is None else roots**2 @ columns
        columns = columns / np.sqrt(np.maximum(totals, 1e-9))
    columns = multiplied_rows(columns, roots)
    if batches is not None:
        columns = columns - batches @ (batches.T @ columns)
    vectors, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    kept = lengths > 1e-6 * lengths[0]
    return np.asarray(vectors[:, kept] * (lengths[kept] / lengths[0]))
