"""Kernel expansions as plain arrays: the masked one, the full one, the weights of either, and bounds on rounding."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array

from eigensieve._types import FloatArray, IntArray
from eigensieve.elements.kernel import LINEAR, RBF, MaskedKernel
from eigensieve.elements.state import Column

_CHUNK = 2**20
"""Kernel values held at a time: 8 MB."""
UNIT = 2.0**-24
"""Half a unit in the last place of 1: the relative error of one rounding."""
ROUNDINGS = 10
"""Roundings per kernel value apart from the sum over features: gamma, its product, the exponential's argument."""


def _shape(value: Any, kind: str, ndim: int) -> tuple[int, ...]:
    """Return the shape of a stored array; raise a ValueError unless it is one of this kind, with finite numbers."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != kind or value.ndim != ndim:
        raise ValueError(f"An array of the expansion is not of kind {kind!r} with {ndim} dimensions.")
    if not np.isfinite(value).all():
        raise ValueError("An array of the expansion holds values that are not finite.")
    return value.shape


def element_owners(columns: Sequence[Column]) -> IntArray:
    """Return the basis vector of each element, in the order of an expansion's elements."""
    return np.array([column.basis for column in columns for _ in column.features], dtype=np.int64)


class Stored:
    """Checks of an expansion that comes from a file: compiled code indexes by its numbers."""

    kernel: MaskedKernel

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.kernel.check()
        if not self._fits():
            raise ValueError("The arrays of the expansion do not fit together.")

    def _fits(self) -> bool:
        """Return whether the shapes agree and every index is in range."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ElementExpansion(Stored):
    """f(x) = intercept + sum_j weights_j k(x, b_j seen through mask column j)."""

    kernel: MaskedKernel
    n_features: int
    starts: IntArray  # column c holds the elements starts[c] to starts[c + 1]
    features: IntArray  # of each element
    values: FloatArray  # the basis vector's value there, b_ij
    factors: FloatArray  # of each column on the kernel's gamma
    weights: FloatArray  # columns x outputs
    intercept: FloatArray

    def _fits(self) -> bool:
        n_columns, n_outputs = _shape(self.weights, "f", 2)
        (n_elements,) = _shape(self.features, "i", 1)
        return (
            _shape(self.starts, "i", 1) == (n_columns + 1,)
            and _shape(self.values, "f", 1) == (n_elements,)
            and _shape(self.factors, "f", 1) == (n_columns,)
            and _shape(self.intercept, "f", 1) == (n_outputs,)
            and self.starts[0] == 0
            and self.starts[-1] == n_elements
            and bool((np.diff(self.starts) > 0).all())
            and (n_elements == 0 or bool(self.features.min() >= 0 and self.features.max() < self.n_features))
        )

    @classmethod
    def build(
        cls, kernel: MaskedKernel, B: FloatArray, columns: Sequence[Column], weights: FloatArray, intercept: FloatArray
    ) -> "ElementExpansion":
        """Gather the elements of masked columns of the basis vectors `B`."""
        lengths = [len(column.features) for column in columns]
        features = np.array([i for column in columns for i in column.features], dtype=np.int64)
        owners = element_owners(columns)
        return cls(
            kernel,
            B.shape[1],
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            features,
            np.asarray(B[owners, features], dtype=np.float64),
            np.array([column.factor for column in columns]),
            np.asarray(weights, dtype=np.float64),
            np.asarray(intercept, dtype=np.float64),
        )

    @classmethod
    def mean(cls, machines: Sequence["ElementExpansion"]) -> "ElementExpansion":
        """Return the mean of machines with the same kernel."""
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in machines])
            for name in ("features", "values", "factors", "weights")
        }
        lengths = np.concatenate([one.lengths for one in machines])
        joined["weights"] /= len(machines)
        joined["starts"] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return replace(machines[0], **joined, intercept=np.mean([one.intercept for one in machines], axis=0))

    @property
    def n_columns(self) -> int:
        """Kernel evaluations per sample."""
        return self.factors.size

    @property
    def n_elements(self) -> int:
        """Features that those evaluations read, in total."""
        return self.features.size

    @property
    def lengths(self) -> IntArray:
        """Elements per column."""
        return np.diff(self.starts)

    @property
    def gammas(self) -> FloatArray:
        """The factor on each column's sum over features."""
        return self.factors if self.kernel.kind == LINEAR else self.kernel.gamma * self.factors

    @property
    def is_thin(self) -> bool:
        """Whether outputs have weights on some of the columns only; the others are exactly zero."""
        return self.intercept.size > 1 and not self.weights.all()

    def take(self, columns: IntArray) -> "ElementExpansion":
        """Return the machine with these columns only, in this order."""
        lengths = self.lengths[columns]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        elements = np.repeat(self.starts[columns] - starts[:-1], lengths) + np.arange(starts[-1])
        return replace(
            self, starts=starts, features=self.features[elements], values=self.values[elements],
            factors=self.factors[columns], weights=self.weights[columns],
        )  # fmt: skip

    def rescaled(self, unit: float, middle: float) -> "ElementExpansion":
        """Return middle + unit f."""
        return replace(self, weights=unit * self.weights, intercept=unit * self.intercept + middle)

    def membership(self) -> csc_array:
        """Return the 0/1 matrix (elements x columns) that sums elements into columns."""
        ones = np.ones(self.n_elements)
        return csc_array((ones, np.arange(self.n_elements), self.starts), shape=(self.n_elements, self.n_columns))

    def columns(self, X: FloatArray) -> FloatArray:
        """Return the masked kernel (samples x columns) in double precision."""
        terms = self.kernel.terms(np.asarray(X[:, self.features], dtype=np.float64), self.values)
        return self.finish(terms @ self.membership())

    def finish(self, sums: FloatArray) -> FloatArray:
        """Return the masked kernel from each column's sums over features."""
        return self.kernel.finish(self.factors * sums)

    def decision(self, X: FloatArray) -> FloatArray:
        """Return f (samples x outputs) in double precision. The compiled forms are checked against it."""
        return self.columns(X) @ self.weights + self.intercept


@dataclass(frozen=True, eq=False)
class FullExpansion(Stored):
    """f(x) = K(x, B) alpha + intercept by matrix products in chunks of samples: libsvm's numbers, ten times sooner."""

    kernel: MaskedKernel
    basis: FloatArray  # basis vectors x features
    alpha: FloatArray  # basis vectors x outputs
    intercept: FloatArray

    def _fits(self) -> bool:
        return _shape(self.alpha, "f", 2) == (_shape(self.basis, "f", 2)[0], *_shape(self.intercept, "f", 1))

    @property
    def n_features(self) -> int:
        """Features of a sample."""
        return self.basis.shape[1]

    def decision(self, X: FloatArray) -> FloatArray:
        """Return f (samples x outputs), in the precision of the basis."""
        out = np.empty((X.shape[0], self.intercept.size))
        step = max(64, _CHUNK // max(1, self.basis.shape[0]))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            part = X[rows].astype(self.basis.dtype, copy=False)
            out[rows] = self.kernel.full(part, self.basis) @ self.alpha + self.intercept
        return out


def solve_weights(design: FloatArray, targets: FloatArray, ridge: float) -> tuple[FloatArray, FloatArray]:
    """Return the beta, c of min |T - K beta - c|^2 / n + ridge |beta|^2 (Avidan, Algorithm 1, last step). Masked
    columns are often nearly collinear: without the ridge, opposite weights would grow until they cost digits."""
    means, middle = design.mean(axis=0), targets.mean(axis=0)
    if not design.shape[1]:  # scipy before 1.14 solves no empty system
        return np.zeros((0, targets.shape[1])), middle
    K = design - means
    gram = K.T @ K / design.shape[0]
    gram[np.diag_indices_from(gram)] += max(ridge, 1e-14 * float(np.trace(gram)) + np.finfo(float).tiny)
    weights = cho_solve(cho_factor(gram), K.T @ (targets - middle) / design.shape[0])
    return weights, middle - means @ weights


def column_bounds(expansion: ElementExpansion, reach: FloatArray) -> FloatArray:
    """Return a bound on the error of each column in single precision, for samples with |x_i| <= reach_i.

    rbf, bump: a relative error r of z = gamma * sum_i (x_i - b_i)^2 changes exp(-z) by at most r max z exp(-z) = r / e,
    and the bump by r 27/64. Rounding x_i and b_i moves their difference by up to u (|x_i| + |b_i|), to be multiplied by
    the `steepest` slope. The function adds `ROUNDINGS` roundings of numbers up to 1. poly, linear: the sum is off by
    (p + ROUNDINGS) roundings of its largest terms, and the power multiplies that by its slope.
    """
    kernel = expansion.kernel
    roundings = (expansion.lengths + ROUNDINGS) * UNIT
    if kernel.is_radial:
        moved = UNIT * ((reach[expansion.features] + np.abs(expansion.values)) @ expansion.membership())
        by_factor = 1.0 / np.e if kernel.kind == RBF else 27.0 / 64.0
        return roundings * by_factor + steepest(kernel, expansion.gammas) * moved + ROUNDINGS * UNIT
    sizes = column_sizes(expansion, reach)
    if kernel.kind == LINEAR:
        return roundings * sizes
    return kernel.degree * (roundings * (1.0 + roundings) ** kernel.degree + UNIT) * sizes


def steepest(kernel: MaskedKernel, gammas: FloatArray) -> FloatArray:
    """Return the largest slope of radial columns by the distance t: |d exp(-gamma t^2) / dt| is at most
    sqrt(2 gamma / e), and |d (1 - gamma t^2 / 4)^4 / dt| at most 4 sqrt(gamma / 7) (6 / 7)^3."""
    return np.sqrt(gammas) * (np.sqrt(2.0 / np.e) if kernel.kind == RBF else 4.0 * (6.0 / 7.0) ** 3 / np.sqrt(7.0))


def column_sizes(expansion: ElementExpansion, reach: FloatArray) -> FloatArray:
    """Return a bound on the size of each column; for the rbf kernel, of the column minus 1."""
    kernel = expansion.kernel
    if kernel.is_radial:
        return np.ones(expansion.n_columns)
    base = np.abs(expansion.gammas) * ((reach[expansion.features] * np.abs(expansion.values)) @ expansion.membership())
    return base if kernel.kind == LINEAR else np.asarray((base + abs(kernel.coef0)) ** kernel.degree)


def single_precision_bound(expansion: ElementExpansion, reach: FloatArray) -> FloatArray:
    """Return a bound per output on the error of columns in single precision that are summed in double precision."""
    return column_bounds(expansion, reach) @ np.abs(expansion.weights)


def summed_in_single_bound(expansion: ElementExpansion, reach: FloatArray, lanes: int) -> FloatArray:
    """Return a bound per output if the sum over columns is in single precision too, in `lanes` partial sums: n
    roundings of the sum of the sizes of n terms. Rbf columns enter as exp - 1; the weights' total is part of the
    offset."""
    terms = int(np.count_nonzero(expansion.weights, axis=0).max(initial=0))
    n_each = -(-terms // lanes) + lanes + 4
    sizes = column_sizes(expansion, reach)
    total = sizes @ np.abs(expansion.weights) + np.abs(expansion.intercept) + np.abs(expansion.weights.sum(axis=0))
    return single_precision_bound(expansion, reach) + n_each * UNIT * total
