"""The samples' neighbour graph and its leading eigenvectors, kept from hiding in a few odd samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from eigensieve._types import Array
from eigensieve.graphs import degrees, knn_graph

N_NEIGHBORS = 5
SMOOTHING = 0.3
"""Weight of the complete graph mixed in, in mean degrees a sample."""

_DENSE_SAMPLES = 300


@dataclass(frozen=True)
class GraphSpectrum:
    """The leading non-trivial eigenpairs of the samples' smoothed neighbour graph.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
        The layout that the graph was made from.
    eigenvalues : ndarray
        Decreasing, below 1. k minus the sum of the first k is the smallest normalised cut into k parts (relaxed).
    vectors : ndarray of shape (n_samples, len(eigenvalues))
    """

    points: Array
    eigenvalues: Array
    vectors: Array

    def embedding(self, n_columns: int) -> Array:
        """Return Q, the first eigenvectors centred and made orthonormal."""
        leading = self.vectors[:, :n_columns]
        return np.asarray(np.linalg.qr(leading - leading.mean(axis=0))[0])


def graph_spectrum(points: Array, count: int) -> GraphSpectrum:
    """Return the `count` leading eigenpairs of the samples' smoothed neighbour graph, after the trivial one.

    W is the 5-nearest-neighbour graph of `points`, c its mean degree times 0.3; the matrix is

        (D + cI)^(-1/2) (W + (c/q) 11') (D + cI)^(-1/2).

    Without the complete graph's small share (regularised spectral clustering) a handful of samples that are each
    other's only neighbours owns an eigenvector at eigenvalue one.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
    count : int
        Below the number of samples.
    """
    return GraphSpectrum(points, *_smoothed_eigenpairs(_neighbours(points), count))


def graph_eigenvalues(points: Array, count: int) -> Array:
    """Return the eigenvalues of :func:`graph_spectrum` alone."""
    return _smoothed_eigenpairs(_neighbours(points), count, vectors=False)[0]


def clearest_graph(layouts: Sequence[Array], count: int, n_clusters: int) -> GraphSpectrum:
    """Return the spectrum of the graph of the layout that falls into `n_clusters` clusters best: that of the least cut.

    The first layout is kept when none does better.
    """
    spectra = [graph_spectrum(points, count) for points in layouts]
    return max(spectra, key=lambda spectrum: float(spectrum.eigenvalues[:n_clusters].sum()))


def _neighbours(points: Array) -> csr_array:
    return knn_graph(points, min(N_NEIGHBORS, len(points) - 1), weights="binary")


def _smoothed_eigenpairs(graph: csr_array, count: int, *, vectors: bool = True) -> tuple[Array, Array]:
    q = graph.shape[0]
    d = degrees(graph)
    share = SMOOTHING * d.mean()
    inverse_root = 1.0 / np.sqrt(d + share)
    trivial = np.sqrt(d + share)
    trivial /= np.linalg.norm(trivial)
    if q <= _DENSE_SAMPLES or count > q // 4:
        whole = (graph.toarray() + share / q) * np.multiply.outer(inverse_root, inverse_root)
        whole -= 2.0 * np.multiply.outer(trivial, trivial)
        if not vectors:
            return np.linalg.eigvalsh(whole)[::-1][:count], np.empty((q, 0))
        values, basis = np.linalg.eigh(whole)
        return values[::-1][:count], basis[:, ::-1][:, :count]

    def matmat(V: Array) -> Array:
        scaled = V * inverse_root[:, None] if V.ndim == 2 else V * inverse_root
        mixed = graph @ scaled + (share / q) * scaled.sum(axis=0)
        mixed = mixed * inverse_root[:, None] if V.ndim == 2 else mixed * inverse_root
        # Eigenvalues lie in [-1, 1]: this puts the trivial one, 1, below all others.
        return np.asarray(mixed - 2.0 * np.multiply.outer(trivial, trivial @ V))

    operator = LinearOperator((q, q), matvec=matmat, matmat=matmat, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(q)
    values, basis = eigsh(operator, k=count, which="LA", v0=start, tol=1e-4, ncv=min(q - 1, 2 * count + 20))
    order = np.argsort(-values)
    return values[order], basis[:, order]
