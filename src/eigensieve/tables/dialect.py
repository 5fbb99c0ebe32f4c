"""How a delimited text file is laid out: encoding, delimiter, decimal mark, and whether its first line is a header."""

import csv
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan

from eigensieve.tables.columns import FEATURE_WORDS, SAMPLE_WORDS, plain_word
from eigensieve.tables.labels import MISSING_WORDS
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
    """The decimal mark of some cells, and notes about it. Two commas in a number mark thousands."""
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


FEW_NUMBERS = 6
"""Fewer numbers than this stand in order by chance now and then: of five in random order, two in 120 lines."""


def find_header(dialect: Dialect, first: list[str], body: list[list[str]], request: Request) -> tuple[bool, list[str]]:
    """Say whether the first line names the columns rather than holding a sample, and what was assumed for that.

    `first` and `body` are the cells of the first line and of some lines below it. The request may say it, and may name
    columns.
    """
    if request.header is None:
        asked = {*request.named.values(), *request.keep, *request.drop}
        header = _has_names(dialect, first, body) or not asked.isdisjoint(cell.strip() for cell in first)
        if not header and _has_numbers_as_names(dialect, first, body):
            return True, ["the first line was taken for the header, although it holds numbers"]
    else:
        header = request.header
    if header:
        return True, []
    return False, [f"{'no header line: ' * (request.header is None)}columns are named x0, x1, ..."]


def _has_names(dialect: Dialect, first: list[str], body: list[list[str]]) -> bool:
    """Whether the first line has text where the next line has numbers.

    It also names the columns when it counts 0, 1, 2, ... or 1, 2, 3, ..., as the header of a data frame without names
    does.
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


def _has_numbers_as_names(dialect: Dialect, first: list[str], body: list[list[str]]) -> bool:
    """Whether the columns are called by numbers: wavelengths, masses, years.

    They are where the corner alone is empty. They also are where text stands over other text, and either that of the
    first column is a word such as "sample" or "gene", or the numbers are in an order that samples hardly have.
    """
    names = [cell.strip() for cell in (first if not body or len(first) == len(body[0]) else ["", *first])]
    rows = [row for row in body if len(row) == len(names)]
    if not rows or len(set(names)) < len(names):
        return False
    if names[0] == "":
        return len(names) > 1 and all(names[1:]) and all(row[0].strip() for row in rows)
    texts = [column for column, name in enumerate(names) if not dialect.is_number(name)]
    for column in texts:
        below = {row[column].strip() for row in rows}
        if names[column] in below or any(map(dialect.is_number, below)):
            return False
    numbers = sorted(set(range(len(names))) - set(texts))
    values = [dialect.value(names[column]) for column in numbers]
    if not texts or not values or any(map(isnan, values)):
        return False
    if texts[0] == 0 and plain_word(names[0]) in FEATURE_WORDS | SAMPLE_WORDS:
        return True
    # the numbers rise or fall throughout, and those below them are of another size or do not do the same
    under = [[dialect.value(row[column]) for column in numbers] for row in rows]
    order = _order(values)
    if order == 0 or len(values) < 3:
        return False
    others = [value for row in under for value in row if not isnan(value)]
    if others and (min(values) > max(others) or max(values) < min(others)):
        return True
    return len(values) >= FEW_NUMBERS and any(_order(row) != order for row in under)


def _order(values: list[float]) -> int:
    """1 where every number is larger than the one before it, -1 where every one is smaller, 0 otherwise."""
    if all(before < after for before, after in pairwise(values)):
        return 1
    return -1 if all(before > after for before, after in pairwise(values)) else 0
