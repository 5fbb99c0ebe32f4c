"""From a Mercer kernel's matrix to mapped features: V = Phi Phi', exactly or by Nystroem's approximation.

Kernel Q-alpha needs only inner products of mapped features. With any factor Phi (features x dimensions) of V it is
Q-alpha on the rows of Phi: A = Phi' diag(w) Phi and Q = Phi'E. So every solver can be used, and the update of E, which
the papers print as E R^-1, is the correct D_alpha V E R^-1.
"""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import FloatArray
from eigensieve.qalpha.mercer_kernels import ComputedKernel, FeatureKernel, KernelSettings

_COPIES = 4  # arrays of the kernel's size that the exact factorisation holds at once
_ALIKE = 1e-10  # features whose normalised kernel is below this for all pairs have nothing to do with each other
_NEGATIVE = 1e-8  # eigenvalues below minus this share of the largest are not rounding


@dataclass(frozen=True)
class Factor:
    """A factor of V: mapped features in rows.

    The error is trace(V - Phi Phi') / trace(V). V - Phi Phi' is positive semidefinite, so no eigenvalue and no entry of
    V is off by more than this share of V's trace.
    """

    phi: FloatArray
    error: float


def exact_factor(kernel: FeatureKernel, owner: str) -> Factor:
    """Factor V by its eigenvectors. Raise if V is too large for memory or not positive semidefinite."""
    n = kernel.n_features
    _check_memory(n**2, f"kernel matrix of {n:,} features", owner)
    V = kernel.columns(np.arange(n))
    _check_symmetric(V, owner)
    _check_some_alike(V, owner)
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    if values[0] < -_NEGATIVE * max(values[-1], 0.0) or values[-1] <= 0:
        raise _not_semidefinite(owner, f"its eigenvalues go from {values[0]:.3g} to {values[-1]:.3g}")
    kept = values > 1e-14 * values[-1]
    return Factor(vectors[:, kept] * np.sqrt(values[kept]), 0.0)


def monomial_factor(
    kernel: FeatureKernel, name: Any, settings: KernelSettings, n_components: int | None, unit: bool, owner: str
) -> Factor:
    """Map features to the kernel's own coordinates, samples or products of `degree` samples: a Laplacian needs them."""
    coordinates = isinstance(name, str) and (name in ("linear", "sections") or (name == "poly" and not settings.coef0))
    if not coordinates or n_components is not None or not isinstance(kernel, ComputedKernel):
        raise ValueError(
            f"The 'spectrum' parameter of {owner} must be 'standard', unless the kernel has coordinates: 'linear', "
            "'sections', or 'poly' with coef0=0, without n_components. A Laplacian depends on the coordinates, and "
            "other kernels give inner products only. Use one of these kernels, or spectrum='standard'."
        )
    n_samples, degree = kernel.data.n_samples, 1 if name == "linear" else settings.degree
    step = settings.section_size if name == "sections" else n_samples
    sections = [slice(start, start + step) for start in range(0, n_samples, step)]
    _check_memory(kernel.n_features * len(sections) * min(step, n_samples) ** degree, "table of mapped features", owner)
    features = np.hstack([kernel.data.take(np.arange(kernel.data.n_features)), kernel.targets]).astype(np.float64)
    phi = np.vstack([_products(features[rows], degree) for rows in sections]).T
    if name == "poly":
        phi *= settings.gamma ** (degree / 2)
    if unit:
        size = np.linalg.norm(phi, axis=1, keepdims=True)
        phi = np.divide(phi, size, out=np.zeros_like(phi), where=size > 0)
    return Factor(phi, 0.0)


def _products(columns: FloatArray, degree: int) -> FloatArray:
    """Return the products of all `degree` rows, (rows^degree, columns): their inner products are powers."""
    out = columns
    for _ in range(degree - 1):
        out = (out[:, None] * columns).reshape(-1, columns.shape[1])
    return out


def _check_some_alike(V: FloatArray, owner: str) -> None:
    """Refuse a kernel that is diagonal within rounding: all choices are equally good, and rounding would decide."""
    size = np.sqrt(np.maximum(np.diag(V), 0.0))
    alive = size > 0
    likeness = np.abs(V[np.ix_(alive, alive)]) / np.outer(size[alive], size[alive])
    np.fill_diagonal(likeness, 0.0)
    if len(likeness) > 1 and likeness.max() < _ALIKE:
        raise ValueError(
            f"The kernel of {owner} finds no two features alike: all normalised values k(i, j) are below {_ALIKE:g}, "
            "so that every choice is as good as any other. Use normalize='center', a lower gamma or another kernel."
        )


def check_likeness(phi: FloatArray, span: FloatArray, owner: str) -> None:
    """Refuse mapped features that have nothing to do with the span (of the classes) but rounding."""
    size = np.linalg.norm(phi, axis=1)
    if np.max(np.linalg.norm(phi @ span, axis=1)[size > 0] / size[size > 0], initial=0.0) < _ALIKE:
        raise ValueError(
            f"The kernel of {owner} finds no feature that is like the classes: all normalised values are below "
            f"{_ALIKE:g}, so that every choice is as good as any other. Use normalize='center', or another kernel."
        )


def nystroem_factor(kernel: FeatureKernel, n_components: int, rng: np.random.Generator, owner: str) -> Factor:
    """Factor V approximately from `n_components` of its columns.

    Randomly pivoted Cholesky in blocks: columns are drawn with probability proportional to the rest of the diagonal.
    Phi Phi' is Nystroem's approximation for the columns drawn. It never exceeds V, and the rest of the diagonal sums to
    the trace of the error.
    """
    n = kernel.n_features
    missing = kernel.diagonal().copy()
    total = float(missing.sum())
    if missing.min() < -_NEGATIVE * abs(missing).max() or total <= 0:
        raise _not_semidefinite(owner, f"its diagonal goes down to {missing.min():.3g}")
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
            raise _not_semidefinite(owner, f"a part of it has an eigenvalue of {values[0]:.3g}")
        kept = values > 1e-12 * values[-1]
        new = residual @ (vectors[:, kept] / np.sqrt(values[kept]))
        phi = np.hstack([phi, new])
        missing = missing - np.sum(new**2, axis=1)
        missing[pivots] = 0.0
        if missing.min() < -1e-6 * total / n:
            raise _not_semidefinite(owner, f"what its columns explain exceeds its diagonal by {-missing.min():.3g}")
    return Factor(phi, max(0.0, float(missing.sum())) / total)


def _check_symmetric(V: FloatArray, owner: str) -> None:
    gap = float(np.abs(V - V.T).max())
    if not gap <= 1e-8 * float(np.abs(V).max()):
        raise ValueError(
            f"The kernel of {owner} must be symmetric, k(a, b) = k(b, a). Got values that differ by {gap:.3g} instead."
        )


def _not_semidefinite(owner: str, evidence: str) -> ValueError:
    return ValueError(
        f"The kernel of {owner} must be positive semidefinite, an inner product of mapped features: {evidence}. "
        "Use another kernel or other kernel parameters, or clip the negative eigenvalues of a precomputed one."
    )


def _check_memory(numbers: int, of_what: str, owner: str) -> None:
    need, available = _COPIES * 8 * numbers, _available_memory()
    if need > available:
        raise MemoryError(
            f"The {of_what} takes {need / 2**30:,.1f} GB to factor, and {available / 2**30:,.1f} GB are free. Select "
            f"among fewer features, or, with spectrum='standard', set the 'n_components' parameter of {owner} (for "
            "example to 500) for Nystroem's approximation, whose error is reported."
        )


def _available_memory() -> float:
    """Return the free bytes of this machine, or 4 GB if the system does not tell."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 4.0 * 2**30
