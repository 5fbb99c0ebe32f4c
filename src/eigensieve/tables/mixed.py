"""Columns that are no numbers: dates become numbers; text is left out with a note, encoded, or refused."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from eigensieve._types import FloatArray
from eigensieve._words import counted
from eigensieve.tables.dialect import Dialect, has_commas
from eigensieve.tables.errors import DataError, listed, position, text_among_numbers
from eigensieve.tables.labels import gaps
from eigensieve.tables.table import Request, Table

MOST_CATEGORIES = 50
"""Columns of text with more different values than this are names or sentences, and are not encoded."""


def arranged(table: Table, request: Request) -> Table:
    """Return the table with the columns asked for (`keep`, `drop`) and columns of text encoded (`categories`)."""
    numbers, text = _wanted(table, request)
    if len(numbers) < len(table.feature_names):
        table.notes.append(f"{len(numbers):,} of {len(table.feature_names):,} columns of numbers are used, as asked")
        table = table.take(np.array(numbers, dtype=np.intp))
    dates = {name: found for name, texts in text.items() if (found := as_dates(texts)) is not None}
    for name, (_, meaning) in dates.items():
        table.notes.append(f"column '{name}' holds dates and is used as a number: {meaning}")
    text = {name: texts for name, texts in text.items() if name not in dates}
    table = _with_columns(replace(table, text=text), list(dates), [values for values, _ in dates.values()])
    if not text:
        return table
    dialect: Dialect = table.details.get("dialect", Dialect())
    if request.categories == "error":
        raise _refused(text, dialect, request)
    if request.categories == "one-hot":
        return _encoded(table)
    strays = {name: _number_words(texts, dialect.decimal) for name, texts in text.items()}
    words = [name for name, stray in strays.items() if not stray]
    if words:
        table.notes.append(f"left out {counted(len(words), 'column')} of text: {listed(words)}")
    for name, stray in strays.items():
        if stray and all(map(has_commas, stray)):
            table.notes.append(f"left out column '{name}', whose numbers have commas: {listed(stray, 3)}")
        elif stray:
            table.notes.append(f"left out column '{name}', which holds numbers and text: {listed(stray, 3)}")
    return table


def _wanted(table: Table, request: Request) -> tuple[Sequence[int], dict[str, list[str]]]:
    """The columns of numbers (by position) and of text that are asked for."""
    if not (request.keep or request.drop):
        return range(len(table.feature_names)), dict(table.text)
    features = list(table.feature_names)
    names = [*features, *table.text]
    for purpose, given in (("to keep", request.keep), ("to drop", request.drop)):
        for name in given:
            position(name, names, request.path, purpose=purpose)
    drop = set(request.drop)
    keep = (set(request.keep) or set(names)) - drop
    if not keep:
        raise DataError(f"'{request.path}' has no column left: every one was dropped. Drop fewer.")
    numbers = [column for column, name in enumerate(features) if name in keep]
    return numbers, {name: texts for name, texts in table.text.items() if name in keep}


def _with_columns(table: Table, names: list[str], columns: list[FloatArray]) -> Table:
    if not names:
        return table
    both = np.hstack([table.dense, np.column_stack(columns)])  # only formats that are dense have columns of text
    return replace(table, X=both, feature_names=[*table.feature_names, *names])


def _refused(text: dict[str, list[str]], dialect: Dialect, request: Request) -> DataError:
    row, cell = next(
        ((row, cell) for row, cell in enumerate(next(iter(text.values()))) if not dialect.is_number(cell)), (0, "")
    )
    example = f" (such as '{cell[:40]}' in data row {row + 1})" if cell else ""
    if has_commas(cell):
        example += ". If its comma marks decimals or thousands, say so (decimal or thousands, --decimal or --thousands)"
    return text_among_numbers(request.path, list(text), example)


def _encoded(table: Table) -> Table:
    """Add one column of 0 and 1 per category. A missing category has 0 everywhere."""
    names: list[str] = []
    columns: list[FloatArray] = []
    encoded: list[str] = []
    varied: list[str] = []
    for name, texts in table.text.items():
        values = np.array([text.strip() for text in texts], dtype=str)
        missing = gaps(values.tolist())
        categories = [value for value in np.unique(values) if str(value) not in missing]
        if len(categories) > MOST_CATEGORIES or 2 * len(categories) > len(values):
            varied.append(name)
            continue
        encoded.append(name)
        names += [f"{name}={category}" for category in categories]
        columns += [(values == category).astype(np.float64) for category in categories]
    if varied:
        table.notes.append(
            f"left out {counted(len(varied), 'column')} of text with too many values to encode: {listed(varied)}"
        )
    if not columns:
        return table
    table.notes.append(
        f"encoded {counted(len(encoded), 'column')} of categories as {len(columns):,} of 0 and 1: {listed(encoded)}"
    )
    return _with_columns(table, names, columns)


def _number_words(texts: Sequence[str], decimal: str) -> list[str]:
    """The texts in a column of which at least half are numbers, with commas or without; empty for others."""
    words: dict[str, None] = {}
    missing = gaps(texts)
    numbers = given = 0
    for text in texts:
        if text in missing:
            continue
        given += 1
        plain = _is_number(text.replace(decimal, "."))
        numbers += plain or has_commas(text)
        if not plain and len(words) < 4:
            words[text.strip()] = None
    return list(words) if given and 2 * numbers >= given else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_TIME = r"(?:[T ](?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?(?:Z|\+00:?00)?)?"
_FORMS = tuple(
    re.compile(form + _TIME, re.ASCII)
    for form in (
        r"(?P<year>\d{4})([-/])(?P<month>\d\d?)\2(?P<day>\d\d?)",
        r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})",
        r"(?P<day>\d\d?)/(?P<month>\d\d?)/(?P<year>\d{4})",
        r"(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})",
    )
)
"""2024-01-31, 2024/01/31, 31.01.2024, 31/01/2024, 1/31/2024; each may have a time of day."""


def as_dates(texts: Sequence[str]) -> tuple[FloatArray, str] | None:
    """Numbers for a column of dates, NaN where one is missing, and their meaning; None for other columns.

    Dates such as 3/4/2024 may begin with the day or with the month. A column in which both fit every cell, with
    different dates, is not read.
    """
    missing = gaps(texts)
    given = [text.strip() for text in texts if text not in missing]
    if not given:
        return None
    found = [dates for form in _FORMS if (dates := _dates(given, form)) is not None]
    if not found or any(dates != found[0] for dates in found):
        return None
    dates, first = found[0], min(found[0])
    if len({date.replace(year=2000) for date in dates}) == 1:
        numbers, meaning = [float(date.year) for date in dates], "the year"
    else:
        numbers = [(date - first).total_seconds() / 86_400 for date in dates]
        meaning = f"days since {first.date().isoformat()}"
    values = np.full(len(texts), np.nan)
    values[[text not in missing for text in texts]] = numbers
    return values, meaning


def _dates(texts: list[str], form: re.Pattern[str]) -> list[datetime] | None:
    """The dates where every text has this form and is one."""
    dates = []
    for text in texts:
        found = form.fullmatch(text)
        if found is None:
            return None
        parts = {name: int(part) for name, part in found.groupdict(default="0").items()}
        try:
            dates.append(datetime(**parts, tzinfo=UTC))
        except ValueError:  # there is no 30 February
            return None
    return dates
