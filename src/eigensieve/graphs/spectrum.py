"""Degrees of a graph and the leading eigenvectors of its normalised, smoothed adjacency matrix."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, diags_array

from eigensieve._types import FloatArray

_DENSE_SAMPLES = 300
_EXTRA = 10  # further directions, so that the last ones asked for are accurate
_SWEEPS = 2  # of a polynomial of this degree:
_DEGREE = 14
_NARROW = 0.05  # smallest half width of the interval that is damped


def degrees(graph: csr_array) -> FloatArray:
    """Sum of the weights at every sample: the diagonal of D."""
    return np.asarray(graph.sum(axis=1), dtype=np.float64).reshape(-1)


def leading_eigenvectors(
    graph: csr_array, count: int, *, smoothing: float, start: FloatArray, mass: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues and eigenvectors of the smoothed graph, without the trivial one.

    With W the graph, D its degrees, w the `mass` (how many samples each node stands for, 1 by default) and
    c = `smoothing` times the mean degree per unit of mass, the matrix is

        (D + c diag(w))^(-1/2) (W + (c/sum(w)) ww') (D + c diag(w))^(-1/2).

    Its trivial eigenvector (D + c diag(w))^(1/2) 1, with eigenvalue 1, says nothing about the samples. In a graph of
    several components that is not smoothed the further eigenvectors of eigenvalue 1 tell them apart, and are kept. At
    smoothing 0 every sample needs an edge. For more than 300 samples the search begins at `start`, the points that
    the graph joins.
    """
    q = graph.shape[0]
    d = degrees(graph)
    w = np.ones(q) if mass is None else mass
    share = smoothing * d.sum() / w.sum()
    inverse_root = 1.0 / np.sqrt(d + share * w)
    trivial = np.sqrt(d + share * w)
    trivial /= np.linalg.norm(trivial)
    if q <= _DENSE_SAMPLES or count > q // 4:
        complete = w * inverse_root
        whole = graph.toarray() * np.multiply.outer(inverse_root, inverse_root)
        whole += share / w.sum() * np.multiply.outer(complete, complete)
        whole -= 2.0 * np.multiply.outer(trivial, trivial)
        values, basis = np.linalg.eigh(whole)
        return values[::-1][:count], basis[:, ::-1][:, :count]
    scaled = csr_array(diags_array(inverse_root) @ graph @ diags_array(inverse_root)).astype(np.float32)
    complete, trivial = (np.sqrt(share / w.sum()) * w * inverse_root).astype(np.float32), trivial.astype(np.float32)

    def apply(G: FloatArray) -> FloatArray:
        # Eigenvalues lie in [-1, 1]: this puts the trivial one, 1, below all others.
        return scaled @ G + np.multiply.outer(complete, complete @ G) - 2.0 * np.multiply.outer(trivial, trivial @ G)

    return _filtered(apply, _first_block(start, count + _EXTRA), count)


def _first_block(points: FloatArray, width: int) -> FloatArray:
    """Return Chebyshev polynomials of the coordinates, those of degree 1 first: the same for any order of samples."""
    points = points[:, np.abs(points).max(axis=0) > 0][:, :width]
    angles = np.arccos(np.clip(points / np.abs(points).max(axis=0), -1.0, 1.0))
    degrees = range(1, -(-width // angles.shape[1]) + 1)
    return np.hstack([np.cos(degree * angles) for degree in degrees])[:, :width].astype(np.float32)


def _filtered(apply: Callable[[FloatArray], FloatArray], G: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return leading eigenpairs by subspace iteration with Chebyshev polynomials.

    T_m((a - c) / e) is small for eigenvalues a in [-1, edge] = [c - e, c + e] and grows fast above. The edge is the
    smallest Ritz value of the block (Zhou and Saad 2007).
    """
    G = np.linalg.qr(G)[0]
    for _ in range(_SWEEPS):
        image = apply(G)
        edge = float(np.linalg.eigvalsh(np.asarray(G.T @ image, dtype=np.float64))[0])
        e, c = np.float32(max((edge + 1.0) / 2.0, _NARROW)), np.float32((edge - 1.0) / 2.0)
        before, now = G, (image - c * G) / e
        for _ in range(_DEGREE - 1):
            before, now = now, (apply(now) - c * now) * (2.0 / e) - before
        G = np.linalg.qr(now)[0]
    values, inner = np.linalg.eigh(np.asarray(G.T @ apply(G), dtype=np.float64))
    return values[::-1][:count], G.astype(np.float64) @ inner[:, ::-1][:, :count]
