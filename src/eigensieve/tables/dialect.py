"""How a delimited text file is laid out: encoding, delimiter, decimal mark."""

import csv
import re
from dataclasses import dataclass, replace
from math import isnan

from eigensieve.tables.missing import MISSING_WORDS
from eigensieve.tables.table import Request

DELIMITERS = ",\t;| "
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_THOUSANDS_COMMA = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+")
# no two parts that could share the same digits: trying all ways to share them takes quadratic time
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
TRUTH_WORDS = ("false", "true")
TAB_ENDINGS = (".tsv", ".tab")
"""File endings that fix the delimiter to a tab."""


@dataclass(frozen=True)
class Dialect:
    """Layout of a delimited text file."""

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True  # whether the first line names the columns

    def cells(self, line: bytes) -> list[str]:
        """Split one line, quotes removed."""
        # "\r" alone ends a line for the csv module; here it is an odd character inside a cell
        text = line.decode(self.encoding).replace("\r", " ")
        return next(csv.reader([text], delimiter=self.delimiter), [])

    def value(self, cell: str) -> float:
        """The number in a cell; NaN where it holds none."""
        text = cell.strip().replace(",", ".", 1) if self.decimal == "," else cell.strip()
        return float(text) if _NUMBER.fullmatch(text) else float("nan")

    def is_number(self, cell: str) -> bool:
        """Whether a cell is a number, a truth value or missing."""
        return cell.strip().lower() in ("", *MISSING_WORDS, *TRUTH_WORDS) or not isnan(self.value(cell))


def detect(lines: list[bytes], request: Request, encoding: str) -> tuple[Dialect, list[str]]:
    """Work delimiter and decimal mark out from the first few lines that are not blank; also return notes about them.

    The request may name either mark, and its `ending` may fix the delimiter (:data:`TAB_ENDINGS`). Header detection is
    skipped.
    """
    delimiter = "\t" if request.ending in TAB_ENDINGS else _delimiter([line.decode(encoding) for line in lines[:2]])
    dialect = Dialect(delimiter, request.decimal or ".", encoding)
    if request.decimal is not None or request.thousands == ",":
        return dialect, []
    if request.thousands == ".":
        return replace(dialect, decimal=","), []
    if delimiter == ",":
        return dialect, []
    decimal, notes = _decimal_mark([cell.strip() for line in lines[1:] for cell in dialect.cells(line)])
    return replace(dialect, decimal=decimal), notes


def _decimal_mark(cells: list[str]) -> tuple[str, list[str]]:
    """The decimal mark of some cells, and what is to be said of it. Two commas in a number mark thousands."""
    with_comma = [cell for cell in cells if "," in cell]
    commas = [cell for cell in with_comma if _DECIMAL_COMMA.fullmatch(cell)]
    if not commas or any(cell.count(",") > 1 and _THOUSANDS_COMMA.fullmatch(cell) for cell in with_comma):
        return ".", []
    if sum("." in cell and _NUMBER.fullmatch(cell) is not None for cell in cells) > len(commas):
        return ".", []
    sure = next((cell for cell in commas if not _THOUSANDS_COMMA.fullmatch(cell)), None)
    if sure is not None:
        return ",", [f"decimal comma: '{sure}' is {sure.replace(',', '.')}"]
    return ",", [f"the comma may mark decimals or thousands: '{commas[0]}' was read as {commas[0].replace(',', '.')}"]


def has_commas(text: str) -> bool:
    """Whether a text is a number with a comma that marks decimals or thousands."""
    number = text.strip()
    return any(form.fullmatch(number) for form in (_DECIMAL_COMMA, _THOUSANDS_COMMA))


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
