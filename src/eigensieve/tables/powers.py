"""Powers of five, as 128-bit fractions: what exact decimal-to-binary conversion needs."""

from functools import cache

import numpy as np

SMALLEST, LARGEST = -342, 308
"""Decimal exponents outside this range are zero or infinite whatever the (64-bit) mantissa."""

_TOP = 1 << 128


@cache
def powers_of_five() -> tuple[np.ndarray, np.ndarray]:
    """Return the high and the low 64 bits of ``5^q``, scaled to [2^127, 2^128), for q from -342 to 308.

    Positive powers are rounded down, negative ones up, as the method of Eisel and Lemire requires (D.
    Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51, 2021, section
    5).
    """
    fractions = [_scaled(q) for q in range(SMALLEST, LARGEST + 1)]
    high = np.array([fraction >> 64 for fraction in fractions], dtype=np.uint64)
    low = np.array([fraction & (2**64 - 1) for fraction in fractions], dtype=np.uint64)
    return high, low


def _scaled(q: int) -> int:
    if q >= 0:
        power = 5**q
        shift = 128 - power.bit_length()
        return power << shift if shift >= 0 else power >> -shift
    power = 5**-q
    # 2^b / 5^-q with b large enough for 128 bits of quotient
    fraction = (1 << (power.bit_length() + 128)) // power
    fraction >>= fraction.bit_length() - 128
    return min(fraction + 1, _TOP - 1)
