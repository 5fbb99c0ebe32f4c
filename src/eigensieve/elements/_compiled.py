"""The loops over samples, compiled by numba. Imported only when something is fitted or predicted."""

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

from eigensieve.elements.kernel import LINEAR, RBF

_F = np.float32
_LOG2E = _F(1.44269504088896341)
_LN2_HIGH, _LN2_LOW = _F(0.693359375), _F(-2.12194440e-4)
_LOWEST = _F(-87.0)
_HALF, _ONE = _F(0.5), _F(1.0)
_C5, _C4, _C3 = _F(1.9875691500e-4), _F(1.3981999507e-3), _F(8.3334519073e-3)
_C2, _C1, _C0 = _F(4.1665795894e-2), _F(1.6666665459e-1), _F(5.0000001201e-1)
# 2^f - 1 over f, by least squares at Chebyshev's points of [-1/2, 1/2]: wrong by 4e-9.
_E1, _E2, _E3 = _F(6.931471880e-01), _F(2.402265092e-01), _F(5.550357104e-02)
_E4, _E5, _E6 = _F(9.618056670e-03), _F(1.339086735e-03), _F(1.546144746e-04)
_LOWEST_POWER = _F(-126.0)
_TILE, _PADDING = 96, 16


@njit(inline="always")
def exp_negative(x: np.float32) -> np.float32:
    """Return exp(x) for x <= 0 in single precision, relative error under 3e-7.

    Range reduction to 2^n e^f and Cephes' polynomial for e^f: unlike the library's exp it has no branch,
    so that the compiler evaluates eight samples at once (14 times faster here).
    """
    x = max(x, _LOWEST)
    n = np.int32(x * _LOG2E - _HALF)
    f = x - _F(n) * _LN2_HIGH
    f = f - _F(n) * _LN2_LOW
    p = ((((_C5 * f + _C4) * f + _C3) * f + _C2) * f + _C1) * f + _C0
    p = p * f * f + f + _ONE
    return p * np.int32((n + np.int32(127)) << np.int32(23)).view(np.float32)


@njit(inline="always")
def power(base: np.float32, degree: int) -> np.float32:
    """Return base^degree for a small whole degree."""
    value = _ONE
    for _ in range(degree):
        value = value * base
    return value


@njit(inline="always")
def column_value(kind: int, gamma: np.float32, degree: int, coef0: np.float32, total: np.float32) -> np.float32:
    """Return the kernel's value from its sum over features."""
    if kind == RBF:
        return exp_negative(-gamma * total)
    if kind == LINEAR:
        return total
    return power(gamma * total + coef0, degree)


@njit(cache=True, nogil=True, fastmath=True)
def candidate_column(
    kind: int, gamma: np.float32, degree: int, coef0: np.float32,
    sums: NDArray, feature: NDArray, value: np.float32, out: NDArray,
) -> None:  # fmt: skip
    """Write the column that results when `feature` (its samples) joins a column with running `sums`."""
    if kind == RBF:
        for t in range(sums.size):
            difference = feature[t] - value
            out[t] = exp_negative(-gamma * (sums[t] + difference * difference))
    else:
        for t in range(sums.size):
            out[t] = column_value(kind, gamma, degree, coef0, sums[t] + feature[t] * value)


@njit(cache=True, nogil=True, fastmath=True)
def matching_gains(
    kind: int, gamma: np.float32, degree: int, coef0: np.float32,
    XT: NDArray, features: NDArray, values: NDArray, sums: NDArray, residuals: NDArray, gains: NDArray,
) -> None:  # fmt: skip
    """Gain of each candidate feature of one basis vector, against centred residuals.

    gain = sum_l (r_l . c)^2 / |c - mean(c)|^2, the drop of the squared error when c alone is added.
    """
    n = sums.size
    column = np.empty(n, np.float32)
    shrink = _F(1.0 / n)
    for a in range(features.size):
        candidate_column(kind, gamma, degree, coef0, sums, XT[features[a]], values[a], column)
        mean = _F(0.0)
        for t in range(n):
            mean += column[t]
        mean *= shrink
        variance = _F(0.0)
        for t in range(n):
            # Two passes: a narrow masked column is nearly constant and the one-pass formula would cancel.
            column[t] -= mean
            variance += column[t] * column[t]
        total = _F(0.0)
        for m in range(residuals.shape[0]):
            dot = _F(0.0)
            for t in range(n):
                dot += column[t] * residuals[m, t]
            total += dot * dot
        floor = _F(1e-9) * n * mean * mean + _F(1e-30)
        gains[a] = total / variance if variance > floor else _F(0.0)


@njit(cache=True, nogil=True)
def exact_dots(
    kind: int, gamma: float, degree: int, coef0: float,
    XT: NDArray, values: NDArray, sums: NDArray, directions: NDArray, dots: NDArray, norms: NDArray,
) -> None:  # fmt: skip
    """Double-precision products of every candidate of one basis vector with given directions.

    `dots` (features x directions) and `norms` (squared norms) are filled; one candidate costs
    O(samples x directions).
    """
    n = sums.size
    column = np.empty(n, np.float64)
    for i in range(XT.shape[0]):
        square = 0.0
        for t in range(n):
            if kind == RBF:
                difference = XT[i, t] - values[i]
                c = np.exp(-gamma * (sums[t] + difference * difference))
            else:
                c = sums[t] + XT[i, t] * values[i]
                if kind != LINEAR:
                    c = (gamma * c + coef0) ** degree
            column[t] = c
            square += c * c
        norms[i] = square
        for m in range(directions.shape[0]):
            dot = 0.0
            for t in range(n):
                dot += column[t] * directions[m, t]
            dots[i, m] = dot


@njit(cache=True, nogil=True)
def order_by_bin(codes: NDArray, order: NDArray, edges: NDArray) -> None:
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
def bin_sums(order: NDArray, edges: NDArray, weights: NDArray, bins: NDArray) -> None:
    """Sum four weights (samples x 4) of the samples in each bin of every feature (features x bins x 4).

    Bin by bin, so that the sums stay in registers; every other sample has sums of its own, or each addition would wait
    for the one before.
    """
    for i in range(order.shape[0]):
        row = order[i]
        for b in range(bins.shape[1]):
            a0 = a1 = a2 = a3 = c0 = c1 = c2 = c3 = _F(0.0)
            t, last = edges[i, b], edges[i, b + 1]
            while t + 1 < last:
                v, w = weights[row[t]], weights[row[t + 1]]
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
                v = weights[row[t]]
                a0 += v[0]
                a1 += v[1]
                a2 += v[2]
                a3 += v[3]
            out = bins[i, b]
            out[0], out[1], out[2], out[3] = a0 + c0, a1 + c1, a2 + c2, a3 + c3


@njit(cache=True, nogil=True, fastmath=True)
def screened_gains(
    values: NDArray, bins: NDArray, m: int, outside: NDArray, squares: NDArray, free: np.float32, gains: NDArray
) -> None:
    """Gains of all binned candidates, and the update of their squares outside the span.

    The first `m` columns of `bins` belong to the residual, the others to directions that have entered the span.
    """
    n_bins = values.shape[2]
    weights = np.empty(n_bins, np.float32)
    for i in range(values.shape[0]):
        gains[i] = _F(0.0)
        for k in range(bins.shape[2]):
            for x in range(n_bins):
                weights[x] = bins[i, x, k]
            for b in range(values.shape[1]):
                dot = _F(0.0)
                for x in range(n_bins):
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
def best_by_basis(basis_codes: NDArray, unused: NDArray, gains: NDArray) -> tuple[NDArray, NDArray]:
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


@njit(inline="always")
def expm1_negative(x: np.float32) -> np.float32:
    """Return exp(x) - 1 for x <= 0 in single precision.

    2^n 2^f - 1 with |f| <= 1/2 and a polynomial for 2^f - 1, the part that varies, without the 1 it is added to: large
    weights that cancel each other then cost no digits.
    """
    x = max(x * _LOG2E, _LOWEST_POWER)
    n = np.int32(x - _HALF)
    f = x - _F(n)
    p = (((((_E6 * f + _E5) * f + _E4) * f + _E3) * f + _E2) * f + _E1) * f
    scale = np.int32((n + np.int32(127)) << np.int32(23)).view(np.float32)
    return scale * p + (scale - _ONE)


def expm1_of(x: float) -> float:
    """exp(x) - 1 for x <= 0 in the precision of x."""
    return float(np.expm1(x))


@overload(expm1_of, inline="always")
def _expm1_of(x):  # type: ignore[no-untyped-def]  # numba compares this signature with the lambdas'
    if x == types.float32:
        return lambda x: expm1_negative(x)
    return lambda x: np.expm1(x)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz", "arcp"})
def tiled_decision(
    kind: int, degree: int, coef0: np.float32,
    X: NDArray, used: NDArray, starts: NDArray, places: NDArray, values: NDArray,
    gammas: NDArray, weights: NDArray, offset: NDArray, out: NDArray,
) -> None:  # fmt: skip
    """Evaluate a masked expansion for a tile of samples at a time; see `TiledPredictor`."""
    # Rows of the tile a power of two apart would share few places of the cache.
    tile = np.zeros((used.size, _TILE + _PADDING), values.dtype)
    column = np.empty(_TILE, values.dtype)
    total = np.empty((weights.shape[0], _TILE))
    for begin in range(0, X.shape[0], _TILE):
        count = min(_TILE, X.shape[0] - begin)
        for t in range(count):
            row = X[begin + t]
            for u in range(used.size):
                tile[u, t] = row[used[u]]
        total[:] = 0.0
        # All lanes are computed, those past `count` on what an earlier tile left: a fixed length is compiled best.
        for c in range(gammas.size):
            for t in range(_TILE):
                column[t] = 0.0
            for e in range(starts[c], starts[c + 1]):
                value = values[e]
                lanes = tile[places[e]]
                if kind == RBF:
                    for t in range(_TILE):
                        difference = lanes[t] - value
                        column[t] += difference * difference
                else:
                    for t in range(_TILE):
                        column[t] += lanes[t] * value
            gamma = gammas[c]
            if kind == RBF:
                for t in range(_TILE):
                    column[t] = expm1_of(-gamma * column[t])
            else:
                for t in range(_TILE):
                    column[t] = power(gamma * column[t] + coef0, degree)
            for m in range(weights.shape[0]):
                weight = weights[m, c]
                for t in range(_TILE):
                    total[m, t] += weight * column[t]
        for m in range(weights.shape[0]):
            for t in range(count):
                out[begin + t, m] = total[m, t] + offset[m]


@njit(cache=True, nogil=True)
def table_decision(
    X: NDArray, features: NDArray, lows: NDArray, scales: NDArray, tables: NDArray, out: NDArray, missed: NDArray
) -> None:
    """Add tabulated functions of single features; `missed` marks samples outside a table's range.

    `tables` is features x entries x outputs; between two entries the value is interpolated.
    """
    last = tables.shape[1] - 2
    for t in range(X.shape[0]):
        for k in range(features.size):
            place = (_F(X[t, features[k]]) - lows[k]) * scales[k]
            if place < _F(0.0) or place > _F(last + 1):
                missed[t] = True
                break
            entry = min(np.int32(place), np.int32(last))
            part = place - _F(entry)
            for m in range(out.shape[1]):
                here = tables[k, entry, m]
                out[t, m] += here + part * (tables[k, entry + 1, m] - here)
