"""Products with stored dense columns there and back, compiled: every entry is fetched from memory once."""

import numba
import numpy as np

from eigensieve.data import across, along

_FAST = {"contract", "reassoc", "nsz"}
_ENTRIES = 1 << 20  # of a tile, at most: it stays in the shared cache
_WIDEST, _NARROWEST = 1024, 128


@numba.njit(inline="always")
def tile_width(height):  # type: ignore[no-untyped-def]
    """How many columns of so many entries make a tile."""
    return max(_NARROWEST, min(_WIDEST, _ENTRIES // max(1, height)))


@numba.njit(inline="always")
def projected(VT, here, stride, height, size, center, scale, sums, T):  # type: ignore[no-untyped-def]
    """T = V'M for a tile: the product with the raw columns, centred and scaled afterwards."""
    across(VT, here, stride, height, size, T)
    for j in range(VT.shape[0]):
        row = T[j]
        for i in range(size):
            row[i] = (row[i] - sums[j] * center[i]) * scale[i]


@numba.njit(inline="always")
def multiplied_back(here, stride, height, size, center, W, back, shift):  # type: ignore[no-untyped-def]
    """Add the product of the raw columns with W (rows along the tile), and what centring takes off it."""
    for c in range(W.shape[0]):
        row, dot = W[c], 0.0
        for i in range(size):
            dot += row[i] * center[i]
        shift[c] += dot
    along(here, stride, height, size, W, back)


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def spread(  # type: ignore[no-untyped-def]
    flat, stride, height, width, center, scale, VT, sums, weights, projections, back, shift
):
    """Add M' diag(w) M V to `back`, and keep M V where `projections` has room for it."""
    few, keep = VT.shape[0], min(VT.shape[0], projections.shape[1])
    tile = tile_width(height)
    T, W = np.empty((few, tile), flat.dtype), np.empty((few, tile), flat.dtype)
    for low in range(0, width, tile):
        size = min(tile, width - low)
        here = flat[low : low + (height - 1) * stride + size]
        centers, scales = center[low : low + size], scale[low : low + size]
        projected(VT, here, stride, height, size, centers, scales, sums, T)
        for j in range(few):
            row, source = W[j], T[j]
            for i in range(size):
                row[i] = weights[low + i] * source[i] * scales[i]
        for i in range(size):
            for j in range(keep):
                projections[low + i, j] = T[j, i]
        multiplied_back(here, stride, height, size, centers, W, back, shift)
