"""Compiled fingerprints of columns; they release the GIL, so that blocks run on threads."""

import numpy as np

from eigensieve._compiled import njit

_ONE, _TWO = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)  # of MurmurHash3's finaliser
_SHIFT = np.uint64(33)


@njit(inline="always")
def _mixed(bits):
    """A one-to-one mix of 64 bits that leaves 0 where it is."""
    bits = (bits ^ (bits >> _SHIFT)) * _ONE
    bits = (bits ^ (bits >> _SHIFT)) * _TWO
    return bits ^ (bits >> _SHIFT)


@njit(cache=True, nogil=True)
def add_dense(bits, places, out):
    """out[i] += mixed(bits[t, i]) * places[t] over all samples t."""
    for t in range(bits.shape[0]):
        row = bits[t]
        for i in range(out.shape[0]):
            out[i] += _mixed(row[i]) * places[t]


@njit(cache=True, nogil=True)
def add_sparse(indptr, indices, bits, places, out):
    """The same over the non-zeros of compressed columns."""
    for i in range(out.shape[0]):
        total = np.uint64(0)
        for p in range(indptr[i], indptr[i + 1]):
            total += _mixed(bits[p]) * places[indices[p]]
        out[i] = total
