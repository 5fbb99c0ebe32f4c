"""Does the first line of a text table name its columns, or is it a sample?"""

from itertools import pairwise
from math import isnan

from eigensieve.tables.dialect import Dialect
from eigensieve.tables.orientation import FEATURE_WORDS, SAMPLE_WORDS, plain_word
from eigensieve.tables.table import Request

FEW_NUMBERS = 6
"""Fewer numbers than this stand in order by chance now and then: of five in random order, two in 120 lines."""


def find_header(dialect: Dialect, first: list[str], body: list[list[str]], request: Request) -> tuple[bool, list[str]]:
    """Say whether the first line names the columns rather than holding a sample, and what was assumed for that.

    `first` and `body` are the cells of the first line and of some lines below it. The request may say it, and may name
    columns.
    """
    if request.header is None:
        header = _has_names(dialect, first, body) or request.names_any(first)
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
    return _stand_out(values, [[dialect.value(row[column]) for column in numbers] for row in rows])


def _stand_out(values: list[float], below: list[list[float]]) -> bool:
    """Whether numbers rise or fall throughout, and those below them are of another size or do not do the same."""
    order = _order(values)
    if order == 0 or len(values) < 3:
        return False
    others = [value for row in below for value in row if not isnan(value)]
    if others and (min(values) > max(others) or max(values) < min(others)):
        return True
    return len(values) >= FEW_NUMBERS and any(_order(row) != order for row in below)


def _order(values: list[float]) -> int:
    """1 where every number is larger than the one before it, -1 where every one is smaller, 0 otherwise."""
    if all(before < after for before, after in pairwise(values)):
        return 1
    return -1 if all(before > after for before, after in pairwise(values)) else 0
