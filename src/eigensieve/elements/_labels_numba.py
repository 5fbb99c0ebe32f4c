"""The search for bumps on binned features, compiled.

A bump's gain needs sums per bin of the gradient, one per output, of the curvature times the squared parent column, and
of the curvature times that column. The terms are whole numbers, three in one word of 64 bits: one addition makes three
sums. All samples are summed in the order of their bins, and a bin is the difference of two places.
"""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import Array
from eigensieve.elements._guided_numba import BINS
from eigensieve.elements._kernel_numba import exp_negative

_F, _WORD = np.float32, np.int64
_ZERO = _F(0.0)
_NOTHING = _F(1e-30)
"""Smaller sums count as zero: their reciprocals would leave single precision."""
_FIELD = 21
_HALF = 1 << (_FIELD - 1)
_MASK = (1 << _FIELD) - 1


@njit(cache=True, nogil=True, fastmath=True)
def pack(gradient: Array, curvature: Array, parent: Array, words: Array, units: Array) -> None:
    """Round the terms to multiples of their `units` and put three into each word (words x samples). A unit, about
    n / 2^20 of the term's mean size, is the smallest for which no sum over samples leaves its field of the word."""
    m, n = gradient.shape
    term = np.empty(n, np.float32)
    words[:] = 0
    for q in range(m + 2):
        if q < m:
            for t in range(n):
                term[t] = gradient[q, t] * parent[t]
        elif q == m:
            for t in range(n):
                term[t] = curvature[t] * parent[t] * parent[t]
        else:
            for t in range(n):
                term[t] = curvature[t] * parent[t]
        total = _ZERO
        for t in range(n):
            total += abs(term[t])
        units[q] = total / _F(_HALF - 1 - n) if total > _NOTHING else _F(1.0)
        per_unit = _F(1.0) / units[q]
        word, shift = words[q // 3], (q % 3) * _FIELD
        for t in range(n):
            word[t] += _WORD(np.rint(term[t] * per_unit)) << shift


@njit(cache=True, nogil=True, fastmath=True)
def sums_in_bins(order: Array, edges: Array, words: Array, units: Array, running: Array, sums: Array) -> None:
    """Fill in the sums of the terms (terms x bins) for one feature, whose samples `order` sorts by bin. `running` has
    room for one number more than there are samples and bins."""
    left = running[order.size + 1 :]
    for w in range(words.shape[0]):
        word = words[w]
        total = _WORD(0)
        for t in range(order.size):
            running[t] = total
            total += word[order[t]]
        running[order.size] = total
        for b in range(BINS):
            left[b] = running[edges[b + 1]] - running[edges[b]]
        for q in range(3 * w, min(3 * w + 3, units.size)):
            out, unit = sums[q], units[q]
            for b in range(BINS):
                number = ((left[b] + _HALF) & _MASK) - _HALF
                out[b] = _F(np.int32(number)) * unit
                left[b] = (left[b] - number) >> _FIELD


@njit(cache=True, nogil=True, fastmath=True)
def scan(table: Array, sums: Array, n: int, total: np.float32, ridge: np.float32, gains: Array) -> int:
    """Fill in the gains of bumps centred on each of n bins, and return the bin of the largest."""
    m = sums.shape[0] - 2
    gains[:n] = _ZERO
    for k in range(m):
        gradient = sums[k]
        for c in range(n):
            bump = table[n - 1 - c : 2 * n - 1 - c]
            dot = _ZERO
            for b in range(n):
                dot += bump[b] * gradient[b]
            gains[c] += dot * dot
    squares, means = sums[m], sums[m + 1]
    for c in range(n):
        bump = table[n - 1 - c : 2 * n - 1 - c]
        square = mean = _ZERO
        for b in range(n):
            square += bump[b] * bump[b] * squares[b]
            mean += bump[b] * means[b]
        gains[c] /= max(square - mean * mean / total, _ZERO) + ridge
    best = 0
    for c in range(1, n):
        if gains[c] > gains[best]:
            best = c
    return best


@njit(cache=True, nogil=True, fastmath=True)
def join(sums: Array, joined: int, wide: Array) -> None:
    """Add the sums of neighbouring bins."""
    for q in range(sums.shape[0]):
        for b in range(BINS // joined):
            wide[q, b] = _ZERO
            for k in range(joined):
                wide[q, b] += sums[q, joined * b + k]


@njit(cache=True, nogil=True, fastmath=True)
def best_bump(
    table: Array, joined: int, sums: Array, total: np.float32, ridge: np.float32, work: Array
) -> tuple[np.float32, np.float32]:
    """Return the gain of the best bump on one feature, and its centre in bins from the first bin's lower end. `table`
    holds a bump's value by the distance between bins. Wide bumps see `joined` bins as one, 1, 2 or 4. The centre is the
    top of a parabola through the best bin and its neighbours. `total` is the sum of the curvature."""
    gains, wide = work[0], work[1:]
    # The compiler unrolls short loops of known length. For 32 bins it must not know, or it computes one at a time.
    if joined == 1:
        best = scan(table, sums, sums.shape[1], total, ridge, gains)
    elif joined == 2:
        join(sums, 2, wide)
        best = scan(table, wide, BINS // 2, total, ridge, gains)
    else:
        join(sums, 4, wide)
        best = scan(table, wide, BINS // 4, total, ridge, gains)
    place = _F(best) + _F(0.5)
    if 0 < best < BINS // joined - 1:
        left, middle, right = gains[best - 1], gains[best], gains[best + 1]
        bend = left + right - middle - middle
        if bend < _ZERO:
            place += _F(0.5) * (left - right) / bend
    return gains[best], place * _F(joined)


@njit(cache=True, nogil=True, fastmath=True)
def single_gains(
    order: Array, edges: Array, tables: Array, joined: Array, features: Array, gradient: Array, curvature: Array,
    ridge: np.float32, gains: Array, places: Array,
) -> None:  # fmt: skip
    """Fill in the gain of the features' best bumps of every width, and their centres in bins (widths x features)."""
    m, n = gradient.shape
    words, units = np.empty(((m + 4) // 3, n), np.int64), np.empty(m + 2, np.float32)
    running, sums = np.empty(n + 1 + BINS, np.int64), np.empty((m + 2, BINS), np.float32)
    work = np.empty((m + 3, BINS), np.float32)
    pack(gradient, curvature, np.ones(n, np.float32), words, units)
    total = curvature.sum()
    for k in range(features.size):
        i = features[k]
        sums_in_bins(order[i], edges[i], words, units, running, sums)
        for width in range(tables.shape[0]):
            gains[width, k], places[width, k] = best_bump(tables[width, i], joined[width, i], sums, total, ridge, work)


@njit(cache=True, nogil=True)
def most_promising(among: Array, gains: Array, count: int) -> Array:
    """Return the features with the largest gains, in their order; of equals the first."""
    least = np.partition(gains, gains.size - count)[gains.size - count]
    above = 0
    for gain in gains:
        above += gain > least
    kept = np.empty(count, among.dtype)
    k, equals = 0, count - above
    for j in range(gains.size):
        if gains[j] > least or (gains[j] == least and equals > 0):
            equals -= gains[j] == least
            kept[k] = among[j]
            k += 1
    return kept


@njit(cache=True, nogil=True, fastmath=True)
def grow(
    order: Array, edges: Array, tables: Array, joined: Array, low: Array, step: Array, X: Array, gammas: Array,
    gradient: Array, curvature: Array, ridge: np.float32, worth: Array, second: Array, promising: int,
    widths: Array, features: Array, centres: Array, gains: Array,
) -> None:  # fmt: skip
    """Grow bumps by one feature after the other, each time by the one with the largest gain. `features` and `centres`
    (bumps x features) start with one column and are filled in, as is `gains` per size. `worth` is a factor on the gain
    per feature. Second features come from `second`, further ones from the most promising of these."""
    m, n = gradient.shape
    words, units = np.empty(((m + 4) // 3, n), np.int64), np.empty(m + 2, np.float32)
    running, sums = np.empty(n + 1 + BINS, np.int64), np.empty((m + 2, BINS), np.float32)
    work = np.empty((m + 3, BINS), np.float32)
    distance, parent = np.empty(n, np.float32), np.empty(n, np.float32)
    total = curvature.sum()
    for s in range(widths.size):
        width = widths[s]
        among = second
        distance[:] = _ZERO
        factor = _F(1.0)
        for k in range(1, features.shape[1]):
            last, centre = features[s, k - 1], centres[s, k - 1]
            factor *= worth[last]
            for t in range(n):
                distance[t] += _F(gammas[width] * (X[last, t] - centre) ** 2)
            for t in range(n):
                parent[t] = exp_negative(-distance[t])
            pack(gradient, curvature, parent, words, units)
            found, places = np.empty(among.size, np.float32), np.empty(among.size, np.float32)
            for j in range(among.size):
                i = among[j]
                sums_in_bins(order[i], edges[i], words, units, running, sums)
                gain, places[j] = best_bump(tables[width, i], joined[width, i], sums, total, ridge, work)
                found[j] = gain * worth[i]
            for j in range(among.size):
                for known in features[s, :k]:
                    if among[j] == known:
                        found[j] = _ZERO
            best = np.argmax(found)
            i = features[s, k] = among[best]
            centres[s, k] = low[i] + step[i] * places[best]
            gains[s, k] = found[best] * factor
            if among.size > promising:
                among = most_promising(among, found, promising)
