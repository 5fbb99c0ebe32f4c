"""How many features, from the sorted weights alone."""

import numpy as np

from eigensieve._types import Array


def two_level_cut(weights: Array) -> int:
    """Return how many of the largest weights form the upper of two levels, those of the relevant features.

    The cut is where the split of the sorted weights, in any order, into two groups leaves the least variance within the
    groups. It is all of the weights when they do not differ.
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
