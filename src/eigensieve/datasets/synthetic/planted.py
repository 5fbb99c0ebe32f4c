"""Clusters planted in a few features among pure noise, at any size."""

from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np
from numpy.typing import DTypeLike

from eigensieve.datasets.synthetic.result import RandomState, SyntheticData, check_range, features_at

BLOCK_SIZE = 2**20
"""Values drawn from one stream of random numbers."""


def make_planted_clusters(
    n_samples: int = 200,
    n_features: int = 1000,
    n_relevant: int = 20,
    *,
    n_clusters: int = 3,
    center_scale: float = 1.5,
    dtype: DTypeLike = np.float64,
    random_state: RandomState = None,
) -> SyntheticData:
    """Plant clusters in a few features among pure noise.

    Feature `i` of a sample in cluster `c` is ``mu_ci + N(0, 1)`` when relevant, with ``mu_ci ~ N(0, center_scale^2)``,
    and ``N(0, 1)`` otherwise. Clusters are as equal in size as possible. Samples come in random order. Relevant
    features stand at random positions, so that breaking ties by position gains nothing.

    Parameters
    ----------
    n_samples, n_features, n_relevant : int
        How many samples, features, and features that carry the clusters.
    n_clusters : int
        How many clusters.
    center_scale : float
        Standard deviation of the cluster centres, in units of the noise: how easy the problem is.
    dtype : numpy dtype
        ``numpy.float32`` or ``numpy.float64``.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData

    Notes
    -----
    The noise is drawn straight into the result, by several threads, so no second array of its size exists. The result
    depends on `random_state` alone, not on the number of threads.

    Examples
    --------
    >>> from eigensieve.datasets import make_planted_clusters
    >>> X, y, relevant = make_planted_clusters(100, 5000, 50, random_state=0)
    >>> X.shape, int(relevant.sum())
    ((100, 5000), 50)
    """
    check_range(
        "make_planted_clusters",
        n_samples=(n_samples, 1),
        n_features=(n_features, 1),
        n_relevant=(n_relevant, 0, n_features),
        n_clusters=(n_clusters, 1),
    )
    rng = np.random.default_rng(random_state)
    y = rng.permutation(np.arange(n_samples) % n_clusters)
    columns = np.sort(rng.choice(n_features, size=n_relevant, replace=False))
    centers = rng.normal(scale=center_scale, size=(n_clusters, n_relevant)).astype(dtype)
    X = _noise(rng, n_samples, n_features, dtype)
    for row, cluster in zip(X, y, strict=True):
        row[columns] += centers[cluster]
    return SyntheticData(X, y, features_at(columns, n_features))


def _noise(rng: np.random.Generator, n_samples: int, n_features: int, dtype: DTypeLike) -> np.ndarray:
    """Standard normal values, drawn in place; each block of rows has a random stream of its own."""
    X = np.empty((n_samples, n_features), dtype=dtype)
    rows = max(1, BLOCK_SIZE // n_features)
    starts = range(0, n_samples, rows)

    def fill(start: int, stream: np.random.Generator) -> None:
        stream.standard_normal(out=X[start : start + rows], dtype=X.dtype.type)

    with ThreadPoolExecutor(cpu_count()) as threads:
        for _ in threads.map(fill, starts, rng.spawn(len(starts))):
            pass
    return X
