"""The noise edge of a weighted affinity: how large its eigenvalues get when features are independent."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_GRID = 400


def weighted_noise_edge(weights: Array, n_dimensions: int) -> float:
    """Largest eigenvalue to expect of A = sum_i w_i m_i m_i' for independent features of unit norm.

    In d dimensions the spectrum of A ends at the smallest value of

        z(t) = w_max / t + (1/d) sum_i w_i / (1 - t w_i / w_max),   0 < t < 1

    (Silverstein and Choi's edge for a general population; equal weights give Marchenko and Pastur's
    (1 + sqrt(n/d))^2), to which a fluctuation of d^(-2/3) of it is added. The null is that of permuted copies: same
    marginals, no dependence between features.

    Parameters
    ----------
    weights : ndarray
        Non-negative, at least one positive.
    n_dimensions : int
        d: the number of samples, less one for centred data.
    """
    w = np.asarray(weights, dtype=np.float64)
    w = w[w > 0]
    largest = w.max()
    # Weights enter through a sum only: a histogram keeps the cost of the search independent of their number.
    counts, bounds = np.histogram(w / largest, bins=2048, range=(0.0, 1.0))
    sums = np.histogram(w / largest, bins=bounds, weights=w / largest)[0]
    filled = counts > 0
    counts, means = counts[filled], sums[filled] / counts[filled]
    t = np.linspace(0.0, 1.0, _GRID + 2)[1:-1, None]
    z = 1.0 / t[:, 0] + (counts * means / (1.0 - t * means)).sum(axis=1) / n_dimensions
    return float(largest * z.min() * (1.0 + n_dimensions ** (-2.0 / 3.0)))


def count_spikes(eigenvalues: Array, weights: Array, n_dimensions: int) -> int:
    """Number of eigenvalues of the weighted affinity above the noise edge."""
    return int(np.count_nonzero(np.asarray(eigenvalues) > weighted_noise_edge(weights, n_dimensions)))
