"""Products of dense columns with a few vectors, and their statistics: compiled loops where they are faster."""

from typing import Any

import numpy as np

from eigensieve._types import FloatArray
from eigensieve.data.stats import BlockMoments

_ENTRIES = 1 << 18  # smaller blocks are in cache, where the BLAS's own copies cost little
_ACROSS = range(2, 7)  # numbers of vectors for which each compiled loop was measured to be faster
_ALONG = range(2, 21)
_SAFE = 1e140  # squares of magnitudes between 1/_SAFE and _SAFE neither overflow nor vanish


def left_product(C: FloatArray, Z: FloatArray, compiled: bool = True) -> FloatArray:
    """Return C Z for a few rows C (few x height) and a dense block Z (height x width), of one floating type."""
    found = _compiled_product(C, Z, compiled, Z.dtype)
    return C @ Z if found is None else found


def right_product(Z: FloatArray, C: FloatArray, compiled: bool = True) -> FloatArray:
    """Return Z C' for a dense block Z and a few rows C; it may be float64 where the block is float32."""
    found = _compiled_product(C, Z.T, compiled, np.float64)
    return Z @ C.T if found is None else found.T


def _compiled_product(C: FloatArray, Z: FloatArray, compiled: bool, dtype: Any) -> FloatArray | None:
    """Return C Z from a compiled loop, None where none applies; `dtype` is that of sums along contiguous memory."""
    few = len(C)
    if few in _ACROSS and (rows := contiguous_rows(Z, compiled)):
        from eigensieve.data._thin_numba import across

        out = np.empty((few, Z.shape[1]), dtype=Z.dtype)
        across(np.ascontiguousarray(C), *rows, out)
        return out
    if few in _ALONG and (rows := contiguous_rows(Z.T, compiled)):
        from eigensieve.data._thin_numba import along

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
    from eigensieve.data._thin_numba import weighted_moments as loop

    values, squares = np.empty((2, Z.shape[1]))
    loop(weights, *rows, values, squares)
    return values, squares


def dense_moments(Z: FloatArray, compiled: bool = True) -> BlockMoments:
    """Return mean, norm about the mean, finiteness and exact constancy of the columns of a dense block."""
    rows = contiguous_rows(Z, compiled)
    return (None if rows is None else _ordinary_moments(*rows)) or _any_moments(Z)


def _ordinary_moments(flat: FloatArray, stride: int, height: int, width: int) -> BlockMoments | None:
    """The same in one compiled loop; None where a value is not finite, or its square overflows or vanishes."""
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


def _any_moments(Z: FloatArray) -> BlockMoments:
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
    with np.errstate(over="ignore"):  # a norm that overflows is infinite
        centered_norm = np.sqrt(np.einsum("tb,tb->b", Z, Z)) * unit
    centered_norm[constant] = 0.0
    mean = np.where(constant & finite, low, mean * unit)
    return mean, centered_norm, finite, constant
