"""Fingerprints of the values: they tell whether two fits are given the same data, for every kind of storage.

The fingerprint of a column is the sum over the samples t of h(x_t) r^t modulo 2^64. Here h mixes the bits of x_t as a
float64, and h(0) = 0, so that sparse and dense storage agree. One changed value always changes the sum, because r is
odd and h is one-to-one. Parts of the samples are added up in any order.
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eigensieve._types import Array, IntArray

if TYPE_CHECKING:
    from eigensieve.data.matrix import DataMatrix
    from eigensieve.data.passes import Block

_R = 0x9E3779B97F4A7C15  # odd, and 5 modulo 8: its powers have the longest period
_WORD = 1 << 64
_MIXERS = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)  # of MurmurHash3's finaliser
_SHIFT = np.uint64(33)
_STEPS = 8.1377  # levels per standard deviation; few values of tables of whole numbers lie between two of them


def fingerprint(data: "DataMatrix") -> str:
    """Return a fingerprint of all raw values of a data matrix with their places; one pass."""
    columns = np.ascontiguousarray(data.column_digests(), dtype="<u8")
    return hashlib.sha256(repr(data.shape).encode() + columns.tobytes()).hexdigest()


@dataclass(frozen=True)
class Orders:
    """Orders of the samples and of the features that follow from their values, not from where they stand."""

    samples: IntArray
    features: IntArray

    def ranks(self) -> IntArray:
        return np.argsort(self.samples)


def value_orders(data: "DataMatrix") -> Orders:
    """Return orders that move with the samples and the features of raw data, except among equal ones.

    With q_ti = h(8.1 (x_ti - mean_i) / sd_i rounded) and g another mixing of bits, c_t = sum_i q_ti, then d_i = sum_t
    q_ti g(c_t) and c_t = sum_i q_ti g(d_i), modulo 2^64. The samples are in the order of c, the features in that of d.
    Rounding lets units, offsets and features that do not vary leave the orders as they are.
    """
    levels = _Levels(data)
    samples = row_digests(data)
    features = np.concatenate(data.map_blocks(lambda block: _scrambled(samples) @ levels.of(block)))
    codes = _scrambled(features)
    samples = np.asarray(sum(data.map_blocks(lambda block: levels.of(block) @ codes[block.start : block.stop])))
    return Orders(np.argsort(samples, kind="stable"), np.argsort(features, kind="stable"))


def row_digests(data: "DataMatrix") -> IntArray:
    """Return c_t = sum_i q_ti modulo 2^64 for every sample: the same for any order and units of the features."""
    levels = _Levels(data)
    return data.sample_sums(lambda block: levels.sums(block))


class _Levels:
    """q of raw values, 0 where one is missing. Blocks may be read by other processes, which do not hold what the data
    share."""

    def __init__(self, data: "DataMatrix") -> None:
        stats = data.stats()
        self.gaps, self.mean = data.shared.gaps, np.asarray(stats.mean)
        sd = np.asarray(stats.centered_norm) / np.sqrt(data.n_samples)
        self.steps = np.divide(_STEPS, sd, out=np.zeros(data.n_features), where=~stats.constant)

    def of(self, block: "Block") -> IntArray:
        place = slice(block.start, block.stop)
        values = _mixed(np.rint((block.toarray() - self.mean[place]) * self.steps[place]))
        return values if self.gaps is None else values * self.gaps.present(place)

    def sums(self, block: "Block") -> IntArray:
        """Return the sum of q per sample. Of raw values without missing ones only those that are stored are mixed."""
        stored = getattr(block, "raw_stored", lambda: None)()
        if stored is None or self.gaps is not None:
            return self.of(block).sum(axis=1, dtype=np.uint64)
        n_samples, rows, columns, values = stored
        mean, steps = self.mean[block.start : block.stop], self.steps[block.start : block.stop]
        zero = _mixed(np.rint(-mean * steps))
        sums: IntArray = np.full(n_samples, zero.sum(dtype=np.uint64))
        np.add.at(sums, rows, _mixed(np.rint((values - mean[columns]) * steps[columns])) - zero[columns])
        return sums


def place_values(first: int, last: int) -> IntArray:
    """Return r^t for the samples first..last."""
    places = np.full(last - first, _R, dtype=np.uint64)
    places[0] = pow(_R, first, _WORD)
    return np.multiply.accumulate(places)


def dense_digests(Z: Array, places: IntArray) -> IntArray:
    return np.sum(_mixed(Z) * places[:, None], axis=0, dtype=np.uint64)


def sparse_digests(indptr: IntArray, indices: IntArray, values: Array, places: IntArray) -> IntArray:
    """Return the fingerprints of compressed columns; `indptr` may start anywhere in `indices`."""
    here = slice(int(indptr[0]), int(indptr[-1]))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(values[here]) * places[indices[here]])])
    return np.diff(sums[indptr - indptr[0]])


def _mixed(values: Array) -> IntArray:
    """Mix the bits of the values as float64, one to one; 0 stays 0, and so becomes -0."""
    return _scrambled((values.astype(np.float64) + 0.0).view(np.uint64))


def _scrambled(bits: IntArray) -> IntArray:
    for factor in _MIXERS:
        bits = (bits ^ (bits >> _SHIFT)) * factor
    return bits ^ (bits >> _SHIFT)
