"""How many features, from the sorted weights alone."""

import numpy as np

from eigensieve._types import Array


def two_level_cut(weights: Array) -> int:
    """Return how many of the largest weights form the upper of two levels.

    The papers' model of the weights has two levels, relevant and irrelevant. The cut is where the split of the sorted
    weights into two groups leaves the least variance within the groups.

    Parameters
    ----------
    weights : ndarray
        Weights of the features that vary, in any order.

    Returns
    -------
    count : int
        At least 1; all of them when the weights do not differ.
    """
    ordered = np.sort(np.asarray(weights, dtype=np.float64))[::-1]
    n = len(ordered)
    if n < 2 or ordered[0] - ordered[-1] <= 1e-12 * max(abs(ordered[0]), abs(ordered[-1])):
        return n
    upper = np.cumsum(ordered)[:-1]
    size = np.arange(1, n)
    mean = ordered.mean()
    between = (upper - size * mean) ** 2 / (size * (n - size))
    return int(between.argmax()) + 1
