"""The threshold of a rejector, and what it rejects."""

from typing import NamedTuple

import numpy as np

from eigensieve._types import Array


def rejection_threshold(positive_scores: Array, max_false_negative_rate: float) -> float:
    """Return the largest threshold whose expected false-negative rate stays within the wanted one.

    Samples below the threshold are rejected. Let s_1 <= ... <= s_n be the scores of held-out positives. The threshold
    s_(k+1), k = floor(rate (n + 1)) - 1, rejects a new positive with probability at most (k + 1) / (n + 1) <= rate.
    This follows from exchangeability alone; no distribution is assumed. With too few positives, the threshold is -inf
    and nothing is rejected.
    """
    scores = np.sort(np.asarray(positive_scores, dtype=np.float64))
    k = int(np.floor(max_false_negative_rate * (scores.size + 1) + 1e-12)) - 1
    return float(scores[k]) if k >= 0 else -np.inf


class RejectionRates(NamedTuple):
    """Shares of the negatives and of the positives that fall below a threshold."""

    rejection_rate: float
    false_negative_rate: float


def rejection_rates(scores: Array, positive: Array, threshold: float) -> RejectionRates:
    """Return the share of negatives rejected and of positives lost."""
    below = scores < threshold
    return RejectionRates(float(below[~positive].mean()), float(below[positive].mean()))
