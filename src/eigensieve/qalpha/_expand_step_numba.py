"""One step of the fast solver on stored dense columns, compiled: every entry is fetched from memory once.

A tile of features is projected, everything a step does with each feature on its own is done, and the tile, still in the
cache, is multiplied back. In numpy the same is a dozen calls a block, each of which waits for the interpreter.
"""

import numba
import numpy as np

from eigensieve.operators import multiplied_back, projected, tile_width

_FAST = {"contract", "reassoc", "nsz"}


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def _combined(coefficients, sources, size, targets):  # type: ignore[no-untyped-def]
    """targets = coefficients' sources, over the first `size` entries of rows."""
    for a in range(coefficients.shape[1]):
        target = targets[a]
        for i in range(size):
            target[i] = 0.0
        for c in range(coefficients.shape[0]):
            factor, source = coefficients[c, a], sources[c]
            for i in range(size):
                target[i] += factor * source[i]


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def expand(  # type: ignore[no-untyped-def]
    flat, stride, height, width, center, scale, VT, sums, B, P, turn_B, rotate, known, novel, rho,
    new_B, new_P, back, shift, total,
):  # fmt: skip
    """The block function of a step and both products around it; see `ExpandStep` for the formulas.

    `back` and `shift` are added to: the backward product of the raw columns, and what centring takes off it. `total`
    is B'B of the new B.
    """
    few, k, kept = VT.shape[0], known.shape[1], rotate.shape[1]
    old = turn_B.shape[1]
    tile = tile_width(height)
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
        projected(VT, here, stride, height, size, centers, scales, sums, T)
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
        multiplied_back(here, stride, height, size, centers, W, back, shift)
    for a in range(old + 1):
        for b in range(a):
            total[a, b] = total[b, a]
