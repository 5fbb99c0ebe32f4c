"""How many clusters, from the spectrum of the equally weighted affinity."""

import numpy as np

from eigensieve._types import Array

MAX_CLUSTERS = 10


def equal_noise_edge(n_features: int, n_dimensions: int, excess: float = 1.0) -> float:
    """Largest eigenvalue to expect of M'M for independent features of unit norm.

    The upper edge of the Marchenko-Pastur law, (sqrt(n / d) + 1)^2 for n features in d dimensions, plus two standard
    deviations of the largest eigenvalue's fluctuation (Tracy-Widom); its distance from the mean of the spectrum, n / d,
    is multiplied by `excess`.
    """
    root_n, root_d = np.sqrt(n_features), np.sqrt(n_dimensions)
    fluctuation = (root_n + root_d) * (1 / root_n + 1 / root_d) ** (1 / 3)
    mean = n_features / n_dimensions
    return float(mean + excess * (((root_n + root_d) ** 2 + 2 * fluctuation) / n_dimensions - mean))


def count_clusters(eigenvalues: Array, n_features: int, n_samples: int, *, centered: bool, excess: float = 1.0) -> int:
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
    excess : float, default=1.0
        Of the features' marginals; see :func:`~eigensieve.evidence.noise_edges.permuted_excess`.

    Returns
    -------
    n_clusters : int
        Between 2 and the smaller of 10 and the number of samples minus 1.
    """
    dimensions = max(1, n_samples - 1 if centered else n_samples)
    spikes = int(np.count_nonzero(np.asarray(eigenvalues) > equal_noise_edge(n_features, dimensions, excess)))
    return max(1, min(max(2, spikes + int(centered)), MAX_CLUSTERS, n_samples - 1))
