"""Dense arrays in memory: blocks are used as they are or standardised in cache; the matrix is never copied."""

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from eigensieve._types import Array, DType, FloatArray, IntArray
from eigensieve.data.digest import dense_digests
from eigensieve.data.matrix import DataMatrix
from eigensieve.data.passes import Block
from eigensieve.data.stats import BlockMoments

_BLOCK_BYTES = 1 << 22  # in the shared cache, and long enough for the work to outweigh the calls
_COMPILED_DATA = 1 << 21  # entries; a fit of fewer takes a second or two, compiling the loops several times as long

FARTHEST = {np.dtype(np.float32): 4.0, np.dtype(np.float64): 1e3}
"""How many standard deviations from zero a column's mean may be: centring a product loses that much precision."""

_ENTRIES = 1 << 18  # smaller blocks are in cache, where the BLAS's own copies cost little
_ACROSS = range(2, 7)  # numbers of vectors for which each compiled loop was measured to be faster
_ALONG = range(2, 21)
_SAFE = 1e140  # squares of magnitudes between 1/_SAFE and _SAFE neither overflow nor vanish

_CARRYING = 0.75  # where a smaller share of the columns has weight, copying those first saves time


@dataclass(frozen=True)
class StoredColumns:
    """Consecutive dense columns in memory as they are stored, for compiled passes."""

    memory: tuple[FloatArray, int, int, int]  # flat, distance from sample to sample, their number, entries of each
    center: FloatArray
    scale: FloatArray  # the standardised column is (x - center) * scale

    @property
    def n_samples(self) -> int:
        return self.memory[2]


class DenseData(DataMatrix):
    """A numpy array of any real type; float32 stays float32, other types are worked on as float64."""

    def __init__(self, X: Array) -> None:
        super().__init__(X.shape[0], X.shape[1], np.dtype(np.float32 if X.dtype == np.float32 else np.float64))
        self.X = X
        self._compiled = X.size >= _COMPILED_DATA

    def block(self, start: int, stop: int) -> Block:
        here = slice(start, stop)
        if self.scale is None or not self._as_stored(here):
            return DenseBlock(start, stop, self.take(here), compiled=self._compiled)
        return DenseBlock(start, stop, self.X[:, here], at(self.center, here), self.scale[here], self._compiled)

    def stored(self, start: int, stop: int) -> StoredColumns | None:
        here = slice(start, stop)
        if self.scale is None or not self._as_stored(here):
            return None
        rows = contiguous_rows(self.X[:, here], self._compiled)
        if rows is None:
            return None
        center = np.zeros(stop - start) if self.center is None else self.center[here]
        return StoredColumns(rows, center, self.scale[here])

    def _as_stored(self, here: slice) -> bool:
        """True where products of these columns may be centred afterwards."""
        near = self.far is not None and self.far[here].max(initial=0.0) <= FARTHEST[self.dtype]
        return bool(near) and self.X.dtype == self.dtype

    def block_moments(self, start: int, stop: int) -> BlockMoments:
        return dense_moments(self.X[:, start:stop], self._compiled)

    def block_digests(self, start: int, stop: int, places: IntArray) -> IntArray:
        return dense_digests(self.X[:, start:stop], places)

    def block_size(self) -> int:
        return max(64, _BLOCK_BYTES // (self.n_samples * self.dtype.itemsize))

    def take(self, indices: IntArray | slice) -> FloatArray:
        # written to memory that is ours where there is some: the system clears fresh memory every time
        Z = self.X[:, indices]
        own = Z if Z.base is None and Z.dtype == self.dtype else None
        return standardised(Z, at(self.center, indices), at(self.scale, indices), self.dtype, own)

    def raw_samples(self, rows: IntArray, start: int, stop: int) -> FloatArray:
        return self.X[rows, start:stop]


def at(column: FloatArray | None, where: Any) -> FloatArray | None:
    """Return some entries of an array per feature, where there is one."""
    return None if column is None else column[where]


def standardised(
    Z: FloatArray, center: FloatArray | None, scale: FloatArray | None, dtype: DType, out: FloatArray | None = None
) -> FloatArray:
    """Centre and scale dense columns. `out` may be Z itself."""
    if center is not None:
        Z = out = np.subtract(Z, center.astype(dtype), dtype=dtype, out=out)
    if scale is not None:
        Z = np.multiply(Z, scale.astype(dtype), dtype=dtype, out=out)
    return Z.astype(dtype, copy=False)


@dataclass(eq=False)
class DenseBlock:
    """A block of dense columns as they are stored, centred and scaled implicitly. No copy is made: with centres c and
    scales s, M_b V = s * (X_b'V - c 1'V) and M_b'W = X_b (s * W) - 1 (c * s)'W. Columns whose mean is far from zero
    compared with their spread come standardised, without centres and scales."""

    start: int
    stop: int
    raw: Array
    center: FloatArray | None = None
    scale: FloatArray | None = None
    compiled: bool = True  # False where the data is so small that compiling loops would take longer than they save

    @cached_property
    def Z(self) -> FloatArray:
        """The standardised columns (samples x features)."""
        return standardised(self.raw, self.center, self.scale, self.raw.dtype)

    def forward(self, V: FloatArray) -> FloatArray:
        dtype = self.raw.dtype
        # (V'X)' instead of X'V: the wide side of the product runs along contiguous memory
        projections = left_product(np.ascontiguousarray(V.T, dtype=dtype), self.raw, self.compiled)
        if self.center is not None:
            sums = V.sum(axis=0, dtype=np.float64).astype(dtype)
            projections -= np.multiply.outer(sums, self.center.astype(dtype, copy=False))
        if self.scale is not None:
            projections *= self.scale.astype(dtype, copy=False)
        return projections.T

    def back(self, W: FloatArray) -> FloatArray:
        dtype = self.raw.dtype
        if self.scale is None:
            rows = np.ascontiguousarray(W.T, dtype=dtype)
        else:
            rows = np.multiply(W.T, self.scale.astype(dtype, copy=False), order="C", dtype=dtype, casting="same_kind")
        product = right_product(self.raw, rows, self.compiled)
        if self.center is not None:
            product -= (rows.astype(np.float64, copy=False) @ self.center).astype(product.dtype, copy=False)
        return product

    def add_back(self, W: FloatArray, values: FloatArray, shift: FloatArray) -> None:
        np.add(values, self.back(W), out=values)

    def quadratic(self, S: csr_array) -> FloatArray:
        if not self.compiled:
            # row by row, so that copies of a column stay equal wherever they are in the block
            product = S.astype(np.float64, copy=False) @ self.Z
            return np.multiply(product, self.Z, out=product).sum(axis=0)
        from eigensieve.data._dense_numba import dense_quadratic

        rows = S.tocsr()
        out = np.zeros(self.Z.shape[1])
        dense_quadratic(np.ascontiguousarray(self.Z), rows.indptr, rows.indices, rows.data, out)
        return out

    def squares(self, weights: FloatArray) -> FloatArray:
        weights = np.asarray(weights, dtype=np.float64)
        values, squares = weighted_moments(weights, self.raw, self.compiled)
        if self.center is not None:
            # sum w (x - c)^2; c is at most a few standard deviations, so that little cancels
            squares += self.center * (self.center * weights.sum() - 2.0 * values)
        return squares if self.scale is None else squares * self.scale**2

    def gram(self, weights: FloatArray) -> FloatArray:
        dtype = self.raw.dtype
        weights = np.asarray(weights, dtype=np.float64) * (1.0 if self.scale is None else self.scale**2)
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

    def grouped_sums(self, codes: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        from eigensieve.data._dense_numba import dense_grouped_sums

        # Offset: a sample's own values, so that large means cancel before anything is squared.
        offset = self.Z[np.argmax(codes >= 0)].astype(np.float64)
        sums, squares = np.zeros((n_groups, len(offset))), np.zeros(len(offset))
        dense_grouped_sums(np.ascontiguousarray(self.Z), codes, offset, sums, squares)
        return sums, squares, np.ones(len(offset))

    def toarray(self) -> FloatArray:
        return self.Z


_kept = threading.local()


def _scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> FloatArray:
    """Return an array to write to, the same memory for every block of a thread: fresh memory is cleared every time."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer: Array | None = getattr(_kept, name, None)
    if buffer is None or buffer.nbytes < size:
        buffer = np.empty(size, dtype=np.uint8)
        setattr(_kept, name, buffer)
    return buffer[:size].view(dtype).reshape(shape)


def left_product(C: FloatArray, Z: FloatArray, compiled: bool = True) -> FloatArray:
    """Return C Z for a few rows C (few x height) and a dense block Z (height x width), of one floating type."""
    found = _compiled_product(C, Z, compiled, Z.dtype)
    return C @ Z if found is None else found


def right_product(Z: FloatArray, C: FloatArray, compiled: bool = True) -> FloatArray:
    """Return Z C' for a dense block Z and a few rows C; it may be float64 where the block is float32."""
    found = _compiled_product(C, Z.T, compiled, np.float64)
    return Z @ C.T if found is None else found.T


def _compiled_product(C: FloatArray, Z: FloatArray, compiled: bool, dtype: DTypeLike) -> FloatArray | None:
    """Return C Z from a compiled loop, None where none applies; `dtype` is that of sums along contiguous memory."""
    few = len(C)
    if few in _ACROSS and (rows := contiguous_rows(Z, compiled)):
        from eigensieve.data._dense_numba import across

        out = np.empty((few, Z.shape[1]), dtype=Z.dtype)
        across(np.ascontiguousarray(C), *rows, out)
        return out
    if few in _ALONG and (rows := contiguous_rows(Z.T, compiled)):
        from eigensieve.data._dense_numba import along

        sums = np.zeros((Z.shape[1], few), dtype=dtype)
        along(*rows, np.ascontiguousarray(C), sums)
        return sums.T
    return None


def contiguous_rows(Z: FloatArray, compiled: bool = True) -> tuple[FloatArray, int, int, int] | None:
    """Return the block as flat memory, the distance between its rows, and its shape; None where the loops do not apply.
    With ``compiled=False`` they never do: the block is part of data so small that compiling would not pay."""
    height, width = Z.shape
    size = Z.itemsize
    if not compiled or Z.size < _ENTRIES or Z.dtype not in (np.float32, np.float64) or not Z.flags.aligned:
        return None
    stride, rest = divmod(Z.strides[0], size)
    if Z.strides[1] != size or rest or stride < width:
        return None
    flat = np.lib.stride_tricks.as_strided(Z, ((height - 1) * stride + width,), (size,))
    return flat, stride, height, width


def weighted_moments(weights: FloatArray, Z: FloatArray, compiled: bool = True) -> tuple[FloatArray, FloatArray]:
    """Return the sums of w_t z_t and of w_t z_t^2 for every column of a dense block, in float64."""
    rows = contiguous_rows(Z, compiled)
    if rows is None:
        weighted = Z * weights[:, None]
        return weighted.sum(axis=0), np.einsum("tb,tb->b", weighted, Z)
    from eigensieve.data._dense_numba import weighted_moments as loop

    values, squares = np.empty((2, Z.shape[1]))
    loop(weights, *rows, values, squares)
    return values, squares


def dense_moments(Z: FloatArray, compiled: bool = True) -> BlockMoments:
    """Return mean, norm about the mean, finiteness and exact constancy of the columns of a dense block."""
    rows = contiguous_rows(Z, compiled)
    if rows is None:
        return _any_moments(Z)
    from eigensieve.data._dense_numba import column_moments

    low, high = np.empty((2, Z.shape[1]), dtype=Z.dtype)
    mean, squares = np.empty((2, Z.shape[1]))
    column_moments(*rows, low, high, mean, squares)
    biggest = np.maximum(np.abs(high), np.abs(low)).astype(np.float64)
    if not np.isfinite(mean).all() or ((biggest != 0) & ((biggest > _SAFE) | (biggest < 1 / _SAFE))).any():
        return _any_moments(Z)
    constant = high == low
    norm = np.where(constant, 0.0, np.sqrt(squares))
    return np.where(constant, low, mean), norm, np.ones(Z.shape[1], dtype=bool), constant


def _any_moments(Z: FloatArray) -> BlockMoments:
    """The same for values that are not finite, or whose squares overflow or vanish, and for small blocks."""
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
    with np.errstate(over="ignore"):  # a norm that overflows is infinite
        centered_norm = np.sqrt(np.einsum("tb,tb->b", Z, Z)) * unit
    centered_norm[constant] = 0.0
    mean = np.where(constant & finite, low, mean * unit)
    return mean, centered_norm, finite, constant
