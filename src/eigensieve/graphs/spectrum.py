"""Degrees of a graph and the leading eigenvectors of its normalised, smoothed adjacency matrix."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from eigensieve._types import FloatArray

_DENSE_SAMPLES = 300


def degrees(graph: csr_array) -> FloatArray:
    """Sum of the weights at every sample: the diagonal of D."""
    return np.asarray(graph.sum(axis=1), dtype=np.float64).reshape(-1)


def leading_eigenvectors(graph: csr_array, count: int, *, smoothing: float) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues and eigenvectors of the smoothed graph, without the trivial one.

    With W the graph, D its degrees and c = `smoothing` times its mean degree, the matrix is

        (D + cI)^(-1/2) (W + (c/q) 11') (D + cI)^(-1/2).

    Its trivial eigenvector (D + cI)^(1/2) 1, with eigenvalue 1, says nothing about the samples. In a graph of several
    components that is not smoothed the further eigenvectors of eigenvalue 1 tell them apart, and are kept.

    Parameters
    ----------
    graph : csr_array of shape (n_samples, n_samples)
        Symmetric, non-negative.
    count : int
        Below the number of samples.
    smoothing : float
        Weight of the complete graph that is mixed in, in mean degrees per sample. At 0 every sample needs an edge.

    Returns
    -------
    values : ndarray of shape (count,)
        Decreasing.
    vectors : ndarray of shape (n_samples, count)
        Orthonormal columns, the same on every run.
    """
    q = graph.shape[0]
    d = degrees(graph)
    share = smoothing * d.mean()
    inverse_root = 1.0 / np.sqrt(d + share)
    trivial = np.sqrt(d + share)
    trivial /= np.linalg.norm(trivial)
    if q <= _DENSE_SAMPLES or count > q // 4:
        whole = (graph.toarray() + share / q) * np.multiply.outer(inverse_root, inverse_root)
        whole -= 2.0 * np.multiply.outer(trivial, trivial)
        values, basis = np.linalg.eigh(whole)
        return values[::-1][:count], basis[:, ::-1][:, :count]

    def matmat(V: FloatArray) -> FloatArray:
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
