"""Errors of files, one line each: the file, the problem, the fix; and how much memory a file may take.

Sizes that a file announces are checked by `claim` before anything is allocated. A file may take 200 times its own size,
and 250 MB in any case, but never more than there is. Sound files stay far below that; files of a few bytes that
announce gigabytes do not. The environment variable ``EIGENSIEVE_READ_GB`` raises the limit for a sound file.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

VARIABLE = "EIGENSIEVE_READ_GB"
"""The environment variable that replaces the limit: gigabytes that the contents of one file may take."""

EXPANSION = 200
FLOOR = 250_000_000
PER_FEATURE = 64
"""Bytes that are needed per feature, whatever it holds: its name, its place, its statistics."""
PER_TEXT = 120
"""Bytes of a short text in a list."""


class DataError(ValueError):
    """A file cannot be read or written as asked; one line names the file, the problem and the fix."""


def damaged(path: str | Path, what: str) -> DataError:
    """The error for a file that its own library refuses."""
    return DataError(f"'{path}' is damaged or not {what}. Get or write the file again.")


@contextmanager
def parsing(path: str | Path, what: str) -> Iterator[None]:
    """Whatever a foreign parser raises means that the file is damaged; what we raise ourselves stays as it is.

    Parsers answer damaged files with exceptions of every kind (KeyError, zlib.error, TokenError, RuntimeError...), so
    only calls of such parsers belong inside.
    """
    try:
        yield
    except (DataError, ImportError):
        raise
    except MemoryError as error:
        raise out_of_memory(path) from error
    except Exception as error:
        raise damaged(path, what) from error


def out_of_memory(path: str | Path) -> DataError:
    """The error for a file that does not fit."""
    return DataError(
        f"'{path}' does not fit into memory. Free some, or store it as .npy, .h5ad, .parquet or .zarr and fit on "
        "eigensieve.open_data."
    )


def text_among_numbers(path: str | Path, columns: Sequence[str], example: str = "") -> DataError:
    """The error for columns that should hold numbers but hold text."""
    return DataError(
        f"'{path}' has text in {len(columns):,} numeric column{'s' if len(columns) > 1 else ''}: "
        f"{listed(columns)}{example}. Name the label or id column, or remove or encode the text."
    )


def listed(names: Sequence[str], at_most: int = 5) -> str:
    """Quote the first few of many names."""
    shown = ", ".join(f"'{name}'" for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most:,} more"


def position(
    name: str, names: Sequence[str], path: str | Path, role: str = "", what: str = "column", purpose: str = ""
) -> int:
    """Position of a name that the user gave, or an error that offers the nearest ones."""
    try:
        return names.index(name)
    except ValueError:
        close = get_close_matches(name, names, n=3) if len(names) <= 50_000 else []
        hint = f"Did you mean {listed(close)}?" if close else f"Its {what}s are {listed(names)}."
        kind, use = f"{role} {what}".strip(), f" {purpose}".rstrip()
        raise DataError(f"'{path}' has no {kind} '{name}'{use}. {hint}") from None


def too_large(path: str | Path, where: str = "") -> DataError:
    """The error for whole numbers that are too large for a float."""
    return DataError(
        f"'{path}' has whole numbers above 2^53{where}, which cannot be told apart as measurements. "
        "Name the column as the id if it identifies the samples, or drop it."
    )


def refuse_duplicates(names: Sequence[str], path: str | Path, what: str) -> None:
    if len(set(names)) < len(names):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise DataError(
            f"'{path}' has duplicate {what} names: {listed(repeated)}. Give every {what} a name of its own."
        )


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
            f"store it as .npy, .h5ad, .parquet or .zarr and fit on eigensieve.open_data, or set {VARIABLE}={need}."
        )
    raise DataError(
        f"'{path}' announces {nbytes / 1e6:,.0f} MB of contents in a file of {size / 1e6:.3g} MB; "
        f"{allowed / 1e6:,.0f} MB are allowed. It is probably damaged. If it is sound, set {VARIABLE}={need}."
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
