"""Fingerprints of the values: they tell whether two fits are given the same data, for every kind of storage.

The fingerprint of a column is the sum over the samples t of h(x_t) r^t modulo 2^64. Here h mixes the bits of x_t as a
float64, and h(0) = 0, so that sparse and dense storage agree. One changed value always changes the sum, because r is
odd and h is one-to-one. Parts of the samples are added up in any order.
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eigensieve._types import Array, IntArray

if TYPE_CHECKING:
    from eigensieve.data.matrix import DataMatrix

_R = 0x9E3779B97F4A7C15  # odd, and 5 modulo 8: its powers have the longest period
_WORD = 1 << 64


def fingerprint(data: "DataMatrix") -> str:
    """Return a fingerprint of all raw values with their places, the same for every kind of storage; one pass."""
    columns = np.ascontiguousarray(data.column_digests(), dtype="<u8")
    return hashlib.sha256(repr(data.shape).encode() + columns.tobytes()).hexdigest()


def place_values(first: int, last: int) -> IntArray:
    """Return r^t for the samples first..last."""
    places = np.full(last - first, _R, dtype=np.uint64)
    places[0] = pow(_R, first, _WORD)
    return np.multiply.accumulate(places)


def digests_by_segments(raw: "DataMatrix") -> IntArray:
    """Return the fingerprint of every column, segment by segment; one pass."""
    places = place_values(0, raw.n_samples)

    def segment(piece: "DataMatrix", offset: int, ranges: Sequence[tuple[int, int]]) -> IntArray:
        return np.concatenate([piece.block_digests(start, stop, places) for start, stop in ranges])

    return np.concatenate(list(raw.each_segment(segment)))


def dense_digests(Z: Array, places: IntArray) -> IntArray:
    """Return the fingerprints of the columns of a dense block."""
    from eigensieve.data._digest_numba import add_dense

    out = np.zeros(Z.shape[1], dtype=np.uint64)
    add_dense(np.ascontiguousarray(_bits(Z)), places, out)
    return out


def sparse_digests(indptr: IntArray, indices: IntArray, values: Array, places: IntArray) -> IntArray:
    """Return the fingerprints of compressed columns; `indptr` may start anywhere in `indices`."""
    from eigensieve.data._digest_numba import add_sparse

    first, last = int(indptr[0]), int(indptr[-1])
    out = np.zeros(len(indptr) - 1, dtype=np.uint64)
    add_sparse(indptr - first, indices[first:last], _bits(values[first:last]), places, out)
    return out


def _bits(values: Array) -> IntArray:
    """Return the bits of the values as float64; adding zero makes -0 and 0 the same."""
    found: IntArray = (values.astype(np.float64) + 0.0).view(np.uint64)
    return found
