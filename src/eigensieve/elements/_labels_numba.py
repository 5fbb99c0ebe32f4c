"""The search for bumps on binned features, compiled.

A bump's gain needs sums per bin of the gradient, one per output, of the curvature times the squared parent column, and
of the curvature times that column.
"""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import Array
from eigensieve.elements._guided_numba import BINS, sums_in_bins
from eigensieve.elements._kernel_numba import bump

_F = np.float32
_ZERO = _F(0.0)
_NOTHING = _F(1e-30)
"""Smaller variances count as this: their reciprocals would leave single precision."""


@njit(cache=True, nogil=True, fastmath=True)
def mix(rows: Array, one: Array, other: Array, share: Array) -> None:
    """Fill the last columns of `rows` (features x samples) with mixtures: of column `one` with weight `share`, and of
    column `other` with the rest."""
    first = rows.shape[1] - one.size
    for i in range(rows.shape[0]):
        row = rows[i]
        for t in range(one.size):
            row[first + t] = share[t] * row[one[t]] + (_F(1.0) - share[t]) * row[other[t]]


@njit(cache=True, nogil=True, fastmath=True)
def moments_of(rows: Array, moments: Array) -> None:
    """Fill in the means of each row's values and squares, and one over their variances."""
    n = _F(rows.shape[1])
    for i in range(rows.shape[0]):
        row = rows[i]
        line = square = fourth = _ZERO
        for t in range(row.size):
            line += row[t]
            square += row[t] * row[t]
            fourth += row[t] * row[t] * row[t] * row[t]
        line, square = line / n, square / n
        moments[i, 0], moments[i, 1] = line, square
        moments[i, 2] = _F(1.0) / max(square - line * line, _NOTHING)
        moments[i, 3] = _F(1.0) / max(fourth / n - square * square, _NOTHING)


@njit(cache=True, nogil=True, fastmath=True)
def terms_of(gradient: Array, curvature: Array, parent: Array, terms: Array) -> None:
    """Fill in the terms of the sums, four side by side (groups x samples x 4)."""
    m = gradient.shape[0]
    for q in range(m + 2):
        side, place = terms[q // 4], q % 4
        for t in range(parent.size):
            if q < m:
                side[t, place] = gradient[q, t] * parent[t]
            elif q == m:
                side[t, place] = curvature[t] * parent[t] * parent[t]
            else:
                side[t, place] = curvature[t] * parent[t]


@njit(cache=True, nogil=True, fastmath=True)
def scan(table: Array, sums: Array, m: int, n: int, total: np.float32, ridge: np.float32, gains: Array) -> int:
    """Fill in the gains of bumps centred on each of n bins, and return the bin of the largest."""
    gains[:n] = _ZERO
    for k in range(m):
        gradient = sums[k]
        for c in range(n):
            near = table[n - 1 - c : 2 * n - 1 - c]
            dot = _ZERO
            for b in range(n):
                dot += near[b] * gradient[b]
            gains[c] += dot * dot
    squares, means = sums[m], sums[m + 1]
    for c in range(n):
        near = table[n - 1 - c : 2 * n - 1 - c]
        square = mean = _ZERO
        for b in range(n):
            square += near[b] * near[b] * squares[b]
            mean += near[b] * means[b]
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
    table: Array, joined: int, sums: Array, m: int, total: np.float32, ridge: np.float32, work: Array
) -> tuple[np.float32, np.float32]:
    """Return the gain of the best bump on one feature, and its centre in bins from the first bin's lower end. `sums`
    has a row for each of m outputs, one for squares and one for means. `table` holds a bump's value by the distance
    between bins. Wide bumps see `joined` bins as one, 1, 2 or 4. The centre is the top of a parabola through the best
    bin and its neighbours. `total` is the sum of the curvature."""
    gains, wide = work[0], work[1:]
    # The compiler unrolls short loops of known length. For 32 bins it must not know, or it computes one at a time.
    if joined == 1:
        best = scan(table, sums, m, sums.shape[1], total, ridge, gains)
    elif joined == 2:
        join(sums, 2, wide)
        best = scan(table, wide, m, BINS // 2, total, ridge, gains)
    else:
        join(sums, 4, wide)
        best = scan(table, wide, m, BINS // 4, total, ridge, gains)
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
    groups = (m + 5) // 4
    terms, sums = np.zeros((groups, n, 4), np.float32), np.empty((4 * groups, BINS), np.float32)
    work = np.empty((4 * groups + 1, BINS), np.float32)
    terms_of(gradient, curvature, np.ones(n, np.float32), terms)
    total = curvature.sum()
    for k in range(features.size):
        i = features[k]
        sums_in_bins(order[i], edges[i], terms, sums)
        for w in range(tables.shape[0]):
            gains[w, k], places[w, k] = best_bump(tables[w, i], joined[w, i], sums, m, total, ridge, work)


@njit(cache=True, nogil=True, fastmath=True)
def most_promising(
    X: Array, moments: Array, gradient: Array, parent: Array, among: Array, known: Array, count: int
) -> Array:
    """Return at most `count` of the features, in their order: those whose values and squares, on the samples that the
    parent column sees, go most with the gradient. The `moments` of a feature are the means of its values and squares,
    and one over their variances."""
    scores = np.empty(among.size, np.float32)
    force = np.empty(parent.size, np.float32)
    scores[:] = _ZERO
    for q in range(gradient.shape[0]):
        whole = _ZERO
        for t in range(parent.size):
            force[t] = gradient[q, t] * parent[t]
            whole += force[t]
        for j in range(among.size):
            row, moment = X[among[j]], moments[among[j]]
            line = parabola = _ZERO
            for t in range(parent.size):
                product = force[t] * row[t]
                line += product
                parabola += product * row[t]
            line -= whole * moment[0]
            parabola -= whole * moment[1]
            scores[j] += line * line * moment[2] + parabola * parabola * moment[3]
    for j in range(among.size):
        for feature in known:
            if among[j] == feature:
                scores[j] = -_F(1.0)
    best = np.zeros(among.size, np.bool_)
    for _ in range(min(count, among.size)):
        top = scores.argmax()
        if scores[top] < _ZERO:
            break
        best[top], scores[top] = True, -_F(1.0)
    return among[best]


@njit(cache=True, nogil=True, fastmath=True)
def grow(
    order: Array, edges: Array, tables: Array, joined: Array, low: Array, step: Array, X: Array, moments: Array,
    gammas: Array, gradient: Array, curvature: Array, ridge: np.float32, second: Array, promising: int,
    widths: Array, features: Array, centres: Array, lengths: Array,
) -> None:  # fmt: skip
    """Grow bumps by one feature after the other, each time by the one with the largest gain, where the bump of all
    features counts as the product of the bump so far and one on the new feature. `features` and `centres`
    (bumps x features) start with one column and are filled in, as are the bumps' `lengths`. Features come from
    `second`; the most promising are tried."""
    m, n = gradient.shape
    groups = (m + 5) // 4
    terms, sums = np.zeros((groups, n, 4), np.float32), np.empty((4 * groups, BINS), np.float32)
    work = np.empty((4 * groups + 1, BINS), np.float32)
    distance, parent = np.empty(n, np.float32), np.empty(n, np.float32)
    total = curvature.sum()
    for s in range(widths.size):
        width = widths[s]
        gamma = _F(gammas[width])
        distance[:] = _ZERO
        for k in range(1, features.shape[1]):
            last, centre = features[s, k - 1], _F(centres[s, k - 1])
            for t in range(n):
                apart = X[last, t] - centre
                distance[t] += gamma * apart * apart
            for t in range(n):
                parent[t] = bump(distance[t])
            terms_of(gradient, curvature, parent, terms)
            among = most_promising(X, moments, gradient, parent, second, features[s, :k], promising)
            best = -_F(1.0)
            for i in among:
                sums_in_bins(order[i], edges[i], terms, sums)
                gain, place = best_bump(tables[width, i], joined[width, i], sums, m, total, ridge, work)
                if gain > best:
                    best, lengths[s] = gain, k + 1
                    features[s, k] = i
                    centres[s, k] = low[i] + step[i] * place
            if lengths[s] <= k:
                break


@njit(cache=True, nogil=True, fastmath=True)
def pick(
    gram: Array, pull: Array, lengths: Array, ridge: float, room: int, count: int, least: float, nearly: float
) -> Array:
    """Return candidates in the order of their gains, each beside those picked before: at most `count`, whose `lengths`
    fit into the `room`, and which gain more than `least` and `nearly` times what the first gains. `gram` and `pull`,
    the products of the candidates among themselves and with the gradient (candidates x outputs), are overwritten."""
    chosen = np.empty(count, np.int64)
    free = np.ones(len(gram), np.bool_)
    for k in range(count):
        best, top = -1, least
        for c in range(len(gram)):
            gain = (pull[c] ** 2).sum() / (max(gram[c, c], 0.0) + ridge)
            if free[c] and lengths[c] <= room and gain > top:
                best, top = c, gain
        if best < 0:
            return chosen[:k]
        chosen[k], free[best] = best, False
        room -= lengths[best]
        if k == 0:
            least = max(least, nearly * top)
        along = gram[best] / (max(gram[best, best], 0.0) + ridge)
        own, pulled = gram[best].copy(), pull[best].copy()
        for c in range(len(gram)):
            for q in range(pulled.size):
                pull[c, q] -= along[c] * pulled[q]
            for e in range(len(gram)):
                gram[c, e] -= along[c] * own[e]
    return chosen
