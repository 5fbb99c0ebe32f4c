"""Mercer kernels between features: V_ij = k(m_i, m_j) (2005, section 5; 2004, section 2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.data import DataMatrix

KernelFunction = Callable[[FloatArray, FloatArray], FloatArray]

KERNELS = ("linear", "poly", "rbf", "sections", "precomputed")


@dataclass(frozen=True)
class KernelSettings:
    """Parameters of the built-in kernels; see :class:`KernelQAlphaSelector`."""

    degree: int = 2
    coef0: float = 0.0
    gamma: float = 1.0
    section_size: int = 8


def kernel_function(kernel: str | Callable[..., Any], settings: KernelSettings) -> KernelFunction:
    """Return the kernel as a function of two sets of features, given as columns (samples x features)."""
    if callable(kernel):
        given = kernel
        return lambda A, B: _checked(given(A.T, B.T), A.shape[1], B.shape[1])
    if kernel == "linear":
        return lambda A, B: A.T @ B
    if kernel == "poly":
        return lambda A, B: (settings.gamma * (A.T @ B) + settings.coef0) ** settings.degree
    if kernel == "rbf":
        return lambda A, B: _gaussian(A, B, settings.gamma)
    return lambda A, B: _sections(A, B, settings)


def _checked(values: Any, n_rows: int, n_columns: int) -> FloatArray:
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (n_rows, n_columns):
        raise ValueError(
            "The 'kernel' function given to KernelQAlphaSelector must return one value for every pair of rows of its "
            f"two arguments, shape {(n_rows, n_columns)}. Got shape {values.shape} instead."
        )
    return values


def _gaussian(A: FloatArray, B: FloatArray, gamma: float) -> FloatArray:
    squared = np.sum(A**2, axis=0)[:, None] + np.sum(B**2, axis=0)[None, :] - 2 * (A.T @ B)
    return np.exp(-gamma * np.maximum(squared, 0.0))


def _sections(A: FloatArray, B: FloatArray, settings: KernelSettings) -> FloatArray:
    """Sum over sections of consecutive samples of (inner product within the section)^degree."""
    total = np.zeros((A.shape[1], B.shape[1]))
    for start in range(0, len(A), settings.section_size):
        here = slice(start, start + settings.section_size)
        total += (A[here].T @ B[here]) ** settings.degree
    return total


class FeatureKernel(Protocol):
    """V, known by its diagonal and its columns."""

    n_features: int

    def diagonal(self) -> FloatArray:
        """Return V_ii."""

    def columns(self, indices: IntArray) -> FloatArray:
        """Return V[:, indices]."""


class ComputedKernel:
    """V of a kernel function and standardised data. Any number of columns costs one pass.

    `targets` (samples x targets) are vectors that the kernel maps like features; they come after the features.
    """

    def __init__(self, data: DataMatrix, function: KernelFunction, targets: FloatArray | None = None) -> None:
        self.data = data
        self.function = function
        self.targets = np.empty((data.n_samples, 0)) if targets is None else targets
        self.n_features = data.n_features + self.targets.shape[1]

    def diagonal(self) -> FloatArray:
        def own(Z: FloatArray) -> FloatArray:
            small = [Z[:, i : i + 64] for i in range(0, Z.shape[1], 64)]
            return np.concatenate([np.diag(self.function(group, group)) for group in small])

        blocks = self.data.map_blocks(lambda part: own(np.asarray(part.toarray(), dtype=np.float64)))
        return np.concatenate([*blocks, *([own(self.targets)] if self.targets.size else [])])

    def columns(self, indices: IntArray) -> FloatArray:
        features = indices < self.data.n_features
        chosen = np.empty((self.data.n_samples, len(indices)))
        chosen[:, features] = self.data.take(indices[features])
        chosen[:, ~features] = self.targets[:, indices[~features] - self.data.n_features]
        blocks = self.data.map_blocks(lambda part: self.function(np.asarray(part.toarray(), dtype=np.float64), chosen))
        return np.concatenate([*blocks, *([self.function(self.targets, chosen)] if self.targets.size else [])])


class GivenKernel:
    """V as the user gives it."""

    def __init__(self, V: FloatArray) -> None:
        self.V = V
        self.n_features = len(V)

    def diagonal(self) -> FloatArray:
        return np.diag(self.V).astype(np.float64)

    def columns(self, indices: IntArray) -> FloatArray:
        return np.asarray(self.V[:, indices], dtype=np.float64)


class UnitKernel:
    """V_ij / sqrt(V_ii V_jj): mapped features of unit norm. Features that map to zero keep zero."""

    def __init__(self, kernel: FeatureKernel) -> None:
        self.kernel = kernel
        self.n_features = kernel.n_features
        squared = kernel.diagonal()
        self.alive = squared > 1e-14 * max(float(squared.max()), 0.0)
        self.scale = np.zeros(self.n_features)
        np.divide(1.0, np.sqrt(np.abs(squared)), out=self.scale, where=self.alive)

    def diagonal(self) -> FloatArray:
        return self.alive.astype(np.float64)

    def columns(self, indices: IntArray) -> FloatArray:
        return self.scale[:, None] * self.kernel.columns(indices) * self.scale[indices]
