"""How many clusters, from the spectrum of the equally weighted affinity."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigensieve.amount._edge import count_spikes

Array = NDArray[Any]

MAX_CLUSTERS = 10


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
        Of the features' marginals; see :func:`~eigensieve.amount._edge.permuted_excess`.

    Returns
    -------
    n_clusters : int
        Between 2 and the smaller of 10 and the number of samples minus 1.
    """
    dimensions = max(1, n_samples - 1 if centered else n_samples)
    spikes = count_spikes(eigenvalues, np.ones(n_features), dimensions, excess)
    return max(1, min(max(2, spikes + int(centered)), MAX_CLUSTERS, n_samples - 1))
