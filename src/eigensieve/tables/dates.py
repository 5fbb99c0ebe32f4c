"""Columns of dates as numbers: the year where nothing else differs, days since the first date otherwise."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from eigensieve.tables.missing import gaps

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


def as_dates(texts: Sequence[str]) -> tuple[np.ndarray, str] | None:
    """Numbers for a column of dates, NaN where one is missing, and what they are; None for other columns.

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
