"""How a delimited text file is laid out: encoding, delimiter, decimal mark, header."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from eigensieve.tables.table import DataError

DELIMITERS = ",\t;| "
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
# no two parts that could share the same digits: trying all ways to share them takes quadratic time
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
MISSING_WORDS = ("na", "nan", "null", "none", "n/a", "#n/a", "?", "-", ".")
"""How a missing value is written, in lower case; an empty cell is missing too."""
TRUTH_WORDS = ("false", "true")
TAB_ENDINGS = (".tsv", ".tab")
"""File endings that fix the delimiter to a tab."""


@dataclass(frozen=True)
class Dialect:
    """Layout of a delimited text file.

    Attributes
    ----------
    delimiter, decimal, encoding : str
    header : bool
        Whether the first line names the columns.
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True

    def cells(self, line: bytes) -> list[str]:
        """Split one line, quotes removed."""
        # "\r" alone ends a line for the csv module; here it is an odd character inside a cell
        text = line.decode(self.encoding).replace("\r", " ")
        return next(csv.reader([text], delimiter=self.delimiter), [])

    def is_number(self, cell: str) -> bool:
        """Whether a cell is a number, a truth value or missing."""
        text = cell.strip()
        if text.lower() in ("", *MISSING_WORDS, *TRUTH_WORDS):
            return True
        if self.decimal == ",":
            text = text.replace(",", ".", 1)
        return _NUMBER.fullmatch(text) is not None


def detect(lines: list[bytes], path: str | Path, ending: str, encoding: str, decimal: str | None = None) -> Dialect:
    """Work the layout out from the first lines of a file, header included.

    Parameters
    ----------
    lines : list of bytes
        The first few lines that are not blank.
    path : str or Path
        Named in errors.
    ending : str
        The file's ending; some fix the delimiter, see :data:`TAB_ENDINGS`.
    encoding : str
    decimal : str or None
        The decimal mark where it is known.
    """
    delimiter = "\t" if ending in TAB_ENDINGS else _delimiter([line.decode(encoding) for line in lines[:2]])
    dialect = Dialect(delimiter, decimal or ".", encoding)
    body = [dialect.cells(line) for line in lines[1:]]
    if (
        decimal is None
        and delimiter != ","
        and any(_DECIMAL_COMMA.fullmatch(cell.strip()) for row in body for cell in row)
    ):
        dialect = Dialect(delimiter, ",", encoding)
    header = _has_header(dialect, dialect.cells(lines[0]), body)
    if not header and len(lines) == 1 and not any(map(dialect.is_number, dialect.cells(lines[0]))):
        raise DataError(f"'{path}' has no samples. Check that it holds data rows below its header.")
    return Dialect(delimiter, dialect.decimal, encoding, header)


def _delimiter(lines: list[str]) -> str:
    """The most frequent of ``, tab ; |`` that cuts both lines into equally many cells; a space where none occurs.

    The second line may have one cell more than the first: then the first column holds row names and has no header.
    """
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in lines]
    counts = {mark: [line.count(mark) for line in unquoted] for mark in DELIMITERS[:-1]}
    found = {mark: count for mark, count in counts.items() if any(count)}
    if not found:
        return " " if " " in unquoted[0].strip() else ","
    return max(found, key=lambda mark: (counts[mark][-1] - counts[mark][0] in (0, 1), counts[mark][0]))


def _has_header(dialect: Dialect, first: list[str], body: list[list[str]]) -> bool:
    """Whether the first line names the columns rather than holding a sample.

    It does when it has text where the next line has numbers. It also does when it counts 0, 1, 2, ... or 1, 2, 3, ...,
    as the header of a data frame without names does.
    """
    if not body:
        return not all(map(dialect.is_number, first))
    second = body[0]
    shifted = first if len(first) == len(second) else ["", *first]
    if any(
        not dialect.is_number(above) and dialect.is_number(below) for above, below in zip(shifted, second, strict=False)
    ):
        return True
    counted = [cell.strip() for cell in first if cell.strip()]
    start = 0 if counted[:1] == ["0"] else 1
    if len(counted) > 1 and counted == [str(number) for number in range(start, start + len(counted))]:
        return True
    # a line of distinct texts above a line of texts
    return all(not dialect.is_number(cell) for cell in first) and len(set(first)) == len(first)
