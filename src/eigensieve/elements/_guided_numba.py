"""The histograms of the guided search, compiled."""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import Array

_F = np.float32
BINS = 32
"""Bins per feature."""


@njit(cache=True, nogil=True, fastmath=True)
def bin_codes(values: Array, low: Array, step: Array, codes: Array) -> None:
    """Fill in the bin of each value (features x samples). Values outside the range go to the first or the last bin."""
    for i in range(values.shape[0]):
        lowest, per_step, row = low[i], 1.0 / step[i], values[i]
        for t in range(values.shape[1]):
            codes[i, t] = np.uint8(min(max((row[t] - lowest) * per_step, 0.0), BINS - 1.0))


@njit(cache=True, nogil=True)
def order_by_bin(codes: Array, order: Array, edges: Array) -> None:
    """Sort every feature's samples by bin: in row i of `order`, bin b goes from edges[i, b] to edges[i, b + 1]."""
    for i in range(codes.shape[0]):
        ends = edges[i]
        ends[:] = 0
        for t in range(codes.shape[1]):
            ends[codes[i, t] + 1] += 1
        for b in range(1, ends.size):
            ends[b] += ends[b - 1]
        place = ends[:-1].copy()
        for t in range(codes.shape[1]):
            b = codes[i, t]
            order[i, place[b]] = t
            place[b] += 1


@njit(cache=True, nogil=True)
def sums_in_bins(order: Array, edges: Array, terms: Array, sums: Array) -> None:
    """Fill in the sums per bin of one feature (4 groups x bins) of terms that stand four side by side (groups x samples
    x 4). Bin by bin, the sums stay in registers; even and odd samples have separate sums, so that no addition waits for
    the one before."""
    for g in range(terms.shape[0]):
        side = terms[g]
        s0, s1, s2, s3 = sums[4 * g], sums[4 * g + 1], sums[4 * g + 2], sums[4 * g + 3]
        for b in range(BINS):
            a0 = a1 = a2 = a3 = c0 = c1 = c2 = c3 = _F(0.0)
            t, last = edges[b], edges[b + 1]
            while t + 1 < last:
                v, w = side[order[t]], side[order[t + 1]]
                a0 += v[0]
                a1 += v[1]
                a2 += v[2]
                a3 += v[3]
                c0 += w[0]
                c1 += w[1]
                c2 += w[2]
                c3 += w[3]
                t += 2
            if t < last:
                v = side[order[t]]
                a0 += v[0]
                a1 += v[1]
                a2 += v[2]
                a3 += v[3]
            s0[b], s1[b], s2[b], s3[b] = a0 + c0, a1 + c1, a2 + c2, a3 + c3


@njit(cache=True, nogil=True)
def all_sums(order: Array, edges: Array, terms: Array, bins: Array) -> None:
    """Fill in the sums of every feature (features x 4 groups x bins)."""
    for i in range(order.shape[0]):
        sums_in_bins(order[i], edges[i], terms, bins[i])


@njit(cache=True, nogil=True, fastmath=True)
def screened_gains(
    values: Array, bins: Array, m: int, outside: Array, squares: Array, free: np.float32, gains: Array
) -> None:
    """Fill in the gains of all binned candidates, and update their squares outside the span. The first `m` rows of
    `bins` (features x terms x bins) belong to the residual. The others belong to directions that entered the span."""
    for i in range(values.shape[0]):
        gains[i] = _F(0.0)
        for k in range(bins.shape[1]):
            weights = bins[i, k]
            for b in range(values.shape[1]):
                dot = _F(0.0)
                for x in range(values.shape[2]):
                    dot += values[i, b, x] * weights[x]
                if k < m:
                    gains[i, b] += dot * dot
                else:
                    outside[i, b] -= dot * dot
        for b in range(values.shape[1]):
            if outside[i, b] > free * squares[i, b]:
                gains[i, b] /= outside[i, b]
            else:
                gains[i, b] = _F(0.0)


@njit(cache=True, nogil=True)
def best_by_basis(basis_codes: Array, unused: Array, gains: Array) -> tuple[Array, Array]:
    """Return each unused basis vector's best feature and its gain."""
    features = np.zeros(unused.size, np.int64)
    best = np.zeros(unused.size, np.float32)
    for a in range(unused.size):
        codes = basis_codes[unused[a]]
        for i in range(codes.size):
            gain = gains[i, codes[i]]
            if gain > best[a]:
                best[a] = gain
                features[a] = i
    return features, best
