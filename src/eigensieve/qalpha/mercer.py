"""Mercer kernels between features, V_ij = k(m_i, m_j), and mapped features with these inner products, V = Phi Phi'.

Kernel Q-alpha (2005, section 5; 2004, section 2) needs only inner products of mapped features. With any factor Phi
(features x dimensions) of V it is Q-alpha on the rows of Phi: A = Phi' diag(w) Phi and Q = Phi'E. So every solver can
be used, and the update of E, which the papers print as E R^-1, is the correct D_alpha V E R^-1.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.data import DataMatrix

_COPIES = 4  # arrays of the kernel's size that the exact factorisation holds at once
_ALIKE = 1e-10  # features whose normalised kernel is below this for all pairs have nothing to do with each other
_NEGATIVE = 1e-8  # eigenvalues below minus this share of the largest are not rounding


KernelFunction = Callable[[FloatArray, FloatArray], FloatArray]

KERNELS = ("linear", "poly", "rbf", "sections", "precomputed")


@dataclass(frozen=True)
class KernelSettings:
    """How features are mapped; see the parameters of :class:`KernelQAlphaSelector`."""

    kernel: str | Callable[..., Any] = "poly"
    degree: int = 2
    coef0: float = 0.0
    gamma: float = 1.0
    section_size: int = 8
    normalize: str = "center"
    spectrum: str = "standard"
    n_components: int | None = None


def kernel_function(settings: KernelSettings) -> KernelFunction:
    """Return the kernel as a function of two sets of features, given as columns (samples x features)."""
    kernel = settings.kernel
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
    """V of a kernel function and standardised data. Any number of columns costs one pass. `targets` (samples x targets)
    are vectors that the kernel maps like features; they come after the features."""

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


@dataclass(frozen=True)
class Factor:
    """A factor of V: mapped features in rows. The error is trace(V - Phi Phi') / trace(V). V - Phi Phi' is positive
    semidefinite, so no eigenvalue and no entry of V is off by more than this share of V's trace."""

    phi: FloatArray
    error: float


def map_features(
    raw: DataMatrix, settings: KernelSettings, indicators: FloatArray | None, rng: np.random.Generator
) -> Factor:
    """Return the mapped features of raw data, and the mapped class indicators after them."""
    matrix: FeatureKernel
    if settings.kernel == "precomputed":
        matrix = GivenKernel(np.asarray(raw.take(np.arange(raw.n_features)), dtype=np.float64))
    else:
        matrix = ComputedKernel(raw.standardized(settings.normalize), kernel_function(settings), indicators)
    if settings.spectrum == "laplacian":
        return monomial_factor(matrix, settings)
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = matrix if settings.normalize == "none" else UnitKernel(matrix)
        if settings.n_components is None:
            return exact_factor(matrix)
        return nystroem_factor(matrix, settings.n_components, rng)


def exact_factor(kernel: FeatureKernel) -> Factor:
    """Factor V by its eigenvectors. Raise if V is too large for memory or not positive semidefinite."""
    n = kernel.n_features
    _check_memory(n**2, f"kernel matrix of {n:,} features")
    V = kernel.columns(np.arange(n))
    _check_symmetric(V)
    _check_some_alike(V)
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    if values[0] < -_NEGATIVE * max(values[-1], 0.0) or values[-1] <= 0:
        raise _not_semidefinite(f"its eigenvalues go from {values[0]:.3g} to {values[-1]:.3g}")
    kept = values > 1e-14 * values[-1]
    return Factor(vectors[:, kept] * np.sqrt(values[kept]), 0.0)


def monomial_factor(kernel: FeatureKernel, settings: KernelSettings) -> Factor:
    """Map features to the kernel's own coordinates, samples or products of `degree` samples: a Laplacian needs them."""
    name = settings.kernel
    coordinates = name in ("linear", "sections") or (name == "poly" and not settings.coef0)
    if not coordinates or settings.n_components is not None or not isinstance(kernel, ComputedKernel):
        raise ValueError(
            "The 'spectrum' parameter of KernelQAlphaSelector must be 'standard', unless the kernel has coordinates: "
            "'linear', 'sections', or 'poly' with coef0=0, without n_components. A Laplacian depends on the "
            "coordinates, and other kernels give inner products only. Use one of these kernels, or "
            "spectrum='standard'."
        )
    n_samples, degree = kernel.data.n_samples, 1 if name == "linear" else settings.degree
    step = settings.section_size if name == "sections" else n_samples
    sections = [slice(start, start + step) for start in range(0, n_samples, step)]
    _check_memory(kernel.n_features * len(sections) * min(step, n_samples) ** degree, "table of mapped features")
    features = np.hstack([kernel.data.take(np.arange(kernel.data.n_features)), kernel.targets]).astype(np.float64)
    phi = np.vstack([_products(features[rows], degree) for rows in sections]).T
    if name == "poly":
        phi *= settings.gamma ** (degree / 2)
    if settings.normalize != "none":
        size = np.linalg.norm(phi, axis=1, keepdims=True)
        phi = np.divide(phi, size, out=np.zeros_like(phi), where=size > 0)
    return Factor(phi, 0.0)


def _products(columns: FloatArray, degree: int) -> FloatArray:
    """Return the products of all `degree` rows, (rows^degree, columns): their inner products are powers."""
    out = columns
    for _ in range(degree - 1):
        out = (out[:, None] * columns).reshape(-1, columns.shape[1])
    return out


def _check_some_alike(V: FloatArray) -> None:
    """Refuse a kernel that is diagonal within rounding: all choices are equally good, and rounding would decide."""
    size = np.sqrt(np.maximum(np.diag(V), 0.0))
    alive = size > 0
    likeness = np.abs(V[np.ix_(alive, alive)]) / np.outer(size[alive], size[alive])
    np.fill_diagonal(likeness, 0.0)
    if len(likeness) > 1 and likeness.max() < _ALIKE:
        raise ValueError(
            "The kernel of KernelQAlphaSelector finds no two features alike: all normalised values k(i, j) are below "
            f"{_ALIKE:g}, so that every choice is as good as any other. Use normalize='center', a lower gamma or "
            "another kernel."
        )


def check_likeness(phi: FloatArray, span: FloatArray) -> None:
    """Refuse mapped features that have nothing to do with the span (of the classes) but rounding."""
    size = np.linalg.norm(phi, axis=1)
    if np.max(np.linalg.norm(phi @ span, axis=1)[size > 0] / size[size > 0], initial=0.0) < _ALIKE:
        raise ValueError(
            "The kernel of KernelQAlphaSelector finds no feature that is like the classes: all normalised values are "
            f"below {_ALIKE:g}, so that every choice is as good as any other. Use normalize='center', or another "
            "kernel."
        )


def nystroem_factor(kernel: FeatureKernel, n_components: int, rng: np.random.Generator) -> Factor:
    """Factor V approximately from `n_components` of its columns. Randomly pivoted Cholesky in blocks: columns are drawn
    with probability proportional to the rest of the diagonal. Phi Phi' is Nystroem's approximation for the columns
    drawn. It never exceeds V, and the rest of the diagonal sums to the trace of the error."""
    n = kernel.n_features
    missing = kernel.diagonal().copy()
    total = float(missing.sum())
    if missing.min() < -_NEGATIVE * abs(missing).max() or total <= 0:
        raise _not_semidefinite(f"its diagonal goes down to {missing.min():.3g}")
    phi = np.empty((n, 0))
    floor = 1e-12 * float(missing.max())
    while phi.shape[1] < min(n_components, n) and missing.max() > floor:
        wanted = min(max(8, n_components // 8), n_components - phi.shape[1])
        chance = np.maximum(missing, 0.0)
        drawn = min(wanted, int(np.count_nonzero(chance)))
        pivots = np.sort(rng.choice(n, size=drawn, replace=False, p=chance / chance.sum()))
        residual = kernel.columns(pivots) - phi @ phi[pivots].T
        core = residual[pivots]
        values, vectors = np.linalg.eigh((core + core.T) / 2)
        if values[0] < -_NEGATIVE * max(float(missing.max()), values[-1]) * len(pivots):
            raise _not_semidefinite(f"a part of it has an eigenvalue of {values[0]:.3g}")
        kept = values > 1e-12 * values[-1]
        new = residual @ (vectors[:, kept] / np.sqrt(values[kept]))
        phi = np.hstack([phi, new])
        missing = missing - np.sum(new**2, axis=1)
        missing[pivots] = 0.0
        if missing.min() < -1e-6 * total / n:
            raise _not_semidefinite(f"what its columns explain exceeds its diagonal by {-missing.min():.3g}")
    return Factor(phi, max(0.0, float(missing.sum())) / total)


def _check_symmetric(V: FloatArray) -> None:
    gap = float(np.abs(V - V.T).max())
    if not gap <= 1e-8 * float(np.abs(V).max()):
        raise ValueError(
            "The kernel of KernelQAlphaSelector must be symmetric, k(a, b) = k(b, a). Got values that differ by "
            f"{gap:.3g} instead."
        )


def _not_semidefinite(evidence: str) -> ValueError:
    return ValueError(
        "The kernel of KernelQAlphaSelector must be positive semidefinite, an inner product of mapped features: "
        f"{evidence}. Use another kernel or other kernel parameters, or clip the negative eigenvalues of a "
        "precomputed one."
    )


def _check_memory(numbers: int, of_what: str) -> None:
    need, available = _COPIES * 8 * numbers, _available_memory()
    if need > available:
        raise MemoryError(
            f"The {of_what} takes {need / 2**30:,.1f} GB to factor, and {available / 2**30:,.1f} GB are free. Select "
            "among fewer features, or, with spectrum='standard', set the 'n_components' parameter of "
            "KernelQAlphaSelector (for example to 500) for Nystroem's approximation, whose error is reported."
        )


def _available_memory() -> float:
    """Return the free bytes of this machine, or 4 GB if the system does not tell."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 4.0 * 2**30
