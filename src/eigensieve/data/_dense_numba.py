"""Compiled loops over dense blocks: products with a few columns, statistics, sums over groups of samples.

A library's matrix product first copies both sides into a layout of its own, which for a handful of columns costs more
than the product. Here every entry of the block is read once, in the order it is stored.

A block is given as flat memory: row t begins at ``t * stride`` and has `width` entries. The compiler cannot tell that a
view of a wider array is contiguous along its rows, and would not vectorise the loops over it. The loops release the
GIL, so that blocks run on threads.
"""

import numpy as np

from eigensieve._compiled import njit

_FAST = {"contract", "reassoc", "nsz"}
_ACROSS = 1024  # entries of a row at a time: as many of every output row stay in the nearest cache
_ALONG = 1024
_MOMENTS = 1024


@njit(cache=True, nogil=True, fastmath=_FAST)
def across(C, flat, stride, height, width, out):
    """out = C Z for C (few x height) and a block Z (height x width): rows of the block are added up."""
    few = C.shape[0]
    for j in range(few):
        for i in range(width):
            out[j, i] = 0.0
    for low in range(0, width, _ACROSS):
        high = min(low + _ACROSS, width)
        whole = height - height % 4
        for t in range(0, whole, 4):
            first, last = t * stride + low, t * stride + high
            z0, z1 = flat[first:last], flat[first + stride : last + stride]
            z2, z3 = flat[first + 2 * stride : last + 2 * stride], flat[first + 3 * stride : last + 3 * stride]
            j = 0
            while j + 2 <= few:
                p, q = out[j, low:high], out[j + 1, low:high]
                a0, a1, a2, a3 = C[j, t], C[j, t + 1], C[j, t + 2], C[j, t + 3]
                b0, b1, b2, b3 = C[j + 1, t], C[j + 1, t + 1], C[j + 1, t + 2], C[j + 1, t + 3]
                for i in range(high - low):
                    p[i] += a0 * z0[i] + a1 * z1[i] + a2 * z2[i] + a3 * z3[i]
                    q[i] += b0 * z0[i] + b1 * z1[i] + b2 * z2[i] + b3 * z3[i]
                j += 2
            if j < few:
                p = out[j, low:high]
                a0, a1, a2, a3 = C[j, t], C[j, t + 1], C[j, t + 2], C[j, t + 3]
                for i in range(high - low):
                    p[i] += a0 * z0[i] + a1 * z1[i] + a2 * z2[i] + a3 * z3[i]
        for t in range(whole, height):
            z0 = flat[t * stride + low : t * stride + high]
            for j in range(few):
                p, a0 = out[j, low:high], C[j, t]
                for i in range(high - low):
                    p[i] += a0 * z0[i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def along(flat, stride, height, width, C, out):
    """out += Z C' for a block Z (height x width) and C (few x width): inner products with the rows of the block. Sums
    of 1,024 entries are in the block's type; these are added up in the type of `out`."""
    few = C.shape[0]
    zero = flat.dtype.type(0)
    for low in range(0, width, _ALONG):
        high = min(low + _ALONG, width)
        whole = height - height % 4
        for t in range(0, whole, 4):
            first, last = t * stride + low, t * stride + high
            z0, z1 = flat[first:last], flat[first + stride : last + stride]
            z2, z3 = flat[first + 2 * stride : last + 2 * stride], flat[first + 3 * stride : last + 3 * stride]
            j = 0
            while j + 2 <= few:
                p, q = C[j, low:high], C[j + 1, low:high]
                a0, a1, a2, a3 = zero, zero, zero, zero
                b0, b1, b2, b3 = zero, zero, zero, zero
                for i in range(high - low):
                    a0 += z0[i] * p[i]
                    a1 += z1[i] * p[i]
                    a2 += z2[i] * p[i]
                    a3 += z3[i] * p[i]
                    b0 += z0[i] * q[i]
                    b1 += z1[i] * q[i]
                    b2 += z2[i] * q[i]
                    b3 += z3[i] * q[i]
                out[t, j] += a0
                out[t + 1, j] += a1
                out[t + 2, j] += a2
                out[t + 3, j] += a3
                out[t, j + 1] += b0
                out[t + 1, j + 1] += b1
                out[t + 2, j + 1] += b2
                out[t + 3, j + 1] += b3
                j += 2
            if j < few:
                p = C[j, low:high]
                a0, a1, a2, a3 = zero, zero, zero, zero
                for i in range(high - low):
                    a0 += z0[i] * p[i]
                    a1 += z1[i] * p[i]
                    a2 += z2[i] * p[i]
                    a3 += z3[i] * p[i]
                out[t, j] += a0
                out[t + 1, j] += a1
                out[t + 2, j] += a2
                out[t + 3, j] += a3
        for t in range(whole, height):
            z0 = flat[t * stride + low : t * stride + high]
            for j in range(few):
                p = C[j, low:high]
                a0 = zero
                for i in range(high - low):
                    a0 += z0[i] * p[i]
                out[t, j] += a0


@njit(cache=True, nogil=True, fastmath=_FAST)
def weighted_moments(weights, flat, stride, height, width, values, squares):
    """Sums of w_t x_t and of w_t x_t^2 for every column of a block."""
    for low in range(0, width, _MOMENTS):
        high = min(low + _MOMENTS, width)
        first, second = values[low:high], squares[low:high]
        for i in range(high - low):
            first[i] = second[i] = 0.0
        for t in range(0, height, 2):
            # an odd last row is paired with itself, with no weight
            after = min(t + 1, height - 1)
            x, y = flat[t * stride + low : t * stride + high], flat[after * stride + low : after * stride + high]
            a, b = weights[t], weights[after] if t + 1 < height else 0.0
            for i in range(high - low):
                one, two = float(x[i]), float(y[i])
                first[i] += a * one + b * two
                second[i] += a * one * one + b * two * two


@njit(cache=True, nogil=True, fastmath={"contract"})
def column_moments(flat, stride, height, width, low, high, mean, squares):
    """Smallest and largest value, mean and sum of squares about the mean of every column of a block. A value that is
    not finite shows in the mean; what overflows or vanishes when squared shows in `low` and `high`. The
    compiler vectorises two rows at a time, one quantity per loop."""
    for first in range(0, width, _MOMENTS):
        last = min(first + _MOMENTS, width)
        size = last - first
        least, most = low[first:last], high[first:last]
        total, spread = mean[first:last], squares[first:last]
        for i in range(size):
            least[i] = most[i] = flat[first + i]
            total[i] = spread[i] = 0.0
        for t in range(0, height, 2):
            x = flat[t * stride + first : t * stride + last]
            after = min(t + 1, height - 1) * stride  # an odd last row is paired with itself: neither smaller nor larger
            y = flat[after + first : after + last]
            for i in range(size):
                smaller = x[i] if x[i] < y[i] else y[i]
                least[i] = smaller if smaller < least[i] else least[i]
            for i in range(size):
                larger = x[i] if x[i] > y[i] else y[i]
                most[i] = larger if larger > most[i] else most[i]
            once = 1.0 if t + 1 < height else 0.0
            for i in range(size):
                total[i] += float(x[i]) + once * float(y[i])
        for i in range(size):
            total[i] /= height
        for t in range(0, height, 2):
            x = flat[t * stride + first : t * stride + last]
            after = min(t + 1, height - 1) * stride
            y = flat[after + first : after + last]
            once = 1.0 if t + 1 < height else 0.0
            for i in range(size):
                away, further = float(x[i]) - total[i], float(y[i]) - total[i]
                spread[i] += away * away + once * further * further


@njit(cache=True, nogil=True)
def dense_grouped_sums(Z, codes, shift, sums, squares):
    """sums[c] += z_t - shift over the samples t of group c, squares += (z_t - shift)^2; group -1 is left out. Every
    column is summed in the same order, so that copies of a column stay equal wherever they are in the block."""
    for t in range(Z.shape[0]):
        c = codes[t]
        if c < 0:
            continue
        row = Z[t]
        target = sums[c]
        for i in range(Z.shape[1]):
            deviation = float(row[i]) - shift[i]
            target[i] += deviation
            squares[i] += deviation * deviation


@njit(cache=True, nogil=True)
def dense_quadratic(Z, indptr, indices, values, out):
    """out[i] = z_i' S z_i for every column z_i of Z and symmetric S in compressed rows, of which one half is read. Some
    columns at a time, so that their rows stay in the cache; every column is summed in the same order."""
    width = 256
    inner = np.empty(width)
    for start in range(0, Z.shape[1], width):
        stop = min(start + width, Z.shape[1])
        for t in range(Z.shape[0]):
            for c in range(stop - start):
                inner[c] = 0.0
            for p in range(indptr[t], indptr[t + 1]):
                s = indices[p]
                if s < t:
                    continue
                value = values[p] if s == t else 2.0 * values[p]
                row = Z[s, start:stop]
                for c in range(stop - start):
                    inner[c] += value * row[c]
            row = Z[t, start:stop]
            for c in range(stop - start):
                out[start + c] += inner[c] * row[c]
