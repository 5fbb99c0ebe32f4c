"""Column statistics put together from groups of samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.stats import ColumnStats, rounding_constant


@dataclass(frozen=True)
class Moments:
    """Statistics of every feature over some of the samples.

    Attributes
    ----------
    count : int
        Number of samples.
    mean, centered_norm : ndarray of float64
    finite, constant : ndarray of bool
        `constant` is exact: all values so far are the same.
    first : ndarray
        One of the values, which decides whether two constant groups agree.
    """

    count: int
    mean: Array
    centered_norm: Array
    finite: Array
    constant: Array
    first: Array

    def merged(self, other: "Moments") -> "Moments":
        """Statistics over both groups (Chan, Golub and LeVeque's update; no square overflows)."""
        count = self.count + other.count
        finite = self.finite & other.finite
        apart = np.where(finite, other.mean - self.mean, 0.0)
        constant = self.constant & other.constant & (self.first == other.first)
        between = np.abs(apart) * np.sqrt(self.count / count * other.count)
        norm = np.hypot(np.hypot(self.centered_norm, other.centered_norm), between)
        return Moments(
            count,
            np.where(constant, self.mean, self.mean + apart * (other.count / count)),
            np.where(constant, 0.0, norm),
            finite,
            constant,
            self.first,
        )

    def stats(self) -> ColumnStats:
        constant = self.constant | (self.finite & rounding_constant(self.mean, self.centered_norm, self.count))
        return ColumnStats(self.mean, self.centered_norm, self.finite, constant, self.count)


def moments(raw: Any) -> Moments:
    """Statistics of a group of samples held in memory, dense or sparse."""
    from eigensieve.data.backends import as_data

    piece = as_data(raw)
    parts = [piece.block_moments(*span) for spans in piece._segments(1) for span in spans]
    mean, norm, finite, constant = (np.concatenate(column) for column in zip(*parts, strict=True))
    # a constant column's mean is its value, exactly; elsewhere the value does not matter
    return Moments(piece.n_samples, mean, norm, finite, constant, mean)
