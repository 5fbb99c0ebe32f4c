"""Sums of small arrays whose last bit does not depend on which worker added what to what.

Chunks are added up where they are, and where they are is for Dask to say. A sum is kept as two numbers, the rounded
sum and what rounding took off (Knuth's two-sum), so that any order gives the same result when they are put together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum in float64; it is never added to in place, for what a worker keeps must stay as it is."""

    high: Array
    low: Array

    @classmethod
    def of(cls, part: Array) -> "Sum":
        high = part.astype(np.float64)
        return cls(high, np.zeros_like(high))

    def plus(self, other: "Sum") -> "Sum":
        high = self.high + other.high
        taken = high - self.high
        lost = (self.high - (high - taken)) + (other.high - taken)
        return Sum(high, self.low + other.low + lost)

    def result(self) -> Array:
        return np.where(np.isfinite(self.low), self.high + self.low, self.high)  # infinities leave no remainder

    def __sizeof__(self) -> int:
        return int(self.high.nbytes + self.low.nbytes)


Sums = tuple[Sum | None, ...]
"""Several sums; None stands for nothing."""


def sums_from(*parts: Array | None) -> Sums:
    return tuple(None if part is None else Sum.of(part) for part in parts)


def sum_up(parts: Sequence[Sums]) -> Sums:
    """Add up entry by entry."""
    total = parts[0]
    for part in parts[1:]:
        total = tuple(b if a is None else a if b is None else a.plus(b) for a, b in zip(total, part, strict=True))
    return total


def results(parts: Sequence[Sums]) -> list[Array | None]:
    return [None if part is None else part.result() for part in sum_up(parts)]
