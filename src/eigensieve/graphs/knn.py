"""The graph of nearest neighbours among the samples, with heat or binary weights."""

import warnings
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist

from eigensieve._errors import wrong_parameter
from eigensieve._extras import require
from eigensieve._types import Array, FloatArray, IntArray
from eigensieve.data import near_zero
from eigensieve.graphs.nearest import nearest

Method = Literal["auto", "exact", "approximate"]

EXACT_LIMIT = 20_000
"""Most samples for which ``method="auto"`` finds exact neighbours."""

_COPY_LIMIT = 1 << 25  # most numbers that the search may copy
_SEARCH_WIDTH = 30
_COPIES = 1e-6  # surroundings closer than this share of the typical ones are those of exact copies


def knn_graph(
    X: Any,
    n_neighbors: int = 5,
    *,
    bandwidth: float | Literal["auto"] | None = "auto",
    method: Method = "auto",
    random_state: int | np.random.RandomState | None = 0,
    name: str = "knn_graph",
) -> csr_array:
    """Build the symmetric nearest-neighbour graph of the samples (Nie et al. 2008, equation 12), without loops.

    A_ij = exp(-||x_i - x_j||^2 / t) if x_j is among the nearest neighbours of x_i or x_i among those of x_j, else 0.
    `bandwidth` is t; "auto" takes the mean squared distance between neighbours, None makes all weights 1. "exact"
    compares all pairs, "approximate" uses pynndescent with `random_state` (the extra ``neighbors``). "auto" is exact up
    to 20,000 samples and approximate above; if pynndescent is missing, it warns and stays exact. `name` says in
    messages who asks.
    """
    n_samples = X.shape[0]
    if n_neighbors >= n_samples:
        got = f"n_neighbors={n_neighbors} for {n_samples} samples"
        raise wrong_parameter("n_neighbors", name, "be smaller than the number of samples", got, "lower n_neighbors")
    if _approximate(method, n_samples):
        neighbours, distances = _approximate_neighbours(X, n_neighbors, random_state)
    else:
        neighbours, distances = _exact_neighbours(X, n_neighbors)
    squared = np.asarray(distances, dtype=np.float64) ** 2
    values = np.ones_like(squared) if bandwidth is None else _heat(squared, bandwidth, name)
    return _joined(neighbours, values)


def local_graph(X: Array, n_neighbors: int = 5, n_around: int = 10, donors: IntArray | None = None) -> csr_array:
    """Build the symmetric nearest-neighbour graph by distances relative to the surroundings of both samples.

    Neighbours are those with the smallest d_ij / sqrt(r_i r_j), where r_i is the mean distance of sample i from its
    `n_around` nearest neighbours (non-iterative contextual dissimilarity; Jegou, Harzallah and Schmid 2007). In many
    dimensions a few samples are near neighbours of very many, and those in sparse surroundings of hardly any. Relative
    distances make up for that. All weights are 1, and there are no loops. With `donors`, the number of
    each sample's donor, neighbours are of other donors (:func:`nearest_donors`).
    """
    if donors is not None:
        return _joined(nearest_donors(X, donors, n_neighbors, n_around), np.ones((len(X), n_neighbors)))
    around = nearest(X, X, min(n_around, len(X) - 1))[1].mean(axis=1)
    around = np.maximum(around, _COPIES * around.mean())
    # The sample's own surroundings change nothing in the order of its neighbours.
    neighbours, _ = nearest(X, X, n_neighbors, around if around.any() else None)
    return _joined(neighbours, np.ones(neighbours.shape))


def nearest_donors(X: Array, donors: IntArray, n_neighbors: int, n_around: int | None = None) -> IntArray:
    """Return the nearest samples of other donors, one per donor; several where there are fewer donors than neighbours.

    Samples of the same donor are alike, and so they are no evidence that donors belong together. With `n_around`,
    distances are relative to the surroundings, as in :func:`local_graph`. -1 stands where there are no more samples of
    other donors.
    """
    numbers = np.unique(donors, return_inverse=True)[1].reshape(-1)
    squared = cdist(X, X, "sqeuclidean")
    if n_around is not None:
        around = np.sqrt(_nearest_per_donor(squared, numbers, n_around)[1])
        there = np.isfinite(around)
        mean = np.where(there, around, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        if mean.any():
            squared /= np.maximum(mean, _COPIES * mean.mean())
    return _nearest_per_donor(squared, numbers, n_neighbors)[0]


def _nearest_per_donor(squared: FloatArray, donors: IntArray, count: int) -> tuple[IntArray, FloatArray]:
    """Return the nearest samples of other donors and their values; -1 and infinity where there are no more."""
    n_donors = int(donors.max()) + 1
    each = -(-count // max(1, n_donors - 1))
    places = [_least(squared, np.flatnonzero(donors == donor), each) for donor in range(n_donors)]
    found = np.hstack(places)
    values = np.take_along_axis(squared, found, axis=1)
    values[donors[found] == donors[:, None]] = np.inf
    if found.shape[1] < count:
        found = np.pad(found, ((0, 0), (0, count - found.shape[1])))
        values = np.pad(values, ((0, 0), (0, count - values.shape[1])), constant_values=np.inf)
    order = np.argsort(values, axis=1, kind="stable")[:, :count]
    values = np.take_along_axis(values, order, axis=1)
    return np.where(np.isfinite(values), np.take_along_axis(found, order, axis=1), -1), values


def _least(squared: FloatArray, columns: IntArray, count: int) -> IntArray:
    """Return the columns with the smallest values of every row, at most `count`."""
    if len(columns) <= count:
        return np.broadcast_to(columns, (len(squared), len(columns)))
    if count == 1:
        return columns[squared[:, columns].argmin(axis=1)][:, None]
    return columns[np.argpartition(squared[:, columns], count - 1, axis=1)[:, :count]]


def _joined(neighbours: IntArray, values: FloatArray) -> csr_array:
    """Return the graph in which every sample is joined to its neighbours, in both directions."""
    rows = np.repeat(np.arange(len(neighbours)), neighbours.shape[1])
    found = neighbours.ravel() >= 0  # -1: not found by the approximate search
    at = (rows[found], neighbours.ravel()[found])
    one_way = coo_array((values.ravel()[found], at), shape=(len(neighbours), len(neighbours))).tocsr()
    graph = csr_array(one_way.maximum(one_way.T))
    graph.eliminate_zeros()
    return graph


def _approximate(method: Method, n_samples: int) -> bool:
    if method != "auto":
        return method == "approximate"
    if n_samples <= EXACT_LIMIT:
        return False
    if find_spec("pynndescent") is None:
        warnings.warn(
            f"Looking for the exact neighbours of {n_samples} samples, which is slow, because pynndescent "
            f'is not installed. Add it with: pip install "eigensieve[neighbors]"',
            UserWarning,
            stacklevel=3,
        )
        return False
    return True


def _heat(squared: FloatArray, bandwidth: float | str, name: str) -> FloatArray:
    found = squared[np.isfinite(squared)]  # infinite: not found by the approximate search
    t = float(found.mean()) if bandwidth == "auto" else float(bandwidth)
    if t == 0:  # every neighbour is an exact copy
        return np.ones_like(squared)
    values = np.exp(-squared / t)
    if not values.any():
        got = f"{t:g} for squared distances of {squared.min():g} and more"
        fix = 'use bandwidth="auto"'
        raise wrong_parameter("bandwidth", name, "not be so small that every weight vanishes", got, fix)
    return values


def _exact_neighbours(X: Any, n_neighbors: int) -> tuple[IntArray, FloatArray]:
    """Return neighbours and distances, without the sample itself; scikit-learn searches sparse and large samples."""
    if isinstance(X, np.ndarray) and X.size <= _COPY_LIMIT:
        return nearest(X, X, n_neighbors)
    from sklearn.neighbors import NearestNeighbors

    # Trees are faster in few dimensions only, but scikit-learn's "auto" takes one in many dimensions, too.
    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=-1).fit(near_zero(X))
    distances, neighbours = search.kneighbors()
    return neighbours, distances


def _approximate_neighbours(
    X: Any, n_neighbors: int, random_state: int | np.random.RandomState | None
) -> tuple[IntArray, FloatArray]:
    """Return approximate neighbours and distances, without the sample itself."""
    pynndescent = require("pynndescent", extra="neighbors")
    # A search for a handful of neighbours misses too many of them: search for more, keep the nearest.
    width = min(max(n_neighbors + 1, _SEARCH_WIDTH), X.shape[0])
    index = pynndescent.NNDescent(near_zero(X), n_neighbors=width, metric="euclidean", random_state=random_state)
    neighbours, distances = (found[:, : n_neighbors + 1] for found in index.neighbor_graph)
    itself = neighbours == np.arange(len(neighbours))[:, None]
    # A sample with many exact copies may not list itself. Its last neighbour is left out instead.
    itself[~itself.any(axis=1), -1] = True
    keep = ~itself
    shape = (len(neighbours), n_neighbors)
    return neighbours[keep].reshape(shape), distances[keep].reshape(shape)
