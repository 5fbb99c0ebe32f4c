"""Per-feature statistics, and what they say about a column."""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array
from eigensieve.data.thin import contiguous_rows

_SAFE = 1e140  # squares of magnitudes between 1/_SAFE and _SAFE neither overflow nor vanish


@dataclass(frozen=True)
class ColumnStats:
    """Statistics of every feature, in float64.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
    centered_norm : ndarray of shape (n_features,)
        Euclidean norm of the column after centring.
    finite : ndarray of bool
        False where a column holds NaN or an infinity.
    constant : ndarray of bool
        True where a column does not vary, up to the rounding of its own mean.
    n_samples : int
    """

    mean: Array
    centered_norm: Array
    finite: Array
    constant: Array
    n_samples: int

    @property
    def norm(self) -> Array:
        """Euclidean norm of the raw column."""
        return np.hypot(self.centered_norm, np.sqrt(self.n_samples) * np.abs(self.mean))

    @property
    def variance(self) -> Array:
        """Variance of the column (divided by the number of samples)."""
        return (self.centered_norm / np.sqrt(self.n_samples)) ** 2


def dense_moments(Z: Array) -> tuple[Array, Array, Array, Array]:
    """Mean, norm about the mean, finiteness and exact constancy of the columns of a dense block."""
    rows = contiguous_rows(Z)
    return (None if rows is None else _ordinary_moments(*rows)) or _any_moments(Z)


def _ordinary_moments(flat: Array, stride: int, height: int, width: int) -> tuple[Array, Array, Array, Array] | None:
    """The same in one compiled loop; None where a value is missing, infinite, or has no square."""
    from eigensieve.data._thin_numba import column_moments

    low, high = np.empty((2, width), dtype=flat.dtype)
    mean, squares = np.empty((2, width))
    column_moments(flat, stride, height, width, low, high, mean, squares)
    biggest = np.maximum(np.abs(high), np.abs(low)).astype(np.float64)
    if not np.isfinite(mean).all() or ((biggest != 0) & ((biggest > _SAFE) | (biggest < 1 / _SAFE))).any():
        return None
    constant = high == low
    norm = np.where(constant, 0.0, np.sqrt(squares))
    return np.where(constant, low, mean), norm, np.ones(width, dtype=bool), constant


def _any_moments(Z: Array) -> tuple[Array, Array, Array, Array]:
    """The same for any values."""
    high = Z.max(axis=0)
    low = Z.min(axis=0)
    constant = high == low
    high, low = high.astype(np.float64), low.astype(np.float64)
    biggest = np.maximum(np.abs(high), np.abs(low))
    finite = np.isfinite(biggest)
    Z = Z.astype(np.float64)
    if not finite.all():
        Z[:, ~finite] = 0.0
        biggest[~finite] = 0.0
    extreme = (biggest > 0) & ((biggest > _SAFE) | (biggest < 1 / _SAFE))
    unit = np.where(extreme, biggest, 1.0)
    if extreme.any():
        Z /= unit
    mean = Z.mean(axis=0)
    Z -= mean
    centered_norm = np.sqrt(np.einsum("tb,tb->b", Z, Z)) * unit
    centered_norm[constant] = 0.0
    mean = np.where(constant & finite, low, mean * unit)
    return mean, centered_norm, finite, constant


def rounding_constant(mean: Array, centered_norm: Array, n_samples: int) -> Array:
    """True where the spread of a column is no more than the rounding of its mean can explain."""
    noise = n_samples**1.5 * np.abs(mean) * np.finfo(np.float64).eps
    return np.asarray(centered_norm <= noise)
