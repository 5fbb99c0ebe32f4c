"""Compiled parsing of numbers, exactly and without copies: rows of delimited text, and entries of Matrix Market files.

A number is read as ``mantissa * 10^exponent`` and rounded to the nearest float by the method of Eisel and Lemire (D.
Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51, 2021, section 5). This file is
imported when a file is read, so that numba does not slow the import of the package.
"""

import math

import numpy as np

from eigensieve._compiled import njit
from eigensieve.tables.dialect import TRUTH_WORDS
from eigensieve.tables.labels import MISSING_WORDS

NUMBER, MISSING, TEXT, LONG, DIGITS = 0, 1, 2, 3, 4
"""Kinds of cells. LONG is a number with too many digits, for Python's own float(). DIGITS is a whole number that no
float can hold."""

_QUOTE, _SPACE, _NEWLINE, _RETURN = 34, 32, 10, 13
_BEFORE_A_CELL = (10, 44, 9, 59, 124, 32)  # newline and delimiters: only after these does a quote open a quoted cell
_PLUS, _MINUS, _LOWER_E = 43, 45, 101
_POINT, _N = 46, 110
_ZERO = 48
BAD = -1


def _packed(word: str) -> int:
    return int.from_bytes(word.encode(), "little")


_MISSING = tuple(map(_packed, MISSING_WORDS))
_FALSE, _TRUE = map(_packed, TRUTH_WORDS)
_INFINITE = tuple(map(_packed, ("inf", "infinity")))
_POWERS_OF_TEN = np.array([10.0**e for e in range(23)])
_SMALLEST, _LARGEST = -342, 308
"""Outside these decimal exponents, a number with a 64-bit mantissa is zero or infinite."""


def _power_of_five(q: int) -> int:
    """``5^q`` scaled to [2^127, 2^128): rounded down where q is positive, up where it is negative."""
    power = 5 ** abs(q)
    if q >= 0:
        shift = 128 - power.bit_length()
        return power << shift if shift >= 0 else power >> -shift
    # 2^b / 5^-q with b large enough for 128 bits of quotient
    fraction = (1 << (power.bit_length() + 128)) // power
    fraction >>= fraction.bit_length() - 128
    return min(fraction + 1, (1 << 128) - 1)


_POWERS_OF_FIVE = [_power_of_five(q) for q in range(_SMALLEST, _LARGEST + 1)]
_HIGH = np.array([power >> 64 for power in _POWERS_OF_FIVE], dtype=np.uint64)
_LOW = np.array([power & (2**64 - 1) for power in _POWERS_OF_FIVE], dtype=np.uint64)


@njit(cache=True, nogil=True)
def find_lines(text, start, begins, ends):
    """Find and count the lines from `start` on that are not blank; a newline between quotes ends no line.

    `begins` and `ends` receive the first and last-plus-one byte of each line, without its line end; of length 0 to
    count only.
    """
    count = 0
    inside = False
    begin = start
    filled = -1  # last byte of the line that is no space and no carriage return
    i = start
    while i <= text.size:
        if i == text.size or (text[i] == _NEWLINE and not inside):
            if filled >= begin:
                if count < begins.size:
                    begins[count] = begin
                    ends[count] = i - (text[i - 1] == _RETURN)
                count += 1
            begin = i + 1
        else:
            if text[i] != _SPACE and text[i] != _RETURN:
                filled = i
            if text[i] == _QUOTE:
                if not inside:
                    inside = i == start or text[i - 1] in _BEFORE_A_CELL
                elif i + 1 < text.size and text[i + 1] == _QUOTE:
                    i += 1
                else:
                    inside = False
        i += 1
    return count


@njit(cache=True, nogil=True)
def _next_cell(text, position, end, delimiter):
    """Return the content of the cell at `position` (first, last plus one) and where its delimiter stands."""
    if position < end and text[position] == _QUOTE:
        first = position + 1
        last = first
        while last < end:
            if text[last] == _QUOTE:
                if last + 1 < end and text[last + 1] == _QUOTE:
                    last += 2
                    continue
                break
            last += 1
        # after the closing quote there may be spaces only; otherwise quotes and all are one text
        beyond = last + 1
        while beyond < end and text[beyond] == _SPACE and delimiter != _SPACE:
            beyond += 1
        if last < end and (beyond >= end or text[beyond] == delimiter):
            return first, last, beyond
        first = position
        position = min(last + 1, end)
        while position < end and text[position] != delimiter:
            position += 1
        return first, position, position
    first = position
    while position < end and text[position] != delimiter:
        position += 1
    return first, position, position


@njit(cache=True, nogil=True)
def _lower(text, first, last):
    """A word of at most 8 bytes in lower case, packed into one number."""
    packed = np.int64(0)
    for i in range(last - 1, first - 1, -1):
        byte = text[i]
        if 65 <= byte <= 90:
            byte += 32
        packed = (packed << 8) | np.int64(byte)
    return packed


@njit(cache=True, nogil=True)
def _word(text, first, last):
    """Classify a cell that is no plain number: missing, infinite, a truth value, or text."""
    signed = last - first > 1 and (text[first] == _MINUS or text[first] == _PLUS)
    if last - first - signed > 8:
        return TEXT, np.nan
    packed = _lower(text, first + signed, last)
    if packed in _INFINITE:
        return NUMBER, -np.inf if text[first] == _MINUS else np.inf
    if signed:
        return TEXT, np.nan
    if packed in _MISSING:
        return MISSING, np.nan
    if packed == _TRUE:
        return NUMBER, 1.0
    if packed == _FALSE:
        return NUMBER, 0.0
    return TEXT, np.nan


@njit(cache=True, nogil=True)
def _product(a, b):
    """The 128-bit product of two 64-bit numbers: high and low half."""
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a0, a1 = a & mask, a >> half
    b0, b1 = b & mask, b >> half
    low = a0 * b0
    middle = a1 * b0 + (low >> half)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> half) + (other >> half), a * b


@njit(cache=True, nogil=True)
def _exact(mantissa, exponent):
    """The float nearest to ``mantissa * 10^exponent``, or a refusal in the rare cases that the method leaves open."""
    if exponent < _SMALLEST or exponent > _LARGEST:
        return False, 0.0
    w = mantissa
    zeros = 0
    while w < np.uint64(1 << 63):
        w <<= np.uint64(1)
        zeros += 1
    index = exponent - _SMALLEST
    upper, lower = _product(w, _HIGH[index])
    if upper & np.uint64(0x1FF) == np.uint64(0x1FF):
        second, _ = _product(w, _LOW[index])
        lower += second
        if lower < second:
            upper += np.uint64(1)
    if lower == np.uint64(0xFFFFFFFFFFFFFFFF) and (exponent < -27 or exponent > 55):
        return False, 0.0
    top = upper >> np.uint64(63)
    shift = top + np.uint64(9)
    m = upper >> shift
    power = ((217706 * exponent) >> 16) + 63 + np.int64(top) - zeros
    if power <= -1023 or power >= 1023:
        return False, 0.0
    if lower <= np.uint64(1) and -4 <= exponent <= 23 and m & np.uint64(3) == np.uint64(1) and (m << shift) == upper:
        m -= np.uint64(1)
    m += m & np.uint64(1)
    m >>= np.uint64(1)
    return True, math.ldexp(np.float64(m), power - 52)


@njit(cache=True, nogil=True)
def _number(text, first, last, decimal):
    """Read one cell: its kind and, for numbers, its value."""
    while first < last and text[first] == _SPACE:
        first += 1
    while first < last and text[last - 1] == _SPACE:
        last -= 1
    if first == last:
        return MISSING, np.nan
    i = first
    negative = text[i] == _MINUS
    if negative or text[i] == _PLUS:
        i += 1
    mantissa = np.uint64(0)
    digits = 0
    exponent = np.int64(0)
    seen = False
    fraction = False
    while i < last:
        byte = text[i]
        if _ZERO <= byte <= 57:
            seen = True
            if digits or byte != _ZERO:
                digits += 1
            mantissa = mantissa * np.uint64(10) + np.uint64(byte - _ZERO)
            exponent -= fraction
        elif byte == decimal and not fraction:
            fraction = True
        else:
            break
        i += 1
    if not seen:
        return _word(text, first, last)
    whole = i == last and not fraction
    if i < last and (text[i] | 32) == _LOWER_E:
        i += 1
        down = i < last and text[i] == _MINUS
        if i < last and (down or text[i] == _PLUS):
            i += 1
        if i == last:
            return _word(text, first, last)
        power = np.int64(0)
        while i < last and _ZERO <= text[i] <= 57:
            if power < 100000:
                power = power * 10 + np.int64(text[i] - _ZERO)
            i += 1
        exponent += -power if down else power
    if i < last:
        return _word(text, first, last)
    if digits > 19:
        return LONG, np.nan
    if mantissa == np.uint64(0):
        value = 0.0
    elif mantissa < np.uint64(1 << 53) and -22 <= exponent <= 22:
        value = np.float64(mantissa)
        value = value / _POWERS_OF_TEN[-exponent] if exponent < 0 else value * _POWERS_OF_TEN[exponent]
    else:
        done, value = _exact(mantissa, exponent)
        if not done:
            return LONG, np.nan
    if whole and mantissa > np.uint64(1 << 53) and (value >= 2.0**64 or np.uint64(value) != mantissa):
        return DIGITS, -value if negative else value
    return NUMBER, -value if negative else value


@njit(cache=True, nogil=True)
def parse_rows(text, begins, ends, delimiter, decimal, targets, out, cells, odd):
    """Parse lines of text into the rows of `out`, NaN where missing. Return how many cells are text, long or DIGITS.

    `targets` holds the column of `out` that each column of the file goes to, -1 to skip it. `cells` receives the number
    of cells in each line. `odd` receives row, column, first byte, last-plus-one byte and kind of the cells that are
    counted, as far as it has room.
    """
    n_odd = 0
    for row in range(begins.size):
        position = begins[row]
        column = 0
        while position <= ends[row]:
            first, last, position = _next_cell(text, position, ends[row], delimiter)
            if column < targets.size and targets[column] >= 0:
                kind, value = _number(text, first, last, decimal)
                out[row, targets[column]] = value
                if kind in (TEXT, LONG, DIGITS):
                    if n_odd < odd.shape[0]:
                        odd[n_odd, 0] = row
                        odd[n_odd, 1] = column
                        odd[n_odd, 2] = first
                        odd[n_odd, 3] = last
                        odd[n_odd, 4] = kind
                    n_odd += 1
            column += 1
            position += 1
        cells[row] = column
    return n_odd


@njit(cache=True, nogil=True)
def locate_column(text, begins, ends, delimiter, wanted):
    """First and last-plus-one byte of one column's cell in every line; -1 where a line has no such cell."""
    firsts = np.full(begins.size, -1, np.int64)
    lasts = np.full(begins.size, -1, np.int64)
    for row in range(begins.size):
        first = last = -1
        position = begins[row]
        skipped = -1
        while skipped < wanted and position <= ends[row]:
            first, last, position = _next_cell(text, position, ends[row], delimiter)
            skipped += 1
            position += 1
        if skipped == wanted:
            firsts[row] = first
            lasts[row] = last
    return firsts, lasts


@njit(cache=True, nogil=True)
def _is_space(byte):
    return byte == 32 or 9 <= byte <= 13


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
            elif kind == MISSING:
                if (
                    place - first != 3 or text[first] | 32 != _N or text[place - 1] | 32 != _N
                ):  # another word than "nan"
                    return BAD
            elif kind == TEXT:
                return BAD
        entry += 1
