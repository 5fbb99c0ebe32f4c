"""The whole machine, unmasked, evaluated by matrix products."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigensieve.elements.kernel import MaskedKernel

_CHUNK = 2**20
"""Kernel values held at a time: 8 MB."""


@dataclass(frozen=True, eq=False)
class FullExpansion:
    """f(x) = K(x, B) alpha + intercept in chunks of samples.

    The same numbers as libsvm's loop over support vectors, an order of magnitude sooner.

    Parameters
    ----------
    kernel : MaskedKernel
    basis : ndarray of shape (n_basis, n_features)
    alpha : ndarray of shape (n_basis, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    """

    kernel: MaskedKernel
    basis: NDArray
    alpha: NDArray
    intercept: NDArray

    def decision(self, X: NDArray) -> NDArray:
        """Return f (samples x outputs), in the precision of the basis."""
        out = np.empty((X.shape[0], self.intercept.size))
        step = max(64, _CHUNK // max(1, self.basis.shape[0]))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            part = X[rows].astype(self.basis.dtype, copy=False)
            out[rows] = self.kernel.full(part, self.basis) @ self.alpha + self.intercept
        return out
