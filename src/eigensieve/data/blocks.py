"""A block of consecutive features for every kind of storage: rows m_i of M (features x samples), start <= i < stop."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eigensieve._types import FloatArray, IntArray


class Block(Protocol):
    """The interface of a block of features."""

    start: int
    stop: int

    def forward(self, V: FloatArray) -> FloatArray:
        """Return M_b V (features of the block x columns of V)."""

    def back(self, W: FloatArray) -> FloatArray:
        """Return M_b' W (samples x columns of W)."""

    def add_back(self, W: FloatArray, values: FloatArray, shift: FloatArray) -> None:
        """Add M_b' W to `values` minus `shift`, the two arrays of a `BackwardSum`."""

    def gram(self, weights: FloatArray) -> FloatArray:
        """Return M_b' diag(weights) M_b (samples x samples)."""

    def quadratic(self, S: Any) -> FloatArray:
        """Return m_i' S m_i for every feature of the block; S is symmetric, sparse or dense."""

    def squares(self, weights: FloatArray) -> FloatArray:
        """Return sum_t weights_t m_it^2 for every feature of the block."""

    def grouped_sums(self, codes: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Add up every feature over groups of samples, in float64; group -1 is left out. Returns the sums (groups x
        features) of u_t, per feature the sum of u_t^2, and per feature a unit. The feature is u_t * unit plus an
        offset, chosen so that little is lost to rounding. Copies of a feature get the same sums, bit by bit."""

    def toarray(self) -> FloatArray:
        """Return M_b' as a dense array (samples x features of the block)."""


def numbered(block: Block, start: int) -> Block:
    """Number the features of a block as in the whole data, not as in its piece."""
    block.start, block.stop = start, start + block.stop - block.start
    return block


def add_up(total: FloatArray | None, term: FloatArray) -> FloatArray:
    """Add to a sum in float64, in place once it is there."""
    return term.astype(np.float64) if total is None else np.add(total, term, out=total)


class BackwardSum:
    """The sum of M_b' W_b over blocks, in float64."""

    def __init__(self) -> None:
        self.values: FloatArray | None = None  # samples x columns
        self.shift: FloatArray | None = None  # subtracted from every sample once: implicit centring of all blocks

    def room(self, n_samples: int, n_columns: int) -> tuple[FloatArray, FloatArray]:
        """Return values and shift as arrays to add to."""
        if self.values is None or self.shift is None:
            self.values, self.shift = np.zeros((n_samples, n_columns)), np.zeros(n_columns)
        return self.values, self.shift

    def result(self) -> FloatArray | None:
        """Return the sum; None when there was no block."""
        if self.values is not None and self.shift is not None:
            self.values -= self.shift
            self.shift = np.zeros_like(self.shift)
        return self.values


@dataclass(frozen=True)
class Sweep:
    """The result of a sweep."""

    state: tuple[FloatArray, ...]  # feature arrays from the block function
    back: FloatArray | None  # sum over blocks of M_b' W_b, samples x columns, in float64
    total: FloatArray | None  # sum over blocks of the small arrays, in float64


BlockFunction = Callable[..., tuple[tuple[FloatArray, ...], FloatArray | None, FloatArray | None]]
"""fn(T_b, *state_b) -> (new state of the block, W_b or None, small array to be summed or None).

It may have a method ``fused(columns, V, state_b, new state to fill, backward sum to add to)``. This does the same for
dense columns as they are stored, products included, and returns the small array; None where it does not apply.
"""
