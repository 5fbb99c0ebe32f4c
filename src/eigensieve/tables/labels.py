"""Missing values and labels: one rule for texts that mean "missing", and labels from texts to classes or numbers."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np

from eigensieve._types import Array, BoolArray
from eigensieve.tables.errors import DataError

MISSING_WORDS = ("na", "nan", "null", "none", "n/a", "#n/a", "?", "-", ".")
"""How a missing value is written, in lower case; an empty cell is missing too."""


def gaps(texts: Iterable[str]) -> set[str]:
    """The texts of one column that mean "missing", by the usual words.

    Where "+" is one of the cells, "-" is a value as well. So is "none" in lower case beside other words, such as "mild"
    and "severe".
    """
    distinct = set(texts)
    missing = {text for text in distinct if text.strip().lower() in ("", *MISSING_WORDS)}
    others = distinct - missing
    values = {"-"} if any(text.strip() == "+" for text in others) else set()
    if len(numbers_among(others)) < len(others):
        values.add("none")
    return {text for text in missing if text.strip() not in values}


def named_gaps(texts: Iterable[str], words: Sequence[str]) -> set[str]:
    """The texts that mean "missing" by the caller's own words: the same text, or the same number."""
    own, numbers = {word.strip() for word in words}, set(numbers_among(words))
    return {text for text in set(texts) if text.strip() in own or not numbers.isdisjoint(numbers_among([text]))}


def without_gaps(labels: Array, words: Sequence[str]) -> Array:
    """Labels with NaN, or an empty text, in place of the caller's own words for missing ones."""
    if labels.dtype.kind == "U":
        return np.where(np.isin(labels, list(named_gaps(labels.tolist(), words))), "", labels)
    found = np.isin(labels, numbers_among(words)) if labels.dtype.kind in "iuf" else np.zeros(1, dtype=bool)
    return np.where(found, np.nan, labels) if found.any() else labels


def numbers_among(texts: Iterable[str]) -> list[float]:
    """The numbers among some texts, with a point or a comma."""
    found = []
    for text in texts:
        try:
            found.append(float(text.replace(",", ".")))
        except ValueError:
            continue
    return [number for number in found if number == number]


def unknown(labels: Array) -> BoolArray:
    """Which labels are missing: NaN, or among words a blank, "NA", "?" and the like."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind != "U":
        return np.zeros(len(labels), dtype=bool)
    return np.isin(labels, list(gaps(labels.tolist())))


_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")
_LARGEST_LABELS = 2**28  # bytes that labels may take as an array of texts of one width


def as_labels(texts: Sequence[str], na_values: Sequence[str] = (), path: str | Path = "the table") -> Array:
    """Labels as integers or floats where every one is a number or missing, as strings otherwise.

    The caller's own words for a missing label, `na_values`, become empty texts.

    Two labels become one class only if they are the same number exactly: "1" and "1.0" do. Texts that merely look like
    numbers ("007", "1_0", digits of other scripts) stay texts, and so do whole numbers that no float can hold.
    """
    stripped = [text.strip() for text in texts]
    if na_values:
        named = named_gaps(stripped, na_values)
        stripped = ["" if text in named else text for text in stripped]
    longest = max(map(len, stripped), default=0)
    if 4 * longest * len(stripped) > _LARGEST_LABELS:
        raise DataError(
            f"'{path}' has a label of {longest:,} characters. Name the column with the samples' classes as the label."
        )
    strings = np.array(stripped, dtype=str)
    missing = gaps(stripped)
    numbers = _exact_numbers(set(strings.tolist()) - missing)
    if numbers is None:
        return strings
    if not missing and all(isinstance(number, int) for number in numbers.values()):
        return np.array([numbers[text] for text in strings.tolist()], dtype=np.int64)
    if any(isinstance(number, int) and int(float(number)) != number for number in numbers.values()):
        return strings
    return np.array([float(numbers.get(text, "nan")) for text in strings.tolist()])


def _exact_numbers(texts: set[str]) -> dict[str, int | float] | None:
    """The number that each text stands for; None where one is no number, or where two would wrongly become one."""
    if not all(_NUMBER.fullmatch(text) and len(text) <= 400 for text in texts):
        return None
    numbers: dict[str, int | float] = {
        text: int(text) if text.lstrip("+-").isdecimal() else float(text) for text in texts
    }
    distinct = {Decimal(text) for text in texts}
    if len(distinct) != len(set(numbers.values())) or not all(abs(number) < 2**63 for number in numbers.values()):
        return None
    return numbers
