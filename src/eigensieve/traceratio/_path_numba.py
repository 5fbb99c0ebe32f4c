"""Compiled core of the path: the optimal trace ratio for every subset size at once."""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def _threshold(values: FloatArray, counts: IntArray, k: int) -> float:
    """Return the k-th largest value; each value stands for `counts` equal features."""
    order = np.argsort(-values)
    seen = 0
    for u in order:
        seen += counts[u]
        if seen >= k:
            return values[u]
    return values[order[-1]]


@njit(cache=True, nogil=True)
def _dinkelbach(
    b: FloatArray, e: FloatArray, counts: IntArray, base_b: float, base_e: float, k: int, lam: float
) -> tuple[float, float]:
    """Return lambda* for the base plus the best k of the lines, and e at the boundary. `lam` is a lower bound."""
    boundary = e[0]
    while True:
        order = np.argsort(lam * e - b)
        sum_b, sum_e, left = base_b, base_e, k
        for u in order:
            taken = min(left, counts[u])
            sum_b += taken * b[u]
            sum_e += taken * e[u]
            left -= taken
            if left == 0:
                boundary = e[u]
                break
        new = sum_b / sum_e
        if new <= lam * (1 + 1e-15):
            return max(new, lam), boundary
        lam = new


@njit(cache=True, nogil=True)
def _still_open(
    b: FloatArray, e: FloatArray, counts: IntArray, lo: int, hi: int, low: float, high: float, slope: float
) -> tuple[BoolArray, BoolArray]:
    """Return which lines v_i(lambda) = b_i - lambda e_i can change side for sizes lo..hi and lambda in [low, high].

    Returns the lines still open, and the lines in every subset of the range: they stay above the lo-th largest value
    over the whole interval. The rest stay below the hi-th largest value and are in no subset. A common slope is first
    taken out of all lines. It does not change their order, and it tightens the bounds.
    """
    at_low = b - low * (e - slope)
    at_high = b - high * (e - slope)
    upper = np.maximum(at_low, at_high)
    lower = np.minimum(at_low, at_high)
    enter = _threshold(upper, counts, lo)
    leave = _threshold(lower, counts, hi)
    surely_in = np.empty(len(b), dtype=np.bool_)
    is_open = np.empty(len(b), dtype=np.bool_)
    for u in range(len(b)):
        # Rounding must never move a line that ties with the boundary.
        slack = 1e-12 * (b[u] + high * (e[u] + slope) + max(abs(enter), abs(leave)))
        surely_in[u] = lower[u] - slack > enter
        is_open[u] = not surely_in[u] and upper[u] + slack >= leave
    return is_open, surely_in


@njit(cache=True, nogil=True)
def all_sizes(b: FloatArray, e: FloatArray, counts: IntArray, free_b: float) -> FloatArray:
    """Return lambda* for m = 1, 2, ... lines with e > 0, added to features with e = 0 and between scatter `free_b`.

    Works on a stack of size ranges. The middle size is solved, and it bounds lambda* of both halves (Theorem 2).
    """
    n = int(np.sum(counts))
    out = np.empty(n)
    out[n - 1] = (free_b + np.sum(counts * b)) / np.sum(counts * e)
    if n == 1:
        return out
    out[0], slope = _dinkelbach(b, e, counts, free_b, 0.0, 1, out[n - 1])
    stack = [(b, e, counts, free_b, 0.0, 0, 2, n - 1, slope)]
    while len(stack) > 0:
        b, e, counts, base_b, base_e, base_count, lo, hi, slope = stack.pop()
        if lo > hi:
            continue
        low, high = out[hi], out[lo - 2]
        if high - low <= 1e-15 * high:
            out[lo - 1 : hi] = low
            continue
        is_open, surely_in = _still_open(b, e, counts, lo - base_count, hi - base_count, low, high, slope)
        base_b += float(np.sum(counts[surely_in] * b[surely_in]))
        base_e += float(np.sum(counts[surely_in] * e[surely_in]))
        base_count += int(np.sum(counts[surely_in]))
        b, e, counts = b[is_open], e[is_open], counts[is_open]
        mid = (lo + hi) // 2
        lam, slope = _dinkelbach(b, e, counts, base_b, base_e, mid - base_count, low)
        out[mid - 1] = min(lam, high)
        stack.append((b, e, counts, base_b, base_e, base_count, lo, mid - 1, slope))
        stack.append((b, e, counts, base_b, base_e, base_count, mid + 1, hi, slope))
    return out
