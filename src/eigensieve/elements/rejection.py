"""The threshold of a rejector, and what it rejects."""

from typing import NamedTuple

import numpy as np
from scipy.stats import beta

from eigensieve._types import BoolArray, FloatArray, IntArray


def rejection_threshold(
    positive_scores: FloatArray, max_false_negative_rate: float, confidence: float | None = None
) -> float:
    """Return the largest threshold whose false-negative rate stays within the wanted one.

    Samples below the threshold are rejected. Let s_1 <= ... <= s_n be the scores of held-out positives, and s_(k+1) the
    threshold: k of them are lost. No distribution is assumed.

    Without `confidence` the rate holds on average over draws of the held-out positives: by exchangeability, a new
    positive is rejected with probability at most (k + 1) / (n + 1). With it, the rate holds for this draw with that
    probability: the bound is :func:`false_negative_bound`. With too few positives the threshold is -inf and nothing is
    rejected. The average needs 1 / rate - 1 of them, the confidence log(1 - confidence) / log(1 - rate).
    """
    scores = np.sort(np.asarray(positive_scores, dtype=np.float64))
    if confidence is None:
        k = int(np.floor(max_false_negative_rate * (scores.size + 1) + 1e-12)) - 1
    else:
        bounds = false_negative_bound(np.arange(scores.size), scores.size, confidence)
        k = int(np.count_nonzero(bounds <= max_false_negative_rate)) - 1
    return float(scores[k]) if k >= 0 else -np.inf


def false_negative_bound(n_lost: IntArray | int, n_positives: int, confidence: float) -> FloatArray:
    """Return the largest false-negative rate that agrees, at this confidence, with `n_lost` of the held-out positives.

    It is Clopper and Pearson's upper limit, the quantile of the Beta distribution with parameters n_lost + 1 and
    n_positives - n_lost, which is the distribution of the rate at the threshold s_(n_lost + 1).
    """
    return np.asarray(beta.ppf(confidence, np.asarray(n_lost) + 1, n_positives - np.asarray(n_lost)))


class RejectionRates(NamedTuple):
    """Shares of the negatives and of the positives that fall below a threshold."""

    rejection_rate: float
    false_negative_rate: float


def rejection_rates(scores: FloatArray, positive: BoolArray, threshold: float) -> RejectionRates:
    """Return the share of negatives rejected and of positives lost."""
    below = scores < threshold
    return RejectionRates(float(below[~positive].mean()), float(below[positive].mean()))
