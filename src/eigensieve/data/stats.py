"""Statistics per feature, and the centring and scaling that follow from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigensieve._types import BoolArray, DType, FloatArray

BlockMoments = tuple[FloatArray, FloatArray, BoolArray, BoolArray]
"""Mean, norm about the mean, finiteness and exact constancy of some features."""

NORMALIZATIONS = ("center", "unit", "none")

LIMITS = {np.dtype(np.float32): 1e28, np.dtype(np.float64): 1e120}
"""Norms between 1 / limit and the limit can be squared, and multiplied by vectors of that type."""

_FEATURES = 8192  # features standardised at once: their numbers stay in cache


@dataclass(frozen=True)
class ColumnStats:
    """Statistics of every feature over some samples, in float64; those of two sets of samples can be merged."""

    mean: FloatArray  # of a feature with one value: that value, exactly
    centered_norm: FloatArray  # Euclidean norm of the column after centring
    finite: BoolArray  # False where a column holds NaN or an infinity
    one_value: BoolArray  # True where all values are the same, exactly
    n_samples: int

    @cached_property
    def constant(self) -> BoolArray:
        """True where a column does not vary: its spread is no more than the rounding of its mean can explain."""
        rounding = np.abs(self.mean) * (self.n_samples**1.5 * np.finfo(np.float64).eps)
        return self.one_value | (self.finite & (self.centered_norm <= rounding))

    @property
    def norm(self) -> FloatArray:
        """Euclidean norm of the raw column; infinite where it overflows."""
        with np.errstate(over="ignore"):
            return np.hypot(self.centered_norm, np.sqrt(self.n_samples) * np.abs(self.mean))

    @property
    def variance(self) -> FloatArray:
        return (self.centered_norm / np.sqrt(self.n_samples)) ** 2

    def extreme(self, dtype: DType) -> BoolArray:
        """Return which columns vary so little or have values so large that products of them vanish or overflow."""
        limit = LIMITS[np.dtype(dtype)]
        return (self.norm > limit) | (~self.constant & (self.centered_norm < 1 / limit))

    def cut(self, where: Any) -> "ColumnStats":
        """Return the statistics of some features."""
        columns = (self.mean[where], self.centered_norm[where], self.finite[where], self.one_value[where])
        return ColumnStats(*columns, self.n_samples)

    def merged(self, other: "ColumnStats") -> "ColumnStats":
        """Return the statistics over both sets of samples (Chan, Golub and LeVeque's update; no square overflows)."""
        count = self.n_samples + other.n_samples
        finite = self.finite & other.finite
        apart = np.where(finite, other.mean - self.mean, 0.0)
        one_value = self.one_value & other.one_value & (self.mean == other.mean)
        between = np.abs(apart) * np.sqrt(self.n_samples / count * other.n_samples)
        norm = np.hypot(np.hypot(self.centered_norm, other.centered_norm), between)
        mean = np.where(one_value, self.mean, self.mean + apart * (other.n_samples / count))
        return ColumnStats(mean, np.where(one_value, 0.0, norm), finite, one_value, count)


def joined_stats(n_samples: int, blocks: list[BlockMoments]) -> ColumnStats:
    """Put together the statistics of consecutive blocks of features."""
    mean, centered_norm, finite, one_value = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return ColumnStats(mean, centered_norm, finite, one_value, n_samples)


@dataclass(frozen=True, eq=False)
class Standard:
    """How columns are standardised: to (x - center) * scale. None leaves the columns as they are."""

    center: FloatArray | None = None
    scale: FloatArray | None = None
    far: FloatArray | None = None  # standard deviations from zero to each column's mean, where this is known

    def cut(self, where: Any) -> "Standard":
        """Return the same for some features."""
        return Standard(*(None if column is None else column[where] for column in (self.center, self.scale, self.far)))

    def __sizeof__(self) -> int:
        return sum(column.nbytes for column in (self.center, self.scale, self.far) if column is not None)


def standardization(stats: ColumnStats, normalize: str, dtype: DType) -> Standard:
    """Return the centring and scaling that `normalize` asks for; constant columns become exactly zero. ``"center"``:
    centred columns of unit norm; ``"unit"``: columns of unit norm, not centred; ``"none"``: as they are. The precision
    of products, `dtype`, decides how large values may be."""
    if normalize not in NORMALIZATIONS:
        raise ValueError(f"normalize must be one of {NORMALIZATIONS}. Got {normalize!r} instead.")
    size, largest = len(stats.mean), float(np.finfo(dtype).max) ** 0.4
    scale, far = np.zeros(size), np.full(size, np.inf, dtype=np.float32)
    for start in range(0, size, _FEATURES):
        here = slice(start, start + _FEATURES)
        some = stats.cut(here)
        norm = {"center": some.centered_norm, "unit": some.norm, "none": np.ones(len(some.mean))}[normalize]
        np.divide(1.0, norm, out=scale[here], where=~some.constant & (norm > 0))
        # standard deviations from zero to the mean; infinity where squares overflow or vanish
        safe = (some.norm < largest) & (some.centered_norm > 1 / largest)
        distance = np.abs(some.mean) * np.sqrt(some.n_samples)
        np.divide(distance, some.centered_norm, out=far[here], where=safe, casting="same_kind")
        far[here][some.centered_norm == 0] = 0.0
    return Standard(stats.mean if normalize == "center" else None, scale, far)
