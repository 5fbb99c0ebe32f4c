"""The noise edge of a weighted affinity: how large its eigenvalues get when features are independent."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from eigensieve._types import Array
from eigensieve.data import DataMatrix

_GRID = 400
_BINS = 2_048
_COPIES = 3
_SAMPLE_ENTRIES = 2**19  # of the features that are permuted


def noise_edge(weights: Array, n_dimensions: int) -> float:
    """Where the spectrum of A = sum_i w_i m_i m_i' ends for many independent features of unit norm and light tails.

    In d dimensions that is the smallest value of

        z(t) = w_max / t + (1/d) sum_i w_i / (1 - t w_i / w_max),   0 < t < 1

    (Silverstein and Choi's edge for a general population; equal weights give Marchenko and Pastur's
    (1 + sqrt(n/d))^2).

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
    shares = w / largest
    bins = (shares * (_BINS - 1)).astype(np.intp)
    counts, sums = np.bincount(bins), np.bincount(bins, weights=shares)
    filled = counts > 0
    counts, means = counts[filled], sums[filled] / counts[filled]
    t = np.linspace(0.0, 1.0, _GRID + 2)[1:-1, None]
    z = 1.0 / t[:, 0] + (counts * means / (1.0 - t * means)).sum(axis=1) / n_dimensions
    return float(largest * z.min())


def weighted_noise_edge(weights: Array, n_dimensions: int, excess: float = 1.0) -> float:
    """Largest eigenvalue to expect of A for independent features, with an allowance for its fluctuation.

    Parameters
    ----------
    weights, n_dimensions
        As for :func:`noise_edge`.
    excess : float, default=1.0
        How much further than light-tailed features' the spectrum reaches beyond its mean, sum(w) / d: what
        :func:`permuted_excess` measures.
    """
    mean = float(np.sum(weights)) / n_dimensions
    edge = mean + excess * (noise_edge(weights, n_dimensions) - mean)
    return edge * (1.0 + n_dimensions ** (-2.0 / 3.0))


def permuted_excess(data: DataMatrix, usable: Array) -> float:
    """How far the spectrum of permuted features reaches beyond its mean, in units of the light-tailed edge; at least 1.

    Every feature is permuted on its own: the same marginals, no dependence. Features that are zero but for a few
    samples, or have heavy tails, pile up on single samples by chance and reach further than Marchenko and Pastur's
    law. The largest of three copies of at most 2^19 entries is taken; the answer is the same on every run.

    Parameters
    ----------
    data : DataMatrix
        Standardised: centred columns of unit norm.
    usable : ndarray of bool of shape (n_features,)
        Features that vary.
    """
    rng = np.random.default_rng(0)
    candidates = np.flatnonzero(usable)
    room = min(len(candidates), max(2, _SAMPLE_ENTRIES // data.n_samples))
    features = np.asarray(data.take(np.sort(rng.permutation(candidates)[:room])), dtype=np.float64)
    dimensions = data.n_samples - 1
    if dimensions < 2 or room < 2:
        return 1.0
    mean = room / dimensions
    reach = noise_edge(np.ones(room), dimensions) - mean
    largest = max(_largest_eigenvalue(rng.permuted(features, axis=0)) for _ in range(_COPIES))
    return max(1.0, (largest - mean) / reach)


def _largest_eigenvalue(Z: Array) -> float:
    """Of Z Z' and Z'Z alike."""
    q = min(Z.shape)
    Z = Z if q == len(Z) else Z.T
    if q <= 200:
        return float(np.linalg.eigvalsh(Z @ Z.T)[-1])
    operator = LinearOperator((q, q), matvec=lambda v: Z @ (Z.T @ v), dtype=np.float64)
    return float(eigsh(operator, k=1, v0=np.ones(q) + Z[:, 0], tol=1e-3, return_eigenvectors=False)[0])


def count_spikes(eigenvalues: Array, weights: Array, n_dimensions: int, excess: float = 1.0) -> int:
    """Number of eigenvalues of the weighted affinity above the noise edge."""
    return int(np.count_nonzero(np.asarray(eigenvalues) > weighted_noise_edge(weights, n_dimensions, excess)))
