"""Products of a dense block with a few columns: compiled loops where they are faster, the BLAS elsewhere."""

import numpy as np

from eigensieve._types import Array

_ENTRIES = 1 << 18  # smaller blocks are in cache, where the BLAS's own copies cost little
_ACROSS = range(2, 7)  # numbers of columns for which the compiled loops were found faster, each kind of loop its own
_ALONG = range(2, 21)


def left_product(C: Array, Z: Array) -> Array:
    """Return C Z for a few rows C (few x height) and a dense block Z (height x width), of one floating type."""
    few = len(C)
    if few in _ACROSS and (rows := contiguous_rows(Z)):
        from eigensieve.data._thin_numba import across

        out = np.empty((few, Z.shape[1]), dtype=Z.dtype)
        across(np.ascontiguousarray(C), *rows, out)
        return out
    if few in _ALONG and (rows := contiguous_rows(Z.T)):
        from eigensieve.data._thin_numba import along

        out = np.zeros((Z.shape[1], few), dtype=Z.dtype)
        along(*rows, np.ascontiguousarray(C), out)
        return out.T
    return C @ Z


def right_product(Z: Array, C: Array) -> Array:
    """Return Z C' for a dense block Z (height x width) and a few rows C (few x width), of one floating type.

    The result may be float64 where the block is float32.
    """
    few = len(C)
    if few in _ALONG and (rows := contiguous_rows(Z)):
        from eigensieve.data._thin_numba import along

        out = np.zeros((len(Z), few))
        along(*rows, np.ascontiguousarray(C), out)
        return out
    if few in _ACROSS and (rows := contiguous_rows(Z.T)):
        from eigensieve.data._thin_numba import across

        sums = np.empty((few, len(Z)), dtype=Z.dtype)
        across(np.ascontiguousarray(C), *rows, sums)
        return sums.T
    return Z @ C.T


def contiguous_rows(Z: Array) -> tuple[Array, int, int, int] | None:
    """Return the block as flat memory, the distance of its rows, and its shape; None where the loops do not apply."""
    height, width = Z.shape
    size = Z.itemsize
    if Z.size < _ENTRIES or Z.dtype not in (np.float32, np.float64) or not Z.flags.aligned:
        return None
    stride, rest = divmod(Z.strides[0], size)
    if Z.strides[1] != size or rest or stride < width:
        return None
    flat = np.lib.stride_tricks.as_strided(Z, ((height - 1) * stride + width,), (size,))
    return flat, stride, height, width
