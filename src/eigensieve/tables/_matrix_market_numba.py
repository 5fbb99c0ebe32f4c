"""Compiled parsing of Matrix Market entries: indices and a value per line, or values alone.

scipy's parser crashes on damaged files, as `matrix_market` says. It also reads "5x" as 5 and "1E2E-1" as 100.
"""

import numpy as np

from eigensieve._compiled import njit
from eigensieve.tables._delimited_numba import DIGITS, LONG, MISSING, NUMBER, _number

_POINT, _ZERO, _N = 46, 48, 110
BAD = -1


@njit(cache=True, nogil=True)
def _is_space(byte):
    return byte == 32 or 9 <= byte <= 13


@njit(cache=True, nogil=True)
def _is_nan(text, first, last):
    return last - first == 3 and text[first] | 32 == _N and text[last - 1] | 32 == _N


@njit(cache=True, nogil=True)
def parse_entries(text, place, indices, values, with_values, long):
    """Parse the entries that begin at a place. Return how many values have many digits, or BAD.

    `indices` receives the indices, from 1, and `values` the value of each entry; `with_values` says whether there are
    values. `long` receives entry, first byte and last-plus-one byte of the values with many digits, as far as it has
    room. BAD: there are more or fewer entries than places for them, or one is no number.
    """
    n_long = 0
    entry = 0
    while True:
        while place < text.size and _is_space(text[place]):
            place += 1
        if place == text.size:
            return n_long if entry == values.size else BAD
        if entry == values.size:
            return BAD
        for part in range(indices.shape[1] + with_values):
            while place < text.size and _is_space(text[place]):
                place += 1
            first = place
            while place < text.size and not _is_space(text[place]):
                place += 1
            if first == place:
                return BAD
            if part < indices.shape[1]:
                index = np.int64(0)
                for i in range(first, place):
                    if not _ZERO <= text[i] <= _ZERO + 9 or i - first > 17:
                        return BAD
                    index = index * 10 + np.int64(text[i] - _ZERO)
                indices[entry, part] = index
                continue
            kind, value = _number(text, first, place, _POINT)
            values[entry] = value
            if kind == LONG:
                if n_long < long.shape[0]:
                    long[n_long, 0], long[n_long, 1], long[n_long, 2] = entry, first, place
                n_long += 1
            elif kind not in (NUMBER, DIGITS) and not (kind == MISSING and _is_nan(text, first, place)):
                return BAD
        entry += 1
