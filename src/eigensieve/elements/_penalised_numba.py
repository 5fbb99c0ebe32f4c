"""Columns of bumps and the gradient of a loss by their values and widths, compiled, in single precision."""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import Array
from eigensieve.elements._kernel_numba import bump, root_of_bump

_F = np.float32


@njit(cache=True, nogil=True, fastmath=True)
def bump_columns(seen: Array, starts: Array, values: Array, gammas: Array, sums: Array, K: Array) -> None:
    """Fill in each column's squared distances and the column itself (columns x samples). `seen` holds the feature of
    every element (elements x samples)."""
    n = seen.shape[1]
    for c in range(gammas.size):
        total, column, gamma = sums[c], K[c], _F(gammas[c])
        for t in range(n):
            total[t] = _F(0.0)
        for e in range(starts[c], starts[c + 1]):
            feature, value = seen[e], _F(values[e])
            for t in range(n):
                difference = feature[t] - value
                total[t] += difference * difference
        for t in range(n):
            column[t] = bump(gamma * total[t])


@njit(cache=True, nogil=True, fastmath=True)
def bump_slopes(
    seen: Array, starts: Array, values: Array, gammas: Array, sums: Array,
    weights: Array, pull: Array, by_value: Array, by_log_gamma: Array,
) -> None:  # fmt: skip
    """Fill in the gradient by the elements' values and by the logarithms of the columns' gammas. `pull` is the gradient
    by the scores (outputs x samples); `weights` has a row per column."""
    n = seen.shape[1]
    slope = np.empty(n, np.float32)
    for c in range(gammas.size):
        total = sums[c]
        for t in range(n):
            slope[t] = _F(0.0)
        for k in range(weights.shape[1]):
            weight, force = _F(gammas[c] * weights[c, k]), pull[k]
            if weight == _F(0.0):
                continue
            for t in range(n):
                slope[t] += weight * force[t]
        along, gamma = _F(0.0), _F(gammas[c])
        for t in range(n):
            root = root_of_bump(gamma * total[t])
            slope[t] *= root * root * root
            along -= slope[t] * total[t]
        by_log_gamma[c] = along
        for e in range(starts[c], starts[c + 1]):
            feature, value = seen[e], _F(values[e])
            across = _F(0.0)
            for t in range(n):
                across += slope[t] * (feature[t] - value)
            by_value[e] = _F(2.0) * across
