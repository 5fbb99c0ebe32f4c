"""Exact nearest neighbours of dense samples: a screen in single precision, then exact distances of the few that pass.

Single precision halves the cost of the matrix product, which is nearly all of the work when there are many samples.
What it may get wrong is bounded, so that a row whose screen cannot be trusted is searched again in double precision:
the neighbours are those of an exact search.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigensieve.data import ordered_map

Array = NDArray[Any]

_SPARE = 5  # candidates beyond the neighbours wanted
_CHUNK_BYTES = 1 << 25


def screened_neighbours(X: Array, n_neighbors: int) -> tuple[Array, Array]:
    """Return the nearest neighbours of every sample, itself left out, and their distances.

    Neighbours are ordered by distance; equal distances by position.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_neighbors : int
        Below the number of samples.
    """
    from eigensieve.graphs._screen_kernels import smallest, squared_distances

    n_samples, n_features = X.shape
    exact = X - X.mean(axis=0, dtype=np.float64)
    scale = float(np.abs(exact).max())
    exact /= scale if scale > 0 else 1.0
    single = exact.astype(np.float32)
    squares = np.einsum("td,td->t", exact, exact)
    # rounding of the data, of the product's sum and of the final sum, each relative to the norms involved
    slack = (n_features + 16) * float(np.finfo(np.float32).eps) * (squares + squares.max())
    width = min(n_neighbors + _SPARE, n_samples - 1)
    neighbours = np.empty((n_samples, n_neighbors), dtype=np.intp)
    distances = np.empty((n_samples, n_neighbors))
    half = squares.astype(np.float32) / 2
    rows_at_once = max(64, min(_CHUNK_BYTES // (4 * n_samples), 512))

    def search(start: int) -> None:
        rows = np.arange(start, min(start + rows_at_once, n_samples))
        product = single[rows] @ single.T
        candidates = np.empty((len(rows), width), dtype=np.intp)
        edge = np.empty(len(rows), dtype=np.float32)
        smallest(product, half, start, candidates, edge)
        found = np.empty(candidates.shape)
        squared_distances(exact, start, candidates, found)
        order = np.lexsort((candidates, found))[:, :n_neighbors]
        neighbours[rows] = np.take_along_axis(candidates, order, axis=1)
        distances[rows] = np.take_along_axis(found, order, axis=1)
        # every sample that was left out is at least this far away
        bound = squares[rows] + 2.0 * edge - slack[rows]
        for t in rows[bound <= distances[rows, -1]] if width < n_samples - 1 else ():
            neighbours[t], distances[t] = _search_row(exact, t, n_neighbors)

    for _ in ordered_map(search, range(0, n_samples, rows_at_once)):
        pass
    return neighbours, np.sqrt(distances) * scale


def gram_neighbours(X: Array, n_neighbors: int) -> tuple[Array, Array]:
    """The same for few samples, from one matrix product in double precision."""
    centred = X - X.mean(axis=0, dtype=np.float64)
    gram = centred @ centred.T
    squares = np.diag(gram)
    found = np.maximum(squares[:, None] + squares[None, :] - 2.0 * gram, 0.0)
    np.fill_diagonal(found, np.inf)
    order = np.argsort(found, axis=1, kind="stable")[:, :n_neighbors]
    return order, np.sqrt(np.take_along_axis(found, order, axis=1))


def _search_row(X: Array, row: int, n_neighbors: int) -> tuple[Array, Array]:
    """The same for one sample, in double precision."""
    others = np.delete(np.arange(len(X)), row)
    difference = X[others] - X[row]
    found = np.einsum("cd,cd->c", difference, difference)
    order = np.lexsort((others, found))[:n_neighbors]
    return others[order], found[order]
