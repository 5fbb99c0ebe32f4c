"""The compiled form of the steps in `steps.py`, for dense columns as they are stored.

A tile of features is projected, the step's work on each feature is done, and the tile is multiplied back while it is
still in the cache: every entry is fetched from memory once. In numpy the same takes a dozen calls per block, and each
of them waits for the interpreter.
"""

import numpy as np

from eigensieve._compiled import njit
from eigensieve.data._dense_numba import across, along

_FAST = {"contract", "reassoc", "nsz"}
_ENTRIES = 1 << 20  # most entries of a tile: it stays in the shared cache
_WIDEST, _NARROWEST = 1024, 128


@njit(inline="always")
def _tile_width(height):
    """Return how many columns of `height` entries make a tile."""
    return max(_NARROWEST, min(_WIDEST, _ENTRIES // max(1, height)))


@njit(inline="always")
def _projected(VT, here, stride, height, size, center, scale, sums, T):
    """T = V'M for a tile: the product with the raw columns, centred and scaled afterwards."""
    across(VT, here, stride, height, size, T)
    for j in range(VT.shape[0]):
        row = T[j]
        for i in range(size):
            row[i] = (row[i] - sums[j] * center[i]) * scale[i]


@njit(inline="always")
def _multiplied_back(here, stride, height, size, center, W, back, shift):
    """Add the product of the raw columns with W (rows along the tile), and what centring takes off it."""
    for c in range(W.shape[0]):
        row, dot = W[c], 0.0
        for i in range(size):
            dot += row[i] * center[i]
        shift[c] += dot
    along(here, stride, height, size, W, back)


@njit(cache=True, nogil=True, fastmath=_FAST)
def spread(flat, stride, height, width, center, scale, VT, sums, weights, projections, back, shift):
    """Add M' diag(w) M V to `back`, and keep M V where `projections` has room for it."""
    few, keep = VT.shape[0], min(VT.shape[0], projections.shape[1])
    tile = _tile_width(height)
    T, W = np.empty((few, tile), flat.dtype), np.empty((few, tile), flat.dtype)
    for low in range(0, width, tile):
        size = min(tile, width - low)
        here = flat[low : low + (height - 1) * stride + size]
        centers, scales = center[low : low + size], scale[low : low + size]
        _projected(VT, here, stride, height, size, centers, scales, sums, T)
        for j in range(few):
            row, source = W[j], T[j]
            for i in range(size):
                row[i] = weights[low + i] * source[i] * scales[i]
        for i in range(size):
            for j in range(keep):
                projections[low + i, j] = T[j, i]
        _multiplied_back(here, stride, height, size, centers, W, back, shift)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _combined(coefficients, sources, size, targets):
    """targets = coefficients' sources, over the first `size` entries of rows."""
    for a in range(coefficients.shape[1]):
        target = targets[a]
        for i in range(size):
            target[i] = 0.0
        for c in range(coefficients.shape[0]):
            factor, source = coefficients[c, a], sources[c]
            for i in range(size):
                target[i] += factor * source[i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def expand(
    flat, stride, height, width, center, scale, VT, sums, B, P, turn_B, rotate, known, novel, rho, unit,
    new_B, new_P, back, shift, total,
):  # fmt: skip
    """The block function of a step and both products around it; see `ExpandStep` for the formulas.

    `back` and `shift` are added to: the backward product of the raw columns, and what centring takes off it. `total`
    is B'B of the new B.
    """
    few, k, kept = VT.shape[0], known.shape[1], rotate.shape[1]
    old = turn_B.shape[1]
    tile = _tile_width(height)
    dtype = flat.dtype
    before_B, after_B = np.empty((turn_B.shape[0], tile)), np.empty((old + 1, tile))
    before_P = np.empty((rotate.shape[0], tile), dtype)
    after_P = np.empty((kept + few, tile), dtype)  # the projections T are its last rows
    PY, more = np.empty((k, tile), dtype), np.empty((k, tile), dtype)
    W = np.empty((kept + few + old * few, tile), dtype)
    pull = np.empty(tile)
    for low in range(0, width, tile):
        size = min(tile, width - low)
        here = flat[low : low + (height - 1) * stride + size]
        centers, scales = center[low : low + size], scale[low : low + size]
        T = after_P[kept:]
        _projected(VT, here, stride, height, size, centers, scales, sums, T)
        for i in range(size):
            for c in range(before_B.shape[0]):
                before_B[c, i] = B[low + i, c]
            for c in range(before_P.shape[0]):
                before_P[c, i] = P[low + i, c]
        _combined(turn_B, before_B, size, after_B)
        _combined(rotate, before_P, size, after_P)
        _combined(known, after_P, size, PY)
        _combined(novel, T, size, more)
        for i in range(size):
            pull[i] = -rho * after_B[0, i]
        for c in range(k):
            row, rest, other = PY[c], more[c], after_P[c]
            for i in range(size):
                pull[i] += (row[i] + rest[i]) * other[i]
        for i in range(size):
            pull[i] *= unit
            after_B[old, i] = pull[i]  # as arrays, numba would compile a comparison of their shapes for seconds
        for c in range(kept + few):
            row, source = W[c], after_P[c]
            for i in range(size):
                row[i] = dtype.type(pull[i]) * source[i] * scales[i]
        for b in range(old):
            weight = after_B[b]
            for j in range(few):
                row, source = W[kept + few + b * few + j], T[j]
                for i in range(size):
                    row[i] = dtype.type(weight[i]) * source[i] * scales[i]
        for i in range(size):
            for c in range(old + 1):
                new_B[low + i, c] = after_B[c, i]
            for c in range(kept + few):
                new_P[low + i, c] = after_P[c, i]
        for a in range(old + 1):
            for b in range(a, old + 1):
                one, two, dot = after_B[a], after_B[b], 0.0
                for i in range(size):
                    dot += one[i] * two[i]
                total[a, b] += dot
        _multiplied_back(here, stride, height, size, centers, W, back, shift)
    for a in range(old + 1):
        for b in range(a):
            total[a, b] = total[b, a]
