"""Compiled core of the path: the optimal trace ratio for every subset size at once."""

import numba
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Counts = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def _threshold(values: Vector, counts: Counts, k: int) -> float:
    """The k-th largest value, each value standing for `counts` equal features."""
    order = np.argsort(-values)
    seen = 0
    for u in order:
        seen += counts[u]
        if seen >= k:
            return values[u]
    return values[order[-1]]


@numba.njit(cache=True, nogil=True)
def _dinkelbach(
    b: Vector, e: Vector, counts: Counts, base_b: float, base_e: float, k: int, lam: float
) -> tuple[float, float]:
    """lambda* for the base plus the best k of the lines, from a lower bound; and e at the boundary."""
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


@numba.njit(cache=True, nogil=True)
def _sweep(
    b: Vector,
    e: Vector,
    counts: Counts,
    base_b: float,
    base_e: float,
    base_count: int,
    lo: int,
    hi: int,
    low: float,
    high: float,
    slope: float,
    out: Vector,
) -> int:
    """Fill ``out[m - 1]`` for lo <= m <= hi, whose lambda* all lie in [low, high].

    Lines v_i(lambda) = b_i - lambda e_i that stay above the lo-th largest value all over [low, high] are
    in every subset of the range and move to the base; lines below the hi-th largest value are in none and
    are dropped. A common slope is taken out first: it leaves the order alone and tightens the bounds.
    """
    if lo > hi:
        return 0
    if high - low <= 1e-15 * high:
        for m in range(lo, hi + 1):
            out[m - 1] = low
        return 0

    at_low = b - low * (e - slope)
    at_high = b - high * (e - slope)
    upper = np.maximum(at_low, at_high)
    lower = np.minimum(at_low, at_high)
    # Rounding must never move a line that ties with the boundary.
    scale = 1e-12 * (np.abs(b) + high * (e + slope))
    enter = _threshold(upper, counts, lo - base_count)
    leave = _threshold(lower, counts, hi - base_count)
    keep = np.empty(len(b), dtype=np.bool_)
    for u in range(len(b)):
        surely_in = lower[u] - scale[u] > enter + 1e-12 * abs(enter)
        surely_out = upper[u] + scale[u] < leave - 1e-12 * abs(leave)
        keep[u] = not (surely_in or surely_out)
        if surely_in:
            base_b += counts[u] * b[u]
            base_e += counts[u] * e[u]
            base_count += counts[u]
    b, e, counts = b[keep], e[keep], counts[keep]

    mid = (lo + hi) // 2
    lam, slope = _dinkelbach(b, e, counts, base_b, base_e, mid - base_count, low)
    lam = min(lam, high)
    out[mid - 1] = lam
    _sweep(b, e, counts, base_b, base_e, base_count, lo, mid - 1, lam, high, slope, out)
    _sweep(b, e, counts, base_b, base_e, base_count, mid + 1, hi, low, lam, slope, out)
    return 0


@numba.njit(cache=True, nogil=True)
def all_sizes(b: Vector, e: Vector, counts: Counts, base_b: float) -> Vector:
    """lambda* for m = 1, 2, ... lines with e > 0, on top of a base of between scatter `base_b`."""
    n = np.sum(counts)
    out = np.empty(n)
    total_b, total_e = base_b, 0.0
    for u in range(len(b)):
        total_b += counts[u] * b[u]
        total_e += counts[u] * e[u]
    out[n - 1] = total_b / total_e
    if n > 1:
        high, slope = _dinkelbach(b, e, counts, base_b, 0.0, 1, out[n - 1])
        out[0] = high
        _sweep(b, e, counts, base_b, 0.0, 0, 2, n - 1, out[n - 1], high, slope, out)
    return out
