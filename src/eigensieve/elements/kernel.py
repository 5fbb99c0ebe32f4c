"""The masked kernel: a kernel that sees only some features of each basis vector.

Every supported kernel is a scalar function of a sum over features,

    rbf:     exp(-gamma * sum_i (x_i - b_i)^2)
    poly:    (gamma * sum_i x_i b_i + coef0)^degree
    linear:  sum_i x_i b_i
    bump:    max(0, 1 - gamma / 4 * sum_i (x_i - b_i)^2)^4

so adding one feature to a masked column needs the running sum and one new term. That costs O(samples), whatever the
number of features (Avidan, section 4; the masking matrix is equation 7).

The bump is bent like the rbf kernel at its top and ends at a distance of 2 / sqrt(gamma). No SVM has it. It takes three
products where the exponential takes ten, on any processor.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import FloatArray

RBF, POLY, LINEAR, BUMP = range(4)
KIND_NAMES = ("rbf", "poly", "linear")
"""The kernels that an SVM may have."""
LARGEST_DEGREE = 1000
"""Compiled code multiplies so often at most."""


@dataclass(frozen=True)
class MaskedKernel:
    """A kernel and its parameters."""

    kind: int  # `RBF`, `POLY`, `LINEAR` or `BUMP`
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    @classmethod
    def from_svc(cls, svc: Any) -> "MaskedKernel":
        """Read the kernel of a fitted `SVC`; raise a ValueError if it is not supported."""
        check_kernel_name(svc.kernel)
        kind = KIND_NAMES.index(svc.kernel)
        return cls(kind, float(svc._gamma), int(svc.degree), float(svc.coef0))

    def check(self) -> None:
        """Raise a ValueError for parameters that no SVC has, as a damaged file may hold them."""
        numbers = isinstance(self.gamma, float) and isinstance(self.coef0, float) and isinstance(self.degree, int)
        if not numbers or self.kind not in (RBF, POLY, LINEAR, BUMP) or not 0 <= self.degree <= LARGEST_DEGREE:
            raise ValueError("The parameters of the kernel are damaged.")
        if not (0 <= self.gamma < np.inf and np.isfinite(self.coef0)):
            raise ValueError("The parameters of the kernel are not finite.")

    @property
    def name(self) -> str:
        """The kernel's name, for an SVM's the one in scikit-learn."""
        return (*KIND_NAMES, "bump")[self.kind]

    @property
    def is_radial(self) -> bool:
        """Whether the kernel depends on the distance."""
        return self.kind in (RBF, BUMP)

    def scaled(self, factor: float) -> "MaskedKernel":
        """Return the kernel with `gamma` multiplied by `factor`."""
        return MaskedKernel(self.kind, self.gamma * factor, self.degree, self.coef0)

    def terms(self, x: FloatArray, b: FloatArray | float) -> FloatArray:
        """Return each feature's term of the sum, (x_i - b_i)^2 or x_i b_i."""
        return (x - b) ** 2 if self.is_radial else x * b

    def finish(self, sums: FloatArray) -> FloatArray:
        """Return the kernel's values from the sums over features."""
        if self.kind == RBF:
            return np.exp(-self.gamma * sums)
        if self.kind == POLY:
            return (self.gamma * sums + self.coef0) ** self.degree
        if self.kind == BUMP:
            return np.maximum(1.0 - 0.25 * self.gamma * sums, 0.0) ** 4
        return sums

    def full(self, X: FloatArray, B: FloatArray) -> FloatArray:
        """Return the unmasked kernel matrix (samples x basis vectors)."""
        return self.finish(self.sums(X, B))

    def sums(self, X: FloatArray, B: FloatArray) -> FloatArray:
        """Return the sums over all features (samples x basis vectors)."""
        if self.is_radial:  # far from zero the squares would hide the distances
            middle = B.mean(axis=0)
            X, B = X - middle, B - middle
        sums = X @ B.T
        if self.is_radial:
            sums *= -2.0
            sums += (X * X).sum(axis=1)[:, None]
            sums += (B * B).sum(axis=1)[None, :]
            np.maximum(sums, 0.0, out=sums)
        return sums


def check_kernel_name(kernel: Any) -> None:
    """Raise a ValueError unless the kernel is supported."""
    if not isinstance(kernel, str) or kernel not in KIND_NAMES:
        raise ValueError(
            f"The 'kernel' parameter of the SVC must be one of {{'rbf', 'poly', 'linear'}} for its elements to be "
            f"selected. Got {kernel!r} instead. Fit an SVC with one of these kernels."
        )
