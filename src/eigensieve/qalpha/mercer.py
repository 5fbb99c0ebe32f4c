"""Mercer kernels between features, V_ij = k(m_i, m_j), and mapped features with these inner products, V = Phi Phi'.

Kernel Q-alpha (2005, section 5; 2004, section 2) needs only inner products of mapped features. With any factor Phi
(features x dimensions) of V it is Q-alpha on the rows of Phi: A = Phi' diag(w) Phi and Q = Phi'E. So every solver can
be used, and the update of E, which the papers print as E R^-1, is the correct D_alpha V E R^-1.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigensieve._errors import wrong_parameter
from eigensieve._types import FloatArray, IntArray
from eigensieve.data import DataMatrix

_COPIES = 4  # arrays of the kernel's size that the exact factorisation holds at once
_ALIKE = 1e-10  # features whose normalised kernel is below this for all pairs have nothing to do with each other
_ELSE = "use normalize='center', a lower gamma or another kernel"
_EPS = float(np.finfo(np.float64).eps)
_NEGATIVE = 1e-8  # eigenvalues below minus this share of the largest are not rounding

KernelFunction = Callable[[FloatArray, FloatArray], FloatArray]

KERNELS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "poly": ("gamma", "coef0", "degree"),
    "rbf": ("gamma",),
    "sections": ("degree", "section_size"),
    "precomputed": (),
}
"""The named kernels and their parameters."""


@dataclass(frozen=True)
class KernelSettings:
    """How features are mapped; see the parameters of :class:`KernelQAlphaSelector`."""

    kernel: str | KernelFunction = "poly"
    normalize: str = "center"
    n_components: int | None = None
    degree: int = 2
    coef0: float = 0.0
    gamma: float = 1.0
    section_size: int = 8


def kernel_function(settings: KernelSettings) -> KernelFunction:
    """Return the kernel as a function of two sets of features, given as columns (samples x features)."""
    kernel, gamma, degree, size = settings.kernel, settings.gamma, settings.degree, settings.section_size

    def called(A: FloatArray, B: FloatArray) -> FloatArray:
        assert callable(kernel)
        values, wanted = np.asarray(kernel(A.T, B.T), dtype=np.float64), (A.shape[1], B.shape[1])
        if values.shape != wanted:
            must = f"return one value for every pair of rows of its two arguments, shape {wanted}"
            raise _wrong(must, f"shape {values.shape}")
        return values

    def gaussian(A: FloatArray, B: FloatArray) -> FloatArray:
        lengths = np.sum(A**2, axis=0)[:, None] + np.sum(B**2, axis=0)
        squared = lengths - 2 * (A.T @ B)
        # A distance within rounding of the lengths is none: a feature of any scale is like itself.
        return np.exp(-gamma * np.where(squared > (10 + len(A)) * _EPS * lengths, squared, 0.0))

    def in_sections(A: FloatArray, B: FloatArray) -> FloatArray:
        parts = [slice(start, start + size) for start in range(0, len(A), size)]
        return np.sum([(A[here].T @ B[here]) ** degree for here in parts], axis=0)

    if callable(kernel):
        return called
    return {
        "linear": lambda A, B: A.T @ B,
        "poly": lambda A, B: (gamma * (A.T @ B) + settings.coef0) ** degree,
        "rbf": gaussian,
        "sections": in_sections,
    }[kernel]


@dataclass(frozen=True)
class FeatureKernel:
    """V, known by its diagonal and its columns."""

    n_features: int
    diagonal: Callable[[], FloatArray]
    columns: Callable[[IntArray], FloatArray]

    @classmethod
    def given(cls, V: FloatArray) -> "FeatureKernel":
        """V as the user gives it."""
        V = np.asarray(V, dtype=np.float64)
        return cls(len(V), lambda: np.diag(V).copy(), lambda indices: V[:, indices])

    @classmethod
    def computed(cls, data: DataMatrix, function: KernelFunction, targets: FloatArray | None = None) -> "FeatureKernel":
        """V of a kernel function and standardised data. Any number of columns costs one pass. `targets` (samples x
        targets) are vectors that the kernel maps like features; they come after the features."""
        more = np.empty((data.n_samples, 0)) if targets is None else targets

        def each(values: Callable[[FloatArray], FloatArray]) -> FloatArray:
            blocks = data.map_blocks(lambda part: values(np.asarray(part.toarray(), dtype=np.float64)))
            return np.concatenate([*blocks, values(more)] if more.size else blocks)

        def own(Z: FloatArray) -> FloatArray:
            small = [Z[:, i : i + 64] for i in range(0, Z.shape[1], 64)]
            return np.concatenate([np.diag(function(group, group)) for group in small])

        def columns(indices: IntArray) -> FloatArray:
            features = indices < data.n_features
            chosen = np.empty((data.n_samples, len(indices)))
            chosen[:, features] = data.take(indices[features])
            chosen[:, ~features] = more[:, indices[~features] - data.n_features]
            return each(lambda Z: function(Z, chosen))

        return cls(data.n_features + more.shape[1], lambda: each(own), columns)

    def unit(self) -> "FeatureKernel":
        """V_ij / sqrt(V_ii V_jj): mapped features of unit norm. Features that map to zero keep zero."""
        squared = self.diagonal()
        alive = squared > 1e-14 * max(float(squared.max()), 0.0)
        scale = np.divide(1.0, np.sqrt(np.abs(squared)), out=np.zeros(self.n_features), where=alive)
        return FeatureKernel(
            self.n_features,
            lambda: alive.astype(np.float64),
            lambda indices: scale[:, None] * self.columns(indices) * scale[indices],
        )


def map_features(
    raw: DataMatrix, settings: KernelSettings, indicators: FloatArray | None, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return Phi, the mapped features of raw data in rows and the mapped class indicators after them, and the error of
    the factor, trace(V - Phi Phi') / trace(V)."""
    if settings.kernel == "precomputed":
        matrix = FeatureKernel.given(raw.take(np.arange(raw.n_features)))
    else:
        standard = raw.standardized(settings.normalize)
        matrix = FeatureKernel.computed(standard, kernel_function(settings), indicators)
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = matrix if settings.normalize == "none" else matrix.unit()
        if settings.n_components is None:
            return exact_factor(matrix), 0.0
        return nystroem_factor(matrix, settings.n_components, rng)


def exact_factor(kernel: FeatureKernel) -> FloatArray:
    """Factor V by its eigenvectors. Raise if V is too large for memory or not positive semidefinite."""
    n = kernel.n_features
    _check_memory(n)
    V = kernel.columns(np.arange(n))
    gap = float(np.abs(V - V.T).max())
    if not gap <= 1e-8 * float(np.abs(V).max()):
        raise _wrong("be symmetric, k(a, b) = k(b, a)", f"values that differ by {gap:.3g}")
    _check_some_alike(V)
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    if values[0] < -_NEGATIVE * max(values[-1], 0.0) or values[-1] <= 0:
        raise _not_semidefinite(f"eigenvalues from {values[0]:.3g} to {values[-1]:.3g}")
    kept = values > 1e-14 * values[-1]
    phi: FloatArray = vectors[:, kept] * np.sqrt(values[kept])
    return phi


def _check_some_alike(V: FloatArray) -> None:
    """Refuse a kernel that is diagonal within rounding: all choices are equally good, and rounding would decide."""
    size = np.sqrt(np.maximum(np.diag(V), 0.0))
    alive = size > 0
    likeness = np.abs(V[np.ix_(alive, alive)]) / np.outer(size[alive], size[alive])
    np.fill_diagonal(likeness, 0.0)
    if len(likeness) > 1 and likeness.max() < _ALIKE:
        raise _wrong("find some features alike", f"normalised values below {_ALIKE:g} alone", _ELSE)


def check_likeness(phi: FloatArray, span: FloatArray) -> None:
    """Refuse mapped features that have nothing to do with the span (of the classes) but rounding."""
    size = np.linalg.norm(phi, axis=1)
    if np.max(np.linalg.norm(phi @ span, axis=1)[size > 0] / size[size > 0], initial=0.0) < _ALIKE:
        raise _wrong("find some feature like the classes", f"normalised values below {_ALIKE:g} alone", _ELSE)


def nystroem_factor(kernel: FeatureKernel, n_components: int, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Factor V approximately from `n_components` of its columns. Randomly pivoted Cholesky in blocks: columns are drawn
    with probability proportional to the rest of the diagonal. Phi Phi' is Nystroem's approximation for the columns
    drawn. It never exceeds V, and the rest of the diagonal sums to the trace of the error: no eigenvalue and no entry
    of V is off by more than this share of V's trace."""
    n = kernel.n_features
    missing = kernel.diagonal()
    total = float(missing.sum())
    if missing.min() < -_NEGATIVE * abs(missing).max() or total <= 0:
        raise _not_semidefinite(f"a diagonal that goes down to {missing.min():.3g}")
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
            raise _not_semidefinite(f"a part with an eigenvalue of {values[0]:.3g}")
        kept = values > 1e-12 * values[-1]
        new = residual @ (vectors[:, kept] / np.sqrt(values[kept]))
        phi = np.hstack([phi, new])
        missing = missing - np.sum(new**2, axis=1)
        missing[pivots] = 0.0
        if missing.min() < -1e-6 * total / n:
            raise _not_semidefinite(f"columns that explain {-missing.min():.3g} more than its diagonal")
    return phi, max(0.0, float(missing.sum())) / total


def _not_semidefinite(evidence: str) -> ValueError:
    fix = "use another kernel or other kernel_params, or clip the negative eigenvalues of a precomputed one"
    return _wrong("be positive semidefinite, an inner product of mapped features", evidence, fix)


def _wrong(must: str, got: str, fix: str = "") -> ValueError:
    return wrong_parameter("kernel", "KernelQAlphaSelector", must, got, fix)


def _check_memory(n: int) -> None:
    need, available = _COPIES * 8 * n**2, _available_memory()
    if need > available:
        raise MemoryError(
            f"The kernel matrix of {n:,} features takes {need / 2**30:,.1f} GB to factor, and "
            f"{available / 2**30:,.1f} GB are free. Select among fewer features, or set the 'n_components' parameter "
            "of KernelQAlphaSelector to 500, for example: Nystroem's approximation, whose error is reported."
        )


def _available_memory() -> float:
    """Return the free bytes of this machine, or 4 GB if the system does not tell."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 4.0 * 2**30
