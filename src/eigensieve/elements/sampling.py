"""Random subsets of the samples on which candidates are compared."""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array
from eigensieve.elements._sampling_numba import matching_gains
from eigensieve.elements.kernel import MaskedKernel
from eigensieve.elements.state import Column, SelectionState

SKETCH = 4
"""A residual with more columns than this is replaced by this many random mixtures of them."""


def draw_rows(n: int, size: int, rng: np.random.Generator) -> Array:
    """Return `size` of n rows, drawn without replacement and in order, or all of them if there are no more."""
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))


def sketch(residual: Array, rng: np.random.Generator) -> Array:
    """Return at most `SKETCH` columns Z with E|Z'c|^2 = |R'c|^2 for every c."""
    m = residual.shape[1]
    if m <= SKETCH:
        return residual
    return residual @ (rng.standard_normal((m, SKETCH)) / np.sqrt(SKETCH))


@dataclass
class SampledData:
    """Single-precision copies of some samples, features as rows, for the compiled gains."""

    rows: Array
    XT: Array
    B: Array

    @classmethod
    def draw(cls, state: SelectionState, size: int, rng: np.random.Generator) -> "SampledData":
        """Draw `size` samples without replacement."""
        rows = draw_rows(state.X.shape[0], size, rng)
        return cls(rows, np.ascontiguousarray(state.XT32[:, rows]), state.B32)

    def residuals(self, residual: Array) -> Array:
        """Return the residual on these samples, centred; each of its columns becomes a row."""
        part = residual[self.rows]
        return np.ascontiguousarray((part - part.mean(axis=0)).T, dtype=np.float32)

    def sums(self, kernel: MaskedKernel, column: Column) -> Array:
        """Return the column's sums over its features on these samples."""
        features = column.features
        return kernel.terms(self.XT[features], self.B[column.basis, features][:, None]).sum(axis=0)

    def gains(self, kernel: MaskedKernel, basis: int, features: Array, sums: Array, residuals: Array) -> Array:
        """Return the gain per sample of adding each feature to the basis vector's column."""
        gains = np.empty(features.size, np.float32)
        matching_gains(
            kernel.kind, np.float32(kernel.gamma), kernel.degree, np.float32(kernel.coef0),
            self.XT, features, self.B[basis, features], sums, residuals, gains,
        )  # fmt: skip
        return gains / self.rows.size
