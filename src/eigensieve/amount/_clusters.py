"""How many clusters, from the spectrum of the equally weighted affinity."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MAX_CLUSTERS = 10


def noise_edge(n_features: int, n_dimensions: int) -> float:
    """Largest eigenvalue to expect of M'M for independent features of unit norm.

    The upper edge of the Marchenko-Pastur law, (sqrt(n / d) + 1)^2 for n features in d dimensions, plus two standard
    deviations of the largest eigenvalue's fluctuation (Tracy-Widom).
    """
    root_n, root_d = np.sqrt(n_features), np.sqrt(n_dimensions)
    edge = (root_n + root_d) ** 2
    fluctuation = (root_n + root_d) * (1 / root_n + 1 / root_d) ** (1 / 3)
    return float((edge + 2 * fluctuation) / n_dimensions)


def count_clusters(eigenvalues: Array, n_features: int, n_samples: int, *, centered: bool) -> int:
    """Return how many clusters the leading eigenvalues of M'M show above noise.

    c clusters of centred data span c - 1 directions; uncentred data has one direction more, its mean.

    Parameters
    ----------
    eigenvalues : ndarray
        Leading eigenvalues of M'M for unit columns.
    n_features : int
        Number of features that vary.
    n_samples : int
    centered : bool

    Returns
    -------
    n_clusters : int
        Between 2 and the smaller of 10 and the number of samples minus 1.
    """
    dimensions = max(1, n_samples - 1 if centered else n_samples)
    spikes = int(np.count_nonzero(np.asarray(eigenvalues) > noise_edge(n_features, dimensions)))
    return max(1, min(max(2, spikes + int(centered)), MAX_CLUSTERS, n_samples - 1))
