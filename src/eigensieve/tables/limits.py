"""How much memory a file may take. Sizes that a file announces are checked here before anything is allocated.

A file may take 200 times its own size, and 250 MB in any case, but never more than there is. Sound files stay far below
that; files of a few bytes that announce gigabytes do not. The environment variable
``EIGENSIEVE_READ_GB`` raises the limit for a sound file.
"""

import os
from pathlib import Path

from eigensieve.tables.errors import DataError

VARIABLE = "EIGENSIEVE_READ_GB"
"""The environment variable that replaces the limit: gigabytes that the contents of one file may take."""

EXPANSION = 200
FLOOR = 250_000_000
PER_FEATURE = 64
"""Bytes that are needed per feature, whatever it holds: its name, its place, its statistics."""
PER_TEXT = 120
"""Bytes of a short text in a list."""


def allowance(size: int) -> int:
    """Bytes that a file of `size` bytes may take in memory."""
    wanted = _wanted()
    return min(max(FLOOR, EXPANSION * size), _available()) if wanted is None else wanted


def claim(nbytes: float, path: str | Path, size: int) -> None:
    """Refuse to go on where a file of `size` bytes announces that it needs more memory than it may take."""
    allowed = allowance(size)
    if nbytes <= allowed:
        return
    need = max(1, round(1.2 * nbytes / 1e9))
    if _wanted() is None and nbytes > _available() and nbytes <= max(FLOOR, EXPANSION * size):
        raise DataError(
            f"'{path}' needs {nbytes / 1e9:,.1f} GB of memory, and {_available() / 1e9:,.1f} GB are free. Free some, "
            "or store it as .npy, .h5ad, .parquet or .zarr and fit on eigensieve.open_data; "
            f"{VARIABLE}={need} reads it all the same."
        )
    raise DataError(
        f"'{path}' announces {nbytes / 1e6:,.0f} MB of contents in a file of {size / 1e6:.3g} MB; "
        f"{allowed / 1e6:,.0f} MB are allowed. It is probably damaged. "
        f"If it is sound, set {VARIABLE}={need} and read it again."
    )


def _wanted() -> int | None:
    text = os.environ.get(VARIABLE)
    if text is None:
        return None
    try:
        wanted = float(text)
    except ValueError:
        wanted = 0.0
    if not 0 < wanted < 1e6:
        raise DataError(f"The environment variable {VARIABLE} must be a number of gigabytes such as 8. Got '{text}'.")
    return int(wanted * 1e9)


def _available() -> int:
    """Bytes of memory that are free, for this machine and for this container; without limit where nobody knows."""
    free = [2**62]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        free.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass  # another system, or a container without a limit ("max")
    return max(min(free), 0)
