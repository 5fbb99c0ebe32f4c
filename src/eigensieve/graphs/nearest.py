"""Nearest neighbours among the samples: the search, and the graph with heat or binary weights.

Why the search is written by hand: CPU time against scikit-learn's ``NearestNeighbors`` (brute force; its trees are
slower beyond three dimensions) for five neighbours, one thread: 20 against 28 ms for 2,000 x 100, 0.12 against 0.18 s
for 2,000 x 1,000, 1.0 against 1.6 s for 20,000 x 50 in float32. pynndescent takes 1.8 s for the last and is faster from
there on.

A matrix product in single precision chooses candidates, and only their distances are computed exactly. The error of the
product is bounded; a point whose candidates may be wrong is compared with all targets.
"""

import warnings
from importlib.util import find_spec
from typing import Literal

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist

from eigensieve._errors import wrong_parameter
from eigensieve._extras import require
from eigensieve._types import FloatArray, IntArray, MatrixLike
from eigensieve.data import near_zero, ordered_map

Method = Literal["auto", "exact", "approximate"]

EXACT_LIMIT = 20_000
"""Most samples for which ``method="auto"`` finds exact neighbours."""

_COPY_LIMIT = 1 << 25  # most numbers that the search may copy
_SEARCH_WIDTH = 30
_COPIES = 1e-6  # surroundings closer than this share of the typical ones are those of exact copies

_SPARE = 5  # candidates beyond the neighbours wanted
_ROWS = 256
_COMPILED = 1 << 19  # pairs of a point and a target: fewer take less time than compiling the loops


def knn_graph(
    X: MatrixLike,
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


def local_graph(X: FloatArray, n_neighbors: int = 5, n_around: int = 10, donors: IntArray | None = None) -> csr_array:
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


def nearest_donors(X: FloatArray, donors: IntArray, n_neighbors: int, n_around: int | None = None) -> IntArray:
    """Return the nearest samples of other donors, one per donor; several where there are fewer donors than neighbours.

    Samples of the same donor are alike, and so they are no evidence that donors belong together. With `n_around`,
    distances are relative to the surroundings, as in :func:`local_graph`. -1 stands where there are no more samples of
    other donors.
    """
    numbers = np.unique(donors, return_inverse=True)[1].reshape(-1)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))
    squared = _squared_distances(X[order])
    if n_around is not None:
        around = np.sqrt(_least_per_donor(squared, ends, n_around)[1])
        there = np.isfinite(around)
        mean = np.where(there, around, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        if mean.any():
            squared /= np.maximum(mean, _COPIES * mean.mean())[:, None]
    donor, least = _least_per_donor(squared, ends, n_neighbors)
    first, last = np.append(0, ends)[donor], ends[donor] - 1
    found = np.full(donor.shape, -1)
    for step in range(int(np.diff(ends, prepend=0).max())):
        rows = np.minimum(first + step, last)
        same = (found < 0) & (squared[rows, np.arange(len(X))[:, None]] == least)
        found[same] = rows[same]
    neighbours = np.empty_like(found)
    neighbours[order] = np.append(order, -1)[found]
    return neighbours


def _squared_distances(X: FloatArray) -> FloatArray:
    Z = X - X.mean(axis=0, dtype=np.float64)
    half = np.einsum("td,td->t", Z, Z) / 2.0
    squared = Z @ (-2.0 * Z.T)
    squared += 2.0 * half[:, None]
    squared += 2.0 * half
    return np.maximum(squared, 0.0, out=squared)


def _least_per_donor(values: FloatArray, ends: IntArray, count: int) -> tuple[IntArray, FloatArray]:
    """Return the least values of every column, from all donors but its own alike, and the donors they are from. Samples
    stand by donor, and `ends` are the places behind each. Infinity stands where there are no more."""
    each = -(-count // max(1, len(ends) - 1))
    least = np.full((max(count, len(ends) * each), len(values)), np.inf)
    for donor, (start, stop) in enumerate(zip(np.append(0, ends[:-1]), ends, strict=True)):
        some, room = values[start:stop], least[donor * each : donor * each + min(each, stop - start)]
        room[:] = some.min(axis=0) if each == 1 else np.sort(some, axis=0)[: len(room)]
        room[:, start:stop] = np.inf
    order = smallest_first(np.ascontiguousarray(least.T), count)
    return np.minimum(order // each, len(ends) - 1), np.take_along_axis(least.T, order, axis=1)


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


def _exact_neighbours(X: MatrixLike, n_neighbors: int) -> tuple[IntArray, FloatArray]:
    """Return neighbours and distances, without the sample itself; scikit-learn searches sparse and large samples."""
    if isinstance(X, np.ndarray) and X.size <= _COPY_LIMIT:
        return nearest(X, X, n_neighbors)
    from sklearn.neighbors import NearestNeighbors

    # Trees are faster in few dimensions only, but scikit-learn's "auto" takes one in many dimensions, too.
    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=-1).fit(near_zero(X))
    distances, neighbours = search.kneighbors()
    return neighbours, distances


def _approximate_neighbours(
    X: MatrixLike, n_neighbors: int, random_state: int | np.random.RandomState | None
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


def nearest(
    points: FloatArray, targets: FloatArray, n_neighbors: int, divisors: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the nearest targets of every point, and their distances.

    They are ordered by distance; equal distances by position. If both are the same array, no point is its own
    neighbour. The distances from each target are divided by the square root of its divisor, a positive number.
    """
    space = _Space(points, targets, divisors)
    screen = _Screen(space, n_neighbors)
    neighbours = np.empty((len(points), n_neighbors), dtype=np.intp)
    squared = np.empty(neighbours.shape)
    blocks = [slice(start, min(start + _ROWS, len(points))) for start in range(0, len(points), _ROWS)]
    for rows, found in zip(blocks, ordered_map(screen.search, blocks), strict=True):
        neighbours[rows], squared[rows] = found
    return neighbours, np.sqrt(squared) / space.unit


def nearest_among(points: FloatArray, targets: FloatArray, n_neighbors: int) -> IntArray:
    """Return the positions of the nearest targets of every point, as :func:`nearest` finds them."""
    return nearest(points, targets, n_neighbors)[0]


class _Space:
    """Points and targets about their mean, scaled so that no coordinate exceeds one."""

    def __init__(self, points: FloatArray, targets: FloatArray, divisors: FloatArray | None) -> None:
        self.same = points is targets
        mean = targets.mean(axis=0, dtype=np.float64)
        self.targets = targets - mean
        self.points = self.targets if self.same else points - mean
        largest = max(np.abs(self.targets).max(initial=0.0), np.abs(self.points).max(initial=0.0))
        self.unit = 1.0 / largest if largest > 0 else 1.0
        self.targets *= self.unit
        if not self.same:
            self.points *= self.unit
        self.factors = np.ones(len(targets)) if divisors is None else 1.0 / divisors

    def pairwise(self, rows: IntArray, n_neighbors: int) -> tuple[IntArray, FloatArray]:
        """Return the nearest targets of some points, and their squared distances, from all pairs."""
        values = cdist(self.points[rows], self.targets, "sqeuclidean") * self.factors
        if self.same:
            values[np.arange(len(rows)), rows] = np.inf
        order = smallest_first(values, n_neighbors)
        return order, np.take_along_axis(values, order, axis=1)


class _Screen:
    """Candidates for the neighbours, from a lower bound of the distances in single precision."""

    def __init__(self, space: _Space, n_neighbors: int) -> None:
        self.space, self.n_neighbors = space, n_neighbors
        self.compiled = len(space.points) * len(space.targets) > _COMPILED
        self.targets = space.targets.astype(np.float32)
        self.points = self.targets if space.same else space.points.astype(np.float32)
        squares = np.einsum("td,td->t", space.targets, space.targets)
        own = squares if space.same else np.einsum("td,td->t", space.points, space.points)
        # Rounding of the coordinates, of the product's sum and of the final sum, each relative to the norms involved.
        slack = (self.points.shape[1] + 20) * float(np.finfo(np.float32).eps) * (own + squares.max())
        self.half, self.own = (squares / 2).astype(np.float32), ((own - slack) / 2).astype(np.float32)
        self.factors = space.factors.astype(np.float32)
        self.width = min(n_neighbors + _SPARE, len(squares) - space.same)

    def search(self, rows: slice) -> tuple[IntArray, FloatArray]:
        """Return the nearest targets of some points, and their squared distances."""
        space = self.space
        candidates, edge = self._candidates(rows)
        values = self._distances(rows, candidates)
        order = np.lexsort((candidates, values))[:, : self.n_neighbors]
        neighbours = np.take_along_axis(candidates, order, axis=1)
        found = np.take_along_axis(values, order, axis=1)
        if self.width < len(self.targets) - space.same:  # others were left out, none of them nearer than `edge`
            doubtful = np.flatnonzero(2.0 * edge <= found[:, -1])
            if len(doubtful):
                neighbours[doubtful], found[doubtful] = space.pairwise(rows.start + doubtful, self.n_neighbors)
        return neighbours, found

    def _candidates(self, rows: slice) -> tuple[IntArray, FloatArray]:
        """Return the targets with the smallest bounds, in no order, and the largest of these bounds."""
        product = self.points[rows] @ self.targets.T
        if not self.compiled:
            values = (self.own[rows, None] + self.half - product) * self.factors
            if self.space.same:
                values[np.arange(len(values)), np.arange(rows.start, rows.stop)] = np.inf
            chosen = np.argpartition(values, self.width - 1, axis=1)[:, : self.width]
            return chosen, np.take_along_axis(values, chosen, axis=1).max(axis=1)
        from eigensieve.graphs._nearest_numba import smallest

        candidates = np.empty((len(product), self.width), dtype=np.intp)
        edge = np.empty(len(product), dtype=np.float32)
        first = rows.start if self.space.same else -len(product)
        smallest(product, self.half, self.own[rows], self.factors, first, candidates, edge)
        return candidates, edge

    def _distances(self, rows: slice, candidates: IntArray) -> FloatArray:
        """Return the squared distances of the candidates."""
        points, targets, factors = self.space.points[rows], self.space.targets, self.space.factors
        if not self.compiled:
            columns = [np.square(points - targets[column]).sum(axis=1) for column in candidates.T]
            return np.column_stack(columns) * factors[candidates]
        from eigensieve.graphs._nearest_numba import squared_distances

        values = np.empty(candidates.shape)
        squared_distances(points, targets, factors, candidates, values)
        return values


def smallest_first(values: FloatArray, count: int) -> IntArray:
    """Return the positions of the smallest values of every row, in order; equal values by position."""
    chosen = np.sort(np.argpartition(values, count - 1, axis=1)[:, :count], axis=1)
    found = np.take_along_axis(values, chosen, axis=1)
    order = np.take_along_axis(chosen, np.argsort(found, axis=1, kind="stable"), axis=1)
    # Where the last value stands more than once, the partition takes any of them.
    tied = np.count_nonzero(values <= found.max(axis=1, keepdims=True), axis=1) > count
    order[tied] = np.argsort(values[tied], axis=1, kind="stable")[:, :count]
    return order
