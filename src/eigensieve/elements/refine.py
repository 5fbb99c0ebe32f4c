"""Refined elements: all values are moved together by L-BFGS, as Burges' second phase moves reduced-set vectors.

They lower the squared distance of f(x) = c + sum_j beta_j k(x, z_j) to the full machine's decision values. At their
least-squares solution, the gradient with respect to the values is the same as with the weights beta held fixed.
"""

import numpy as np
from scipy.optimize import minimize

from eigensieve._progress import Progress, silent
from eigensieve._types import FloatArray
from eigensieve.elements.expansion import ElementExpansion, element_owners, solve_weights
from eigensieve.elements.kernel import LINEAR, RBF, MaskedKernel
from eigensieve.elements.state import Column

STEPS = 10
"""Steps of L-BFGS. Further steps lower the distance on these samples, but hardly on others."""


def refine_values(
    kernel: MaskedKernel, X: FloatArray, B: FloatArray, columns: list[Column], targets: FloatArray, ridge: float,
    *, max_iter: int = STEPS, progress: Progress = silent,
) -> FloatArray:  # fmt: skip
    """Return a copy of the basis vectors B with the entries of `columns` moved to match the targets (samples x
    outputs)."""
    shape = ElementExpansion.build(kernel, B, columns, np.zeros((len(columns), 1)), np.zeros(1))
    problem = _Matching(shape, X, targets, ridge)
    unit = problem.features.std(axis=0)
    unit[unit == 0] = 1.0
    steps = iter(range(1, max_iter + 2))

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = problem.value_and_gradient(flat * unit)
        return value, gradient * unit

    result = minimize(
        value_and_gradient, shape.values / unit, jac=True, method="L-BFGS-B", options={"maxiter": max_iter},
        callback=lambda _: progress(f"refinement {next(steps)} of at most {max_iter}"),
    )  # fmt: skip
    refined = np.array(B, dtype=np.float64)
    refined[element_owners(columns), shape.features] = result.x * unit
    return refined


class _Matching:
    """The distance to the targets, as a function of the elements' values."""

    def __init__(self, shape: ElementExpansion, X: FloatArray, targets: FloatArray, ridge: float) -> None:
        self.shape = shape
        self.kernel = shape.kernel
        self.features = np.asarray(X[:, shape.features], dtype=np.float64)
        self.member = shape.membership()
        self.column = np.repeat(np.arange(shape.n_columns), shape.lengths)
        self.targets = targets
        self.ridge = ridge
        self.scale = max(float(((targets - targets.mean(axis=0)) ** 2).sum()), np.finfo(float).tiny)

    def value_and_gradient(self, values: FloatArray) -> tuple[float, FloatArray]:
        sums = self.kernel.terms(self.features, values) @ self.member
        K = self.shape.finish(sums)
        weights, intercept = solve_weights(K, self.targets, self.ridge)
        residual = self.targets - K @ weights - intercept
        n = len(K)
        value = float((residual**2).sum()) + n * self.ridge * float((weights**2).sum())
        pull = (-2.0 * (residual @ weights.T) * self._slope(sums, K))[:, self.column]
        # dS/dz of an element: -2 (x - z) for squared differences, x for products
        change = -2.0 * (self.features - values) if self.kernel.kind == RBF else self.features
        return value / self.scale, np.einsum("te,te->e", pull, change) / self.scale

    def _slope(self, sums: FloatArray, K: FloatArray) -> FloatArray:
        """Return the derivative of the columns K with respect to their sums over features."""
        kernel, factors = self.kernel, self.shape.factors
        if kernel.kind == RBF:
            return -kernel.gamma * factors * K
        if kernel.kind == LINEAR:
            return np.broadcast_to(factors, K.shape)
        inner = kernel.gamma * factors * sums + kernel.coef0
        return kernel.degree * kernel.gamma * factors * inner ** (kernel.degree - 1)
