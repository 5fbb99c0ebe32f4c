"""The gains of bumps on binned features, compiled."""

import numpy as np
from numba import njit

from eigensieve._types import Array

_F = np.float32


@njit(cache=True, nogil=True, fastmath=True)
def bump_gains(tables: Array, bins: Array, total: np.float32, ridge: np.float32, gains: Array, centres: Array) -> None:
    """Fill in each feature's best bump, by gain, and the bin of its centre.

    Bins have equal widths, so a bump's value depends on the distance between two bins alone: `tables` (features x
    2 bins - 1) holds it for all distances. The last two of the sums in `bins` (features x sums x bins) are of the
    curvature times the squared parent and of the curvature times the parent. The others are of the gradient times the
    parent, one per output. `total` is the sum of the curvature.
    """
    n_bins = bins.shape[2]
    m = bins.shape[1] - 2
    for i in range(bins.shape[0]):
        gains[i] = _F(0.0)
        centres[i] = 0
        for c in range(n_bins):
            bump = tables[i, n_bins - 1 - c : 2 * n_bins - 1 - c]
            square = mean = gain = _F(0.0)
            for b in range(n_bins):
                square += bump[b] * bump[b] * bins[i, m, b]
                mean += bump[b] * bins[i, m + 1, b]
            for k in range(m):
                dot = _F(0.0)
                for b in range(n_bins):
                    dot += bump[b] * bins[i, k, b]
                gain += dot * dot
            gain /= max(square - mean * mean / total, _F(0.0)) + ridge
            if gain > gains[i]:
                gains[i] = gain
                centres[i] = c
