"""How many eigenvectors of the graph to take: those that a cloud without clusters would not have."""

import numpy as np

from eigensieve._types import Array
from eigensieve.sieve.embedding import GraphSpectrum, graph_eigenvalues

_CLOUDS = 3
_ONE_CLOUD_SAMPLES = 300  # with more samples the eigenvalues of a cloud hardly differ from draw to draw


def excess_over_cloud(spectrum: GraphSpectrum, count: int) -> Array:
    """By how much the graph's leading eigenvalues exceed those of normal clouds of the same lengths and directions.

    A graph of samples that lie along one long direction has large eigenvalues without any cluster. So the samples are
    compared with as many normal ones, coordinate for coordinate of the same deviation: d_j is the difference of the
    j-th eigenvalues, for the largest of three clouds (one for more than 300 samples). k clear clusters show in
    d_1, ..., d_(k-1) > 0. The answer is the same on every run.

    Parameters
    ----------
    spectrum : GraphSpectrum
    count : int
        At most the number of eigenvalues in `spectrum`.

    Returns
    -------
    d : ndarray of shape (count,)
    """
    rng = np.random.default_rng(0)
    deviations = spectrum.points.std(axis=0)
    n_clouds = _CLOUDS if len(spectrum.points) <= _ONE_CLOUD_SAMPLES else 1
    clouds = (rng.standard_normal(spectrum.points.shape) * deviations for _ in range(n_clouds))
    return np.asarray(spectrum.eigenvalues[:count] - np.max([graph_eigenvalues(c, count) for c in clouds], axis=0))


def clear_columns(excess: Array) -> int | None:
    """Return the c with the largest (d_1 + ... + d_c) / sqrt(c), or None when nothing ends the clusters.

    A column more adds its excess to what the scores show, and its share to their noise, which grows like sqrt(c)
    (a feature without structure scores 0 with a standard deviation of sqrt(2c) / q). The sum stops paying when d_c
    falls below half the mean of those before. None when no sum is positive, so that there are no clusters, or when it
    pays to the end: neighbourhoods along a manifold, such as images of turning objects.
    """
    gains = np.cumsum(excess) / np.sqrt(np.arange(1, len(excess) + 1))
    best = int(gains.argmax())
    return best + 1 if gains[best] > 0 and best + 1 < len(excess) else None
