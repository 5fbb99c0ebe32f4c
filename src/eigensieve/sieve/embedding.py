"""The embedding of one round: coordinates of the samples, their neighbour graph, its leading eigenvectors, how many."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.graphs import knn_graph, leading_eigenvectors
from eigensieve.operators import StandardAffinity
from eigensieve.operators import leading_eigenvectors as affinity_eigenvectors

EXACT_SAMPLES = 1_000
"""Most samples for which the samples x samples affinity is formed and decomposed whole."""

N_COORDINATES = 100
"""Coordinates that are kept. Distances in them are those of the weighted data, up to its weakest directions."""

MAX_CLUSTERS = 40
SEEN_ALONE = 10
"""Most clusters that the graph alone may show. Further ones must show in the features' spectrum, too."""

N_NEIGHBORS = 5
SMOOTHING = 0.3
"""Weight of the complete graph that is mixed in, in mean degrees per sample."""

_IN_MEMORY = 2**22  # most entries of the features with weight that are copied out
_CLOUDS = 3
_ONE_CLOUD_SAMPLES = 300  # with more samples the eigenvalues of a cloud hardly differ from draw to draw


@dataclass(frozen=True)
class Coordinates:
    """Principal coordinates of the samples.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
        Rows are samples; distances between rows approximate those between samples on sqrt(w_i)-scaled features.
    eigenvalues : ndarray of shape (n_coordinates,)
        Of A = sum_i w_i m_i m_i', decreasing.
    """

    points: Array
    eigenvalues: Array


def sample_coordinates(
    data: DataMatrix, weights: Array, affinity: Array | None = None, count: int = N_COORDINATES
) -> Coordinates:
    """Return U diag(lambda)^(1/2) for the leading eigenvectors U of A = sum_i w_i m_i m_i'.

    This costs one pass and O(n q^2) for few samples, and a dozen passes of O(n q r) for many, with r = `count`.
    `affinity` is A, if it is known already.
    """
    count = min(count, data.n_samples)
    if data.n_samples <= EXACT_SAMPLES:
        values, vectors = np.linalg.eigh(sample_affinity(data, weights) if affinity is None else affinity)
        values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    else:
        values, vectors = affinity_eigenvectors(StandardAffinity(data), weights, count, rtol=1e-2, max_blocks=6)
    values = np.maximum(values, 0.0)
    return Coordinates(vectors * np.sqrt(values), values)


def sample_affinity(data: DataMatrix, weights: Array) -> Array:
    """Return A = sum_i w_i m_i m_i'. If few features have weight, only these are read."""
    carrying = np.flatnonzero(weights)
    if len(carrying) > min(data.n_features // 10, _IN_MEMORY // data.n_samples):
        return data.gram(weights)
    Z = np.asarray(data.take(carrying), dtype=np.float64)
    return np.asarray((Z * weights[carrying]) @ Z.T)


def shortened(coordinates: Coordinates, unit: float) -> Array:
    """Return the points with long directions made shorter.

    On sqrt(w_i)-scaled features direction j has the length sqrt(lambda_j), and one large group of near-copies decides
    which samples are close. Here direction j gets the length sqrt(log(1 + lambda_j / unit)). Directions with lambda_j
    below the unit keep their proportions, and those above it hardly grow.
    """
    values = coordinates.eigenvalues
    lengths = np.sqrt(np.log1p(values / unit))
    roots = np.sqrt(values)
    return np.asarray(coordinates.points * np.divide(lengths, roots, out=np.zeros_like(roots), where=roots > 0))


def mean_above(eigenvalues: Array, edge: float) -> float:
    """Return the mean of the eigenvalues above the noise edge, or the edge if there are none."""
    above = eigenvalues[eigenvalues > edge]
    return float(above.mean()) if above.size else edge


@dataclass(frozen=True)
class GraphSpectrum:
    """The leading non-trivial eigenpairs of the samples' smoothed neighbour graph.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
        The layout that the graph is made from.
    eigenvalues : ndarray
        Decreasing, below 1. k minus the sum of the first k is the smallest normalised cut into k parts (relaxed).
    vectors : ndarray of shape (n_samples, len(eigenvalues))
    directions : bool
        Whether samples are compared by the direction in which their point lies, not by its place.
    """

    points: Array
    eigenvalues: Array
    vectors: Array
    directions: bool = False

    def embedding(self, n_columns: int) -> Array:
        """Return Q, the first eigenvectors centred and made orthonormal."""
        leading = self.vectors[:, :n_columns]
        return np.asarray(np.linalg.qr(leading - leading.mean(axis=0))[0])


def graph_spectrum(
    points: Array, count: int, n_neighbors: int = N_NEIGHBORS, *, directions: bool = False
) -> GraphSpectrum:
    """Return the `count` leading eigenpairs of the samples' smoothed neighbour graph, after the trivial one.

    The graph joins each sample to its `n_neighbors` nearest neighbours in `points`. The complete graph is mixed in with
    a small share (regularised spectral clustering; see :func:`~eigensieve.graphs.spectrum.leading_eigenvectors`).
    Without it, a handful of samples that are each other's only neighbours has an eigenvector of its own, with
    eigenvalue one.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
    count : int
        Below the number of samples.
    n_neighbors : int, default=5
    directions : bool, default=False
        Compare samples by the direction in which their point lies: by the cosine of the angle between them.
    """
    found = _eigenpairs(points, count, n_neighbors=n_neighbors, directions=directions)
    return GraphSpectrum(points, *found, directions)


def clearest_graph(layouts: Sequence[Array], count: int, n_clusters: int) -> GraphSpectrum:
    """Return the graph spectrum of the layout that falls into `n_clusters` clusters best, with the least cut.

    The first layout is kept if none is better.
    """
    spectra = [graph_spectrum(points, count) for points in layouts]
    return max(spectra, key=lambda spectrum: float(spectrum.eigenvalues[:n_clusters].sum()))


def unit_rows(points: Array) -> Array:
    """Return points divided by their length; a point at 0 stays there."""
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 0))


def _eigenpairs(
    points: Array, count: int, *, vectors: bool = True, n_neighbors: int = N_NEIGHBORS, directions: bool = False
) -> tuple[Array, Array]:
    if directions:
        points = unit_rows(points)
    graph = knn_graph(points, min(n_neighbors, len(points) - 1), weights="binary")
    return leading_eigenvectors(graph, count, smoothing=SMOOTHING, vectors=vectors)


def excess_over_cloud(spectrum: GraphSpectrum, count: int) -> Array:
    """Return by how much the graph's leading eigenvalues exceed those of normal clouds of the same lengths.

    A graph of samples that lie along one long direction has large eigenvalues without any cluster. So the samples are
    compared with as many normal points that have the same deviation in every coordinate. d_j is the difference of the
    j-th eigenvalues, for the largest of three clouds (of one cloud for more than 300 samples). k clear clusters show by
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
    largest = np.max(
        [_eigenpairs(cloud, count, vectors=False, directions=spectrum.directions)[0] for cloud in clouds], axis=0
    )
    return np.asarray(spectrum.eigenvalues[:count] - largest)


def columns_looked_at(n_samples: int) -> int:
    """Return how many eigenvectors are looked at when their number is not given."""
    return min(max(1, n_samples - 2), max(2, min(MAX_CLUSTERS, n_samples // 4)))


def columns_given(spectrum: GraphSpectrum, columns: int) -> int:
    """Return k, or k - 1 if the k-th eigenvector does not stand out: k - 1 of them separate k clusters."""
    return columns - int(columns > 1 and excess_over_cloud(spectrum, columns)[-1] <= 0)


def clear_columns(excess: Array) -> int | None:
    """Return the c with the largest (d_1 + ... + d_c) / sqrt(c), or None if the graph shows no number of clusters.

    Every further column adds its excess to what the scores show. It also adds to their noise, which grows like sqrt(c):
    a feature without structure scores 0 with a standard deviation of sqrt(2c) / q. A column no longer pays when d_c
    falls below half the mean of those before. The answer is None if no sum is positive, so that there are no clusters.
    It is also None if every column pays, as for neighbourhoods along a manifold, such as images of turning objects.
    """
    gains = np.cumsum(excess) / np.sqrt(np.arange(1, len(excess) + 1))
    best = int(gains.argmax())
    return best + 1 if gains[best] > 0 and best + 1 < len(excess) else None
