"""Compiled loops over the columns of dense blocks; they release the GIL, so that blocks run on threads."""

import numpy as np

from eigensieve._compiled import njit


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
