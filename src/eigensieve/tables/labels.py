"""Labels of samples: from texts to classes or numbers."""

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from eigensieve.tables.errors import DataError
from eigensieve.tables.missing import gaps, named_gaps
from eigensieve.tables.table import Request

_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")
NOTHING_ASKED = Request("the table")
_LARGEST_LABELS = 2**28
"""Bytes that labels may take as an array of texts of one width."""


def as_labels(texts: Sequence[str], request: Request = NOTHING_ASKED) -> np.ndarray:
    """Labels as integers or floats where every one is a number or missing, as strings otherwise.

    The caller's own words for a missing label, `request.na_values`, become empty texts.

    Two labels become one class only if they are the same number exactly: "1" and "1.0" do. Texts that merely look like
    numbers ("007", "1_0", digits of other scripts) stay texts, and so do whole numbers that no float can hold.
    """
    stripped = [text.strip() for text in texts]
    if request.na_values:
        named = named_gaps(stripped, request.na_values)
        stripped = ["" if text in named else text for text in stripped]
    longest = max(map(len, stripped), default=0)
    if 4 * longest * len(stripped) > _LARGEST_LABELS:
        raise DataError(
            f"'{request.path}' has a label of {longest:,} characters. "
            "Name the column with the samples' classes as the label."
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
