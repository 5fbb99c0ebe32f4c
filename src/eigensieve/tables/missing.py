"""Missing values: one rule for texts that mean "missing", in features, labels, batches and categories."""

from collections.abc import Iterable, Sequence

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


def numbers_among(texts: Iterable[str]) -> list[float]:
    """The numbers among some texts, with a point or a comma."""
    found = []
    for text in texts:
        try:
            found.append(float(text.replace(",", ".")))
        except ValueError:
            continue
    return [number for number in found if number == number]
