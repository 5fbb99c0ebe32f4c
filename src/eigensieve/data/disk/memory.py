"""Amounts of memory as users write them."""

import re
from numbers import Real

DEFAULT_MEMORY = "1GB"
"""What data read from disk may take where the user says nothing."""

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


def parse_bytes(amount: float | str) -> int:
    """Return a number of bytes from a number or from text such as "500MB" or "1.5 GiB"."""
    size = None
    if isinstance(amount, Real) and not isinstance(amount, bool):
        size = int(amount)
    elif isinstance(amount, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]i?)?b?\s*", amount.lower())
        if match:
            size = int(float(match[1]) * _UNITS[match[2] or ""])
    if size is None or size < 1:
        raise ValueError(
            "The 'max_memory' parameter of open_data must be a number of bytes or text such as '500MB' or '2GiB'. "
            f"Got {amount!r} instead."
        )
    return size


def show_bytes(size: float) -> str:
    """Write a number of bytes the way people read it."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
