"""Noise edges: how large the eigenvalues of an affinity become when features are independent; how many lie above.

There are two edges, because the largest eigenvalue fluctuates about the end of the spectrum. For equal weights Tracy
and Widom's law says by how much, and `equal_noise_edge` allows for two standard deviations. For other weights the law
has no simple form, and `weighted_noise_edge` allows for the order of the fluctuation, d^(-2/3) of the edge.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from eigensieve._types import BoolArray, FloatArray
from eigensieve.data import DataMatrix, Orders

MAX_CLUSTERS = 10
"""Largest number of clusters that is read from the spectrum of equally weighted features."""

_GRID = 400
_BINS = 2_048
_COPIES = 3
_SAMPLE_ENTRIES = 2**19  # entries of the features that are permuted


def noise_edge(weights: FloatArray, n_dimensions: int) -> float:
    """Where the spectrum of A = sum_i w_i m_i m_i' ends for many independent light-tailed features of unit norm.

    In d dimensions (the number of samples, less one for centred data) it is the smallest value of

        z(t) = w_max / t + (1/d) sum_i w_i / (1 - t w_i / w_max),   0 < t < 1

    (Silverstein and Choi's edge for a general population; equal weights give Marchenko and Pastur's (1 + sqrt(n/d))^2).
    Weights are non-negative, at least one of them positive.
    """
    w = np.asarray(weights, dtype=np.float64)
    w = w[w > 0]
    largest = w.max()
    # Weights enter only by a sum: with a histogram the cost of the search does not depend on their number.
    shares = w / largest
    bins = (shares * (_BINS - 1)).astype(np.intp)
    counts, sums = np.bincount(bins), np.bincount(bins, weights=shares)
    filled = counts > 0
    counts, means = counts[filled], sums[filled] / counts[filled]
    t = np.linspace(0.0, 1.0, _GRID + 2)[1:-1, None]
    z = 1.0 / t[:, 0] + (counts * means / (1.0 - t * means)).sum(axis=1) / n_dimensions
    return float(largest * z.min())


def weighted_noise_edge(weights: FloatArray, n_dimensions: int, excess: float = 1.0) -> float:
    """Return the largest eigenvalue to expect of A for independent features, with an allowance for its fluctuation.

    `excess` is how far the spectrum reaches beyond its mean, sum(w) / d, relative to that of light-tailed features
    (:func:`permuted_excess`).
    """
    mean = float(np.sum(weights)) / n_dimensions
    edge = mean + excess * (noise_edge(weights, n_dimensions) - mean)
    return edge * (1.0 + n_dimensions ** (-2.0 / 3.0))


def equal_noise_edge(n_features: int, n_dimensions: int, excess: float = 1.0) -> float:
    """Return the largest eigenvalue to expect of M'M for independent features of unit norm.

    It is the upper edge of the Marchenko-Pastur law, (sqrt(n / d) + 1)^2 for n features in d dimensions, plus two
    standard deviations of the largest eigenvalue's fluctuation (Tracy-Widom). Its distance from the mean of the
    spectrum, n / d, is multiplied by `excess`.
    """
    root_n, root_d = np.sqrt(n_features), np.sqrt(n_dimensions)
    fluctuation = (root_n + root_d) * (1 / root_n + 1 / root_d) ** (1 / 3)
    mean = n_features / n_dimensions
    return float(mean + excess * (((root_n + root_d) ** 2 + 2 * fluctuation) / n_dimensions - mean))


def permuted_excess(data: DataMatrix, usable: BoolArray, orders: Orders) -> float:
    """Return how far the spectrum of permuted features reaches beyond its mean, relative to light-tailed features.

    Every feature of the centred data is permuted on its own: the same marginals, no dependence. Features with heavy
    tails, or that are zero in nearly all samples, pile up on single samples by chance and reach further than Marchenko
    and Pastur's law. The answer is taken from the largest of three copies of at most 2^19 entries. It is at least 1 and
    the same on every run, and for any order of samples and features: copies are drawn in the `orders` of their values.
    """
    rng = np.random.default_rng(0)
    candidates = orders.features[usable[orders.features]]
    room = min(len(candidates), max(2, _SAMPLE_ENTRIES // data.n_samples))
    features = np.asarray(data.take(candidates[:room]), dtype=np.float64)[orders.samples]
    dimensions = data.n_samples - 1
    if dimensions < 2 or room < 2:
        return 1.0
    mean = room / dimensions
    reach = noise_edge(np.ones(room), dimensions) - mean
    largest = max(_largest_eigenvalue(rng.permuted(features, axis=0)) for _ in range(_COPIES))
    return max(1.0, (largest - mean) / reach)


def _largest_eigenvalue(Z: FloatArray) -> float:
    """Return the largest eigenvalue of Z Z', which is that of Z'Z."""
    q = min(Z.shape)
    Z = Z if q == len(Z) else Z.T
    if q <= 200:
        return float(np.linalg.eigvalsh(Z @ Z.T)[-1])
    operator = LinearOperator((q, q), matvec=lambda v: Z @ (Z.T @ v), dtype=np.float64)
    return float(eigsh(operator, k=1, v0=np.ones(q) + Z[:, 0], tol=1e-3, return_eigenvectors=False)[0])


def count_spikes(eigenvalues: FloatArray, weights: FloatArray, n_dimensions: int, excess: float = 1.0) -> int:
    """Number of eigenvalues of the weighted affinity above the noise edge."""
    return int(np.count_nonzero(np.asarray(eigenvalues) > weighted_noise_edge(weights, n_dimensions, excess)))


def count_clusters(values: FloatArray, n_features: int, n_samples: int, *, centered: bool, excess: float = 1.0) -> int:
    """Return how many clusters (2 to 10) the leading eigenvalues (`values`) of M'M, for unit columns, show above noise.

    c clusters of centred data span c - 1 directions. Uncentred data has one direction more, its mean.
    """
    dimensions = max(1, n_samples - 1 if centered else n_samples)
    spikes = int(np.count_nonzero(np.asarray(values) > equal_noise_edge(n_features, dimensions, excess)))
    return max(1, min(max(2, spikes + int(centered)), MAX_CLUSTERS, n_samples - 1))
