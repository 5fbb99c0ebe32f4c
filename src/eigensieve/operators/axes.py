"""Principal axes of the samples under feature weights, as accurate as coordinates need them."""

from collections.abc import Callable

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.data import DataMatrix
from eigensieve.operators.affinity import StandardAffinity, leading_eigenvectors

_WHOLE = 300  # samples up to which all eigenvectors are computed, because some are not faster
_FORMED = 2_000  # samples up to which the affinity may be formed
_IN_MEMORY = 2**23  # entries of the features with weight that are copied out
_EXTRA = 10  # further directions, so that the last ones asked for are accurate
_BLOCK = 20  # samples that enter the start at a time
_ITERATIONS = 2
_ROUNDING = 100.0  # times the rounding error of the affinity: shorter directions are not returned


def principal_axes(
    data: DataMatrix, weights: FloatArray, count: int, *, exact: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues and eigenvectors of A = sum_i w_i m_i m_i', w >= 0; of low rank, fewer.
    The start is made of columns of A, so the order of samples or features changes only rounding. `exact` computes all
    eigenvectors of up to 2,000 samples."""
    q = data.n_samples
    if q > _FORMED:
        values, vectors = leading_eigenvectors(StandardAffinity(data), weights, count, rtol=1e-2, max_blocks=6)
        return np.maximum(values, 0.0), vectors
    if exact:
        return _whole(data.gram(weights), count)
    carrying = np.flatnonzero(weights)
    if len(carrying) * q > _IN_MEMORY or q <= max(_WHOLE, 4 * _ITERATIONS * (count + _EXTRA)):
        return leading_axes(data.gram(weights), count)
    Z = (data.take(carrying) * np.sqrt(weights[carrying])).astype(np.float32, copy=False)
    diagonal = np.einsum("ti,ti->t", Z, Z)
    return _iterated(diagonal, lambda G: Z @ (Z.T @ G), lambda rows: Z @ Z[rows].T, count)


def leading_axes(A: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading eigenvalues and eigenvectors of a positive semidefinite matrix in memory."""
    if len(A) <= _WHOLE:
        return _whole(A, count)
    A = A.astype(np.float32)
    return _iterated(np.diag(A), lambda G: A @ G, lambda rows: A[:, rows], count)


def _whole(A: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    values, vectors = np.linalg.eigh(np.asarray(A, dtype=np.float64))
    return np.maximum(values[::-1][:count], 0.0), vectors[:, ::-1][:, :count]


def _iterated(
    diagonal: FloatArray,
    apply: Callable[[FloatArray], FloatArray],
    columns: Callable[[IntArray], FloatArray],
    count: int,
) -> tuple[FloatArray, FloatArray]:
    """Return leading eigenpairs by subspace iteration from a pivoted Cholesky factor. The last product Y = A Q gives A
    about Y (Q'Y)^-1 Y', Nystroem's approximation, which is better than Q (Q'Y) Q'."""
    image: FloatArray = _start(diagonal, columns, min(len(diagonal), count + _EXTRA)).astype(np.float32)
    for _ in range(_ITERATIONS):
        Q = np.linalg.qr(image)[0]
        image = apply(Q)
    shift = float(np.finfo(np.float32).eps) * max(float(np.linalg.norm(image)), float(np.finfo(np.float32).tiny))
    Y = image.astype(np.float64) + shift * Q
    inner = Q.T.astype(np.float64) @ Y
    values, basis = np.linalg.eigh((inner + inner.T) / 2.0)
    kept = values > shift / 2.0
    vectors, lengths, _ = np.linalg.svd(Y @ (basis[:, kept] / np.sqrt(values[kept])), full_matrices=False)
    found = lengths[:count] ** 2 - shift
    real = found > _ROUNDING * shift
    return found[real], vectors[:, :count][:, real]


def _start(diagonal: FloatArray, columns: Callable[[IntArray], FloatArray], count: int) -> FloatArray:
    """Return L with L L' near A: block by block from the samples of which the least is explained so far."""
    left = np.asarray(diagonal, dtype=np.float64).copy()
    L = np.empty((len(left), 0))
    while L.shape[1] < count:
        rows = np.argsort(-left, kind="stable")[: min(_BLOCK, count - L.shape[1])]
        C = columns(rows) - L @ L[rows].T
        values, vectors = np.linalg.eigh(np.asarray(C[rows], dtype=np.float64))
        kept = values > 1e-6 * max(float(np.max(diagonal)), np.finfo(np.float64).tiny)
        if not kept.any():
            break
        new = C @ (vectors[:, kept] / np.sqrt(values[kept]))
        L = np.hstack([L, new])
        left = np.maximum(left - np.sum(new**2, axis=1), 0.0)
        left[rows] = 0.0
    return L if L.shape[1] else np.eye(len(left), 1)
