"""What is wrong with a file, in one line: the file, the problem, the fix."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


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
