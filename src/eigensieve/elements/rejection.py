"""The threshold of a rejector, and what it rejects."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


def rejection_threshold(positive_scores: NDArray, max_false_negative_rate: float) -> float:
    """Return the largest threshold whose expected false-negative rate stays within the wanted one.

    With the n scores of held-out positives sorted, s_1 <= ... <= s_n, and samples below the threshold rejected, the
    threshold s_(k+1), k = floor(rate (n + 1)) - 1, rejects a new positive with probability at most (k + 1) / (n + 1)
    <= rate (exchangeability alone; no distribution is assumed). With too few positives for that, nothing is rejected:
    -inf.
    """
    scores = np.sort(np.asarray(positive_scores, dtype=np.float64))
    k = int(np.floor(max_false_negative_rate * (scores.size + 1) + 1e-12)) - 1
    return float(scores[k]) if k >= 0 else -np.inf


class RejectionRates(NamedTuple):
    """Shares of the negatives and of the positives that fall below a threshold."""

    rejection_rate: float
    false_negative_rate: float


def rejection_rates(scores: NDArray, positive: NDArray, threshold: float) -> RejectionRates:
    """Return the share of negatives rejected and of positives lost."""
    below = scores < threshold
    return RejectionRates(float(below[~positive].mean()), float(below[positive].mean()))


def rejection_at(scores: NDArray, positive: NDArray, false_negative_rate: float) -> float:
    """Return the share of negatives below the threshold at which at most the given share of *these* positives is lost.

    A point of the ROC curve, as in the paper's figures 2 and 4.
    """
    sorted_positives = np.sort(scores[positive])
    threshold = sorted_positives[int(np.floor(false_negative_rate * sorted_positives.size + 1e-9))]
    return float((scores[~positive] < threshold).mean())
