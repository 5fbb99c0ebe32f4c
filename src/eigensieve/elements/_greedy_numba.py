"""The gains of candidates on sampled data, compiled: 4 times as fast as the same in numpy (400 features)."""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import Array
from eigensieve.elements._kernel_numba import expm1_negative, power
from eigensieve.elements.kernel import LINEAR, RBF

_F = np.float32


@njit(cache=True, nogil=True, fastmath=True)
def candidate_column(
    kind: int, gamma: np.float32, degree: int, coef0: np.float32,
    sums: Array, feature: Array, value: np.float32, out: Array,
) -> None:  # fmt: skip
    """Write into `out` the column with running `sums` after a feature has joined; `feature` holds its samples."""
    if kind == RBF:
        for t in range(sums.size):
            difference = feature[t] - value
            out[t] = _F(1.0) + expm1_negative(-gamma * (sums[t] + difference * difference))
    elif kind == LINEAR:
        for t in range(sums.size):
            out[t] = sums[t] + feature[t] * value
    else:
        for t in range(sums.size):
            out[t] = power(gamma * (sums[t] + feature[t] * value) + coef0, degree)


@njit(cache=True, nogil=True, fastmath=True)
def matching_gains(
    kind: int, gamma: np.float32, degree: int, coef0: np.float32,
    XT: Array, features: Array, values: Array, sums: Array, residuals: Array, gains: Array,
) -> None:  # fmt: skip
    """Fill in the gain of each candidate feature of one basis vector, against centred residuals. The gain is
    sum_l (r_l . c)^2 / |c - mean(c)|^2, the drop of the squared error if c alone is added."""
    n = sums.size
    column = np.empty(n, np.float32)
    shrink = _F(1.0 / n)
    for a in range(features.size):
        candidate_column(kind, gamma, degree, coef0, sums, XT[features[a]], values[a], column)
        mean = _F(0.0)
        for t in range(n):
            mean += column[t]
        mean *= shrink
        variance = _F(0.0)
        for t in range(n):
            # Two passes, because a narrow masked column is nearly constant and the one-pass formula would cancel.
            column[t] -= mean
            variance += column[t] * column[t]
        total = _F(0.0)
        for m in range(residuals.shape[0]):
            dot = _F(0.0)
            for t in range(n):
                dot += column[t] * residuals[m, t]
            total += dot * dot
        floor = _F(1e-9) * n * mean * mean + _F(1e-30)
        gains[a] = total / variance if variance > floor else _F(0.0)
