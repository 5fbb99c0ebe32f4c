"""Where a solver starts: the leading eigenvectors of the equally weighted affinity, or random directions."""

import numpy as np
import scipy.linalg

from eigensieve._types import Array
from eigensieve.data import one_blas_thread
from eigensieve.operators import Affinity
from eigensieve.qalpha.problem import Problem

_EXTRA = 2  # columns beyond those wanted: they make the block method settle in fewer passes


@one_blas_thread()
def leading_eigenvectors(
    affinity: Affinity, weights: Array, count: int, *, rtol: float = 1e-2, max_blocks: int = 3
) -> tuple[Array, Array]:
    """Return the `count` eigenvalues of L(w) largest in magnitude, and their eigenvectors.

    Block Lanczos with full orthogonalisation: one pass a block, from a fixed start, so that the answer is
    the same on every run. With few samples the matrix is simply applied to the unit vectors, in one pass.

    Parameters
    ----------
    affinity : Affinity
    weights : ndarray of shape (n_features,)
    count : int
        At most the number of samples.
    rtol : float, default=1e-2
        Residual wanted, relative to the largest eigenvalue.
    max_blocks : int, default=3
        Passes to spend at most.

    Returns
    -------
    values : ndarray of shape (count,)
    vectors : ndarray of shape (n_samples, count)
    """
    q = affinity.n_samples
    width = min(q, count + _EXTRA)
    if q <= 4 * width or q <= 200:
        return _ritz(np.eye(q), affinity.matrix(weights), count)[:2]
    V = scipy.linalg.qr(np.random.default_rng(0).standard_normal((q, width)), mode="economic")[0]
    LV = np.empty((q, 0))
    for _ in range(max_blocks):
        image = affinity.apply(weights, V[:, LV.shape[1] :])
        LV = np.hstack([LV, image])
        values, vectors, images = _ritz(V, LV, count)
        residual = np.linalg.norm(images - vectors * values, axis=0).max()
        if residual <= rtol * np.abs(values).max() or V.shape[1] + width > q:
            break
        V = np.hstack([V, orthonormal_extension(V, image)])
    return values, vectors


def orthonormal_extension(V: Array, Y: Array) -> Array:
    """Return orthonormal columns, as many as Y has, orthogonal to those of V and spanning what Y adds to them.

    Done twice: the second round removes what rounding left of V, and replaces columns that Y did not determine.
    """
    for _ in range(2):
        Y = scipy.linalg.qr(Y - V @ (V.T @ Y), mode="economic")[0]
    return Y


def reorthonormalised(V: Array) -> Array:
    """Return an orthonormal basis of the columns of V, which are so already but for small errors.

    V (V'V)^(-1/2) by Cholesky's factor: for columns so close to orthonormal as accurate as a QR decomposition, and
    several times faster.
    """
    factor = np.linalg.cholesky(V.T @ V)
    return np.asarray(V @ np.linalg.inv(factor).T)


def _ritz(V: Array, LV: Array, count: int) -> tuple[Array, Array, Array]:
    """Rayleigh-Ritz in the span of V: values, vectors and L times the vectors."""
    small = V.T @ LV
    values, turn = np.linalg.eigh((small + small.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], V @ turn[:, order], LV @ turn[:, order]


def starting_embedding(problem: Problem, init: str | Array, rng: np.random.Generator) -> Array:
    """Return an orthonormal Q (n_samples, n_clusters): "eigen", "random", or the user's own."""
    if isinstance(init, str) and init == "eigen":
        # a third block costs more passes than the steps it saves
        return leading_eigenvectors(problem.affinity, problem.uniform_weights(), problem.n_clusters, max_blocks=2)[1]
    if isinstance(init, str):
        directions = rng.standard_normal((problem.n_samples, problem.n_clusters))
    else:
        directions = np.asarray(init, dtype=np.float64)
    Q: Array = np.linalg.qr(directions)[0]
    return Q
