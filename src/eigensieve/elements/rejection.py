"""The threshold of a rejector, and what it rejects."""

from typing import NamedTuple

import numpy as np
from scipy.stats import beta

from eigensieve._types import BoolArray, FloatArray, IntArray


def rejection_threshold(
    positive_scores: FloatArray, max_false_negative_rate: float, confidence: float | None = None
) -> float:
    """Return the largest threshold, below which samples are rejected, within the false-negative rate.

    It is s_(k+1) of the sorted scores of n held-out positives, without an assumed distribution. Without `confidence`
    the rate holds on average over draws: by exchangeability, a new positive is rejected with probability at most
    (k + 1) / (n + 1), and 1 / rate - 1 positives are needed. With it, the rate holds for this draw with that
    probability (:func:`false_negative_bound`); log(1 - confidence) / log(1 - rate) are needed. With fewer it is -inf.
    """
    scores = np.sort(np.asarray(positive_scores, dtype=np.float64))
    if confidence is None:
        k = int(np.floor(max_false_negative_rate * (scores.size + 1) + 1e-12)) - 1
    else:
        bounds = false_negative_bound(np.arange(scores.size), scores.size, confidence)
        k = int(np.count_nonzero(bounds <= max_false_negative_rate)) - 1
    return float(scores[k]) if k >= 0 else -np.inf


def false_negative_bound(n_lost: IntArray | int, n_positives: int, confidence: float) -> FloatArray:
    """Return the largest false-negative rate that agrees with `n_lost` of the positives at this confidence: Clopper and
    Pearson's limit, the quantile of Beta(n_lost + 1, n_positives - n_lost), which is the distribution of the rate at
    the threshold s_(n_lost + 1)."""
    return np.asarray(beta.ppf(confidence, np.asarray(n_lost) + 1, n_positives - np.asarray(n_lost)))


class RejectionRates(NamedTuple):
    """Shares of the negatives and of the positives that fall below a threshold."""

    rejection_rate: float
    false_negative_rate: float


def rejection_rates(scores: FloatArray, positive: BoolArray, threshold: float) -> RejectionRates:
    """Return the share of negatives rejected and of positives lost."""
    below = scores < threshold
    return RejectionRates(float(below[~positive].mean()), float(below[positive].mean()))
