"""Degrees, the normalised adjacency matrix and its leading eigenvectors."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, eigsh

Vector = NDArray[np.float64]


def degrees(graph: csr_array) -> Vector:
    """Sum of the weights at every sample: the diagonal of D."""
    return np.asarray(graph.sum(axis=1), dtype=np.float64).reshape(-1)


def normalized(graph: csr_array) -> csr_array:
    """D^-1/2 A D^-1/2; samples without edges keep an empty row. Its eigenvalues lie in [-1, 1]."""
    d = degrees(graph)
    inverse_root = np.zeros_like(d)
    np.divide(1.0, np.sqrt(d), out=inverse_root, where=d > 0)
    D = diags_array(inverse_root)
    return csr_array(D @ graph @ D)


def leading_eigenvectors(graph: csr_array, n_vectors: int) -> tuple[Vector, NDArray[np.float64]]:
    """Largest eigenvalues and eigenvectors of the normalised graph, the trivial one left out.

    The trivial eigenvector D^1/2 1 (eigenvalue 1) says nothing about the samples and is projected away. In a
    graph of several components the further eigenvectors of eigenvalue 1 tell them apart, and are kept.

    Parameters
    ----------
    graph : csr_array of shape (n_samples, n_samples)
        Symmetric, non-negative.
    n_vectors : int
        From 1 to n_samples - 1.

    Returns
    -------
    values : ndarray of shape (n_vectors,)
        Decreasing.
    vectors : ndarray of shape (n_samples, n_vectors)
        Orthonormal columns; each has a positive sum of cubes, so that signs are the same on every run.
    """
    n_samples = graph.shape[0]
    if not 1 <= n_vectors < n_samples:
        raise ValueError(f"n_vectors must be between 1 and {n_samples - 1}. Got {n_vectors} instead.")
    N = normalized(graph)
    trivial = np.sqrt(degrees(graph))
    trivial /= np.linalg.norm(trivial)

    def matmat(V: NDArray[np.float64]) -> NDArray[np.float64]:
        # Shifted by 1 so that the trivial direction (0) lies below everything else (in [0, 2]).
        projected = V - np.multiply.outer(trivial, trivial @ V)
        product = N @ projected + projected
        return product - np.multiply.outer(trivial, trivial @ product)

    if n_samples <= 64 or n_vectors > n_samples // 4:
        values, vectors = np.linalg.eigh(matmat(np.eye(n_samples)))
    else:
        operator = LinearOperator((n_samples, n_samples), matvec=matmat, matmat=matmat, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(n_samples)
        values, vectors = eigsh(operator, k=n_vectors, which="LA", v0=start)
    order = np.argsort(-values, kind="stable")[:n_vectors]
    vectors = vectors[:, order]
    signs = np.sign((vectors**3).sum(axis=0))
    return values[order] - 1.0, vectors * np.where(signs == 0, 1.0, signs)
