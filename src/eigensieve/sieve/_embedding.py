"""The samples' neighbour graph and its leading eigenvectors, kept from hiding in a few odd samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from eigensieve.graphs import degrees, knn_graph

Array = NDArray[Any]

N_NEIGHBORS = 5
SMOOTHING = 0.3
"""Weight of the complete graph mixed in, in mean degrees a sample."""

_DENSE_SAMPLES = 300


def clearest_embedding(layouts: Sequence[Array], n_columns: int) -> Array:
    """Embed the samples by the graph of the layout that falls into clusters best.

    The sum of the leading eigenvalues is k minus the smallest normalised cut of the graph into k parts (relaxed): the
    larger, the fewer edges run between clusters. The first layout is kept when none does better.

    Parameters
    ----------
    layouts : sequence of ndarray of shape (n_samples, n_coordinates)
    n_columns : int
        Below the number of samples.

    Returns
    -------
    Q : ndarray of shape (n_samples, n_columns)
    """
    graded = [_embedding(points, n_columns) for points in layouts]
    return max(graded, key=lambda pair: pair[1])[0]


def graph_embedding(points: Array, n_columns: int) -> Array:
    """Embed the samples by the leading non-trivial eigenvectors of their smoothed neighbour graph.

    W is the 5-nearest-neighbour graph of `points`, c its mean degree times 0.3, and Q holds the leading eigenvectors of

        (D + cI)^(-1/2) (W + (c/q) 11') (D + cI)^(-1/2)

    after the trivial one, centred and made orthonormal. Without the complete graph's small share (regularised spectral
    clustering) a handful of samples that are each other's only neighbours owns an eigenvector at eigenvalue one.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
    n_columns : int
        Below the number of samples.

    Returns
    -------
    Q : ndarray of shape (n_samples, n_columns)
        Orthonormal columns that sum to zero.
    """
    return _embedding(points, n_columns)[0]


def _embedding(points: Array, n_columns: int) -> tuple[Array, float]:
    n_samples = len(points)
    graph = knn_graph(points, min(N_NEIGHBORS, n_samples - 1), weights="binary")
    values, vectors = _smoothed_eigenvectors(graph, n_columns)
    return np.linalg.qr(vectors - vectors.mean(axis=0))[0], float(values.sum())


def _smoothed_eigenvectors(graph: csr_array, count: int) -> tuple[Array, Array]:
    q = graph.shape[0]
    d = degrees(graph)
    share = SMOOTHING * d.mean()
    inverse_root = 1.0 / np.sqrt(d + share)
    trivial = np.sqrt(d + share)
    trivial /= np.linalg.norm(trivial)

    def matmat(V: Array) -> Array:
        scaled = V * inverse_root[:, None] if V.ndim == 2 else V * inverse_root
        mixed = graph @ scaled + (share / q) * scaled.sum(axis=0)
        mixed = mixed * inverse_root[:, None] if V.ndim == 2 else mixed * inverse_root
        # Eigenvalues lie in [-1, 1]: this puts the trivial one, 1, below all others.
        return np.asarray(mixed - 2.0 * np.multiply.outer(trivial, trivial @ V))

    if q <= _DENSE_SAMPLES or count > q // 4:
        values, vectors = np.linalg.eigh(matmat(np.eye(q)))
        return values[::-1][:count], vectors[:, ::-1][:, :count]
    operator = LinearOperator((q, q), matvec=matmat, matmat=matmat, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(q)
    values, vectors = eigsh(operator, k=count, which="LA", v0=start, tol=1e-4, ncv=min(q - 1, 2 * count + 20))
    order = np.argsort(-values)
    return values[order], vectors[:, order]
