"""Reduced sets (Burges): a kernel expansion approximated with few whole vectors, selected or constructed.

The distance in feature space between Psi = sum_i alpha_i phi(b_i) and Psi' = sum_j beta_j phi(z_j) is

    |Psi - Psi'|^2 = alpha' K_bb alpha - 2 alpha' K_bz beta + beta' K_zz beta

and is minimised over beta in closed form, beta = K_zz^-1 K_zb alpha, and over z by iteration.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from eigensieve._progress import Progress, silent
from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.elements.kernel import LINEAR, RBF, MaskedKernel

JITTER = 1e-10


def best_weights(kernel: MaskedKernel, B: FloatArray, alpha: FloatArray, Z: FloatArray) -> FloatArray:
    """Return beta = K_zz^-1 K_zb alpha."""
    K = kernel.full(Z, Z)
    K[np.diag_indices_from(K)] += JITTER * max(float(np.trace(K)) / len(K), np.finfo(float).tiny)
    return cho_solve(cho_factor(K), kernel.full(Z, B) @ alpha)


def select_vectors(
    kernel: MaskedKernel, B: FloatArray, alpha: FloatArray, n_vectors: int, progress: Progress = silent
) -> IntArray:
    """Return the vectors that, one after another, bring Psi' closest to Psi: orthogonal matching pursuit. Vector j
    gains (residual . phi_j)^2 over the squared length that phi_j adds to the span. A pivoted Cholesky factor of K_bb
    keeps both."""
    K = kernel.full(B, B)
    correlation = K @ alpha
    outside = np.diag(K).copy()
    floor = 1e-9 * outside.max()
    factors: list[FloatArray] = []
    chosen: list[int] = []
    for _ in range(n_vectors):
        free = outside > floor
        free[chosen] = False
        gains = np.where(free, (correlation**2).sum(axis=1) / np.where(free, outside, 1.0), -1.0)
        j = int(np.argmax(gains))
        if gains[j] < 0:
            break
        row = K[:, j].copy()
        for factor in factors:
            row -= factor * factor[j]
        row /= np.sqrt(outside[j])
        correlation = correlation - np.outer(row, correlation[j] / np.sqrt(outside[j]))
        outside = outside - row**2
        factors.append(row)
        chosen.append(j)
        progress(f"{len(chosen)} vectors")
    return np.array(chosen)


def construct_vectors(
    kernel: MaskedKernel, B: FloatArray, alpha: FloatArray, n_vectors: int, *, n_starts: int,
    max_iter: int, rng: np.random.Generator, progress: Progress = silent,
    shape_vector: Callable[[FloatArray], FloatArray] | None = None,
) -> tuple[FloatArray, int]:  # fmt: skip
    """Return vectors z_1, z_2, ... each the best for the rest of Psi, and the most iterations of a start.

    For the RBF kernel z is the fixed point z = sum_i a_i k(b_i, z) b_i / sum_i a_i k(b_i, z). For the other kernels
    (residual . phi(z))^2 / k(z, z) is raised by gradient ascent. alpha has one column per output. The best of
    `n_starts` random starts is kept, after `shape_vector`, which may make it sparse.
    """
    Z = np.empty((0, B.shape[1]))
    n_iter = 0
    for _ in range(n_vectors):
        beta = best_weights(kernel, B, alpha, Z) if len(Z) else np.empty((0, alpha.shape[1]))
        V = np.vstack([B, Z])
        a = np.vstack([alpha, -beta])
        # the unit mixture of the outputs along which the residual is largest
        a = a @ np.linalg.eigh(a.T @ kernel.full(V, V) @ a)[1][:, -1]
        probabilities = np.abs(a[: len(B)]) + np.finfo(float).tiny
        starts = rng.choice(len(B), size=n_starts, p=probabilities / probabilities.sum())
        found = [_one_vector(kernel, V, a, B[s], max_iter) for s in starts]
        n_iter = max(n_iter, *(iterations for _, iterations in found))
        z = max((one for one, _ in found), key=lambda one: _quality(kernel, V, a, one))
        if shape_vector is not None:
            z = shape_vector(z)
        Z = np.vstack([Z, z])
        progress(f"{len(Z)} vectors")
    return Z, n_iter


def refine_vectors(
    kernel: MaskedKernel, B: FloatArray, alpha: FloatArray, Z: FloatArray, max_iter: int, free: BoolArray | None = None
) -> tuple[FloatArray, int]:
    """Move all vectors together to lower |Psi - Psi'|^2, by L-BFGS (Burges' second phase); return them and the
    iterations. At beta(z) the gradient with respect to z is that with beta fixed. Entries that are not `free` stay."""
    shape = Z.shape
    free = np.ones(shape, dtype=bool) if free is None else free

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        z = Z.copy()
        z[free] = flat
        beta = best_weights(kernel, B, alpha, z)
        value = -float((beta * (kernel.full(z, B) @ alpha)).sum())
        gradient = 2.0 * (
            _kernel_gradient(kernel, z, z, beta @ beta.T) - _kernel_gradient(kernel, z, B, beta @ alpha.T)
        )
        return value, gradient[free]

    result = minimize(value_and_gradient, Z[free], jac=True, method="L-BFGS-B", options={"maxiter": max_iter})
    refined = Z.copy()
    refined[free] = result.x
    return refined, max(1, int(result.nit))


def _kernel_gradient(kernel: MaskedKernel, Z: FloatArray, V: FloatArray, W: FloatArray) -> FloatArray:
    """Return the rows sum_i W_ji dk(z_j, v_i)/dz_j, first argument only."""
    if kernel.kind == LINEAR:
        return W @ V
    if kernel.kind == RBF:
        S = W * kernel.full(Z, V)
        return 2.0 * kernel.gamma * (S @ V - S.sum(axis=1)[:, None] * Z)
    inner = (kernel.gamma * (Z @ V.T) + kernel.coef0) ** (kernel.degree - 1)
    return kernel.gamma * kernel.degree * ((W * inner) @ V)


def _quality(kernel: MaskedKernel, V: FloatArray, a: FloatArray, z: FloatArray) -> float:
    own = float(kernel.full(z[None], z[None])[0, 0])
    return float(kernel.full(z[None], V)[0] @ a) ** 2 / own if own > 0 else 0.0


def _one_vector(
    kernel: MaskedKernel, V: FloatArray, a: FloatArray, z: FloatArray, max_iter: int
) -> tuple[FloatArray, int]:
    """Return the vector reached from z, and the iterations it took."""
    if kernel.kind != RBF:
        return _ascend(kernel, V, a, z, max_iter)
    squares = (V * V).sum(axis=1)
    last = 0.0
    new = z
    for iteration in range(1, max_iter + 1):
        w = a * np.exp(-kernel.gamma * np.maximum(squares - 2.0 * (V @ new) + new @ new, 0.0))
        total = float(w.sum())
        if abs(total) <= max(last, 1e-8 * float(np.abs(w).sum())):
            return z, iteration  # it no longer rises, or it is undefined because the weights cancel
        z, last = new, abs(total)
        new = w @ V / total
        if np.linalg.norm(new - z) <= 1e-6 * (1e-12 + np.linalg.norm(z)):
            break
    return z, iteration


def _ascend(kernel: MaskedKernel, V: FloatArray, a: FloatArray, z: FloatArray, max_iter: int) -> tuple[FloatArray, int]:
    def negative(flat: FloatArray) -> tuple[float, FloatArray]:
        one = flat[None]
        dot = float(kernel.full(one, V)[0] @ a)
        own = float(kernel.full(one, one)[0, 0])
        if own <= 0:
            return 0.0, np.zeros_like(flat)
        d_dot = _kernel_gradient(kernel, one, V, a[None])[0]
        d_own = 2.0 * _kernel_gradient(kernel, one, one, np.ones((1, 1)))[0]
        return -(dot**2) / own, -(2 * dot * d_dot * own - dot**2 * d_own) / own**2

    result = minimize(negative, z, jac=True, method="L-BFGS-B", options={"maxiter": max_iter})
    return result.x, max(1, int(result.nit))
