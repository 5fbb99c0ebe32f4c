"""A dense block that is multiplied as it is stored: centring and scaling act on the thin side of every product."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.blocks import DenseBlock
from eigensieve.data.thin import contiguous_rows, left_product, right_product

FARTHEST = {np.dtype(np.float32): 4.0, np.dtype(np.float64): 1e3}
"""How many standard deviations from zero a column's mean may be: taking it out afterwards loses that much precision."""

_CARRYING = 0.75  # with weights on a smaller share of the columns, taking those out first saves time


@dataclass(frozen=True)
class StoredColumns:
    """Consecutive dense columns in memory as they are stored, for compiled passes.

    Attributes
    ----------
    memory : tuple
        Flat memory, distance of its rows (one a sample), number of rows, their length.
    center, scale : ndarray of float64
        The standardised column is (x - center) * scale.
    """

    memory: tuple[Array, int, int, int]
    center: Array
    scale: Array

    @property
    def n_samples(self) -> int:
        return self.memory[2]


class RawBlock(DenseBlock):
    """A block held as stored.

    With centres c and scales s, M_b V = s * (X_b'V - c 1'V) and M_b'W = X_b (s * W) - 1 (c * s)'W: no copy
    of the block is made, which is most of the time of a product with few columns. Good for columns whose
    mean is near zero compared with their spread; the others are centred first, by the plain block.

    Parameters
    ----------
    start, stop : int
        Feature range.
    raw : ndarray of shape (n_samples, stop - start)
    center : ndarray of shape (stop - start,) or None
    scale : ndarray of shape (stop - start,)
    standardise : callable
        Returns the centred and scaled columns, for what is not a product with a thin matrix.
    """

    def __init__(
        self,
        start: int,
        stop: int,
        raw: Array,
        center: Array | None,
        scale: Array,
        standardise: Callable[[], Array],
    ) -> None:
        self.start = start
        self.stop = stop
        self.raw = raw
        self.center = center
        self.scale = scale
        self._standardise = standardise

    @cached_property
    def Z(self) -> Array:  # type: ignore[override]
        return self._standardise()

    def forward(self, V: Array) -> Array:
        dtype = self.raw.dtype
        # (V'X)' instead of X'V: the wide side of the product runs along contiguous memory
        projections = left_product(np.ascontiguousarray(V.T, dtype=dtype), self.raw)
        if self.center is not None:
            sums = V.sum(axis=0, dtype=np.float64).astype(dtype)
            projections -= np.multiply.outer(sums, self.center.astype(dtype, copy=False))
        projections *= self.scale.astype(dtype, copy=False)
        return projections.T

    def back(self, W: Array) -> Array:
        dtype = self.raw.dtype
        rows = np.multiply(W.T, self.scale.astype(dtype, copy=False), order="C", dtype=dtype, casting="same_kind")
        product = right_product(self.raw, rows)
        if self.center is not None:
            product -= (rows.astype(np.float64, copy=False) @ self.center).astype(product.dtype, copy=False)
        return product

    def quadratic(self, S: Any) -> Array:
        rows = contiguous_rows(self.raw)
        if rows is None or not isinstance(S, np.ndarray):
            return super().quadratic(S)
        from eigensieve.data._thin_numba import column_dots

        product = np.matmul(
            S.astype(self.raw.dtype, copy=False), self.raw, out=_scratch("scaled", self.raw.shape, self.raw.dtype)
        )
        energy = np.empty(self.raw.shape[1])
        column_dots(*rows, product, energy)
        if self.center is not None:
            degrees = S.sum(axis=1, dtype=np.float64)
            cross = degrees.astype(self.raw.dtype) @ self.raw
            energy += self.center * (self.center * degrees.sum() - 2.0 * cross)
        return energy * self.scale**2

    def squares(self, weights: Array) -> Array:
        rows = contiguous_rows(self.raw)
        if rows is None:
            return super().squares(weights)
        from eigensieve.data._thin_numba import weighted_moments

        values, squares = np.empty(self.raw.shape[1]), np.empty(self.raw.shape[1])
        weights = np.asarray(weights, dtype=np.float64)
        weighted_moments(weights, *rows, values, squares)
        if self.center is not None:
            # sum w (x - c)^2; c is a few deviations at most, so that little cancels
            squares += self.center * (self.center * weights.sum() - 2.0 * values)
        return squares * self.scale**2

    def gram(self, weights: Array) -> Array:
        dtype = self.raw.dtype
        weights = np.asarray(weights, dtype=np.float64) * self.scale**2
        raw, center = self.raw, self.center
        carrying = np.flatnonzero(weights)
        if len(carrying) < _CARRYING * len(weights):
            raw, weights = raw[:, carrying], weights[carrying]
            center = None if center is None else center[carrying]
        scaled = _scratch("scaled", raw.shape, dtype)
        if (weights >= 0).all():  # a product with its own transpose is half the work
            np.multiply(raw, np.sqrt(weights).astype(dtype), out=scaled)
            other = scaled.T
        else:
            np.multiply(raw, weights.astype(dtype), out=scaled)
            other = raw.T
        if center is None:
            return scaled @ other
        square = (len(scaled), len(scaled))
        product = np.matmul(scaled, other, out=_scratch("product", square, dtype))
        shift = raw @ (weights * center).astype(dtype)
        shift = shift.astype(np.float64) - float(weights @ center**2) / 2
        return product - np.add.outer(shift, shift, out=_scratch("shift", square, np.float64))


_kept = threading.local()


def _scratch(name: str, shape: tuple[int, ...], dtype: Any) -> Array:
    """An array to write to, the same memory for every block of a thread: fresh memory is cleared every time."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer: Array | None = getattr(_kept, name, None)
    if buffer is None or buffer.nbytes < size:
        buffer = np.empty(size, dtype=np.uint8)
        setattr(_kept, name, buffer)
    return buffer[:size].view(dtype).reshape(shape)


def distance_from_zero(mean: Array, centered_norm: Array, norm: Array, n_samples: int, dtype: Any) -> Array:
    """How many standard deviations each column's mean is from zero; infinite where sums could overflow or vanish."""
    largest = float(np.finfo(dtype).max) ** 0.4
    safe = (norm < largest) & (centered_norm > 1 / largest)
    out = np.full(len(mean), np.inf, dtype=np.float32)
    np.divide(np.abs(mean) * np.sqrt(n_samples), centered_norm, out=out, where=safe, casting="same_kind")
    out[centered_norm == 0] = 0.0
    return out
