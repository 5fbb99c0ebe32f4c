"""The frame of an experiment: what it runs, what the paper claims, and how a verdict is computed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""A numpy array of any type; docstrings give its shape."""


REPRODUCED, PARTLY, NOT, NOT_RUN = "reproduced", "partly", "not reproduced", "not run"


class Results:
    """The raw results of an experiment: one row per case and run.

    Parameters
    ----------
    rows : iterable of dict
        Each with "case", "run" and the values that the experiment's ``run`` returned.
    """

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = sorted(rows, key=lambda row: row["run"])

    def count(self, case: str) -> int:
        """Return the number of runs of a case."""
        return sum(row["case"] == case for row in self.rows)

    def values(self, case: str, key: str) -> Array:
        """Return the values called `key`, one row per run; empty if there are none."""
        return np.array([row[key] for row in self.rows if row["case"] == case and key in row], dtype=float)

    def having(self, cases: Iterable[str]) -> list[str]:
        """Return those of the cases that were run."""
        ran = {row["case"] for row in self.rows}
        return [case for case in cases if case in ran]


@dataclass(frozen=True)
class Check:
    """One printed figure or statement beside what was measured.

    Attributes
    ----------
    where : str
        The part of the claim: a data set, a setting.
    printed, ours : str
    holds : bool
    """

    where: str
    printed: str
    ours: str
    holds: bool


def figure(
    where: str, printed: float, values: Array, better: Literal["higher", "lower"] | None = None, digits: int = 3
) -> list[Check]:
    """Return the check of a printed figure, or nothing if there are no values.

    It holds if the figure lies within one standard deviation (over the runs) of our mean, or if our mean is better.
    """
    if not len(values):
        return []
    mean, spread = float(np.mean(values)), float(np.std(values))
    inside = abs(printed - mean) <= spread + 0.5 * 10.0**-digits
    passed = (better == "higher" and mean >= printed) or (better == "lower" and mean <= printed)
    return [Check(where, f"{printed:.{digits}f}", mean_and_spread(values, digits), inside or passed)]


def figure_of_mean(
    where: str, printed: float, values: Array, better: Literal["higher", "lower"] | None = None, digits: int = 2
) -> list[Check]:
    """Return the check of a printed rate, or of "always" and "never": the mean alone counts, without a spread."""
    return figure(where, printed, np.mean(values, keepdims=True), better, digits) if len(values) else []


def statement(where: str, printed: str, ours: str, holds: bool | np.bool_) -> Check:
    """Return the check of something that the paper says in words."""
    return Check(where, printed, ours, bool(holds))


def mean_and_spread(values: Array, digits: int = 3) -> str:
    """Return the mean and, if there are several values, their standard deviation; '-' for no values."""
    if not len(values):
        return "-"
    mean = f"{np.mean(values):.{digits}f}"
    return f"{mean} ± {np.std(values):.{digits}f}" if len(values) > 1 else mean


@dataclass(frozen=True)
class Claim:
    """What a paper says, and the checks that decide on it.

    Attributes
    ----------
    text : str
    checks : callable
        From the results to a list of `Check`. Parts that were not run have none.
    """

    text: str
    checks: Callable[[Results], Sequence[Check]]

    def verdict(self, results: Results) -> str:
        """Return "reproduced" if all checks hold, "partly" if some do, "not reproduced" or "not run"."""
        held = [check.holds for check in self.checks(results)]
        if not held:
            return NOT_RUN
        return REPRODUCED if all(held) else PARTLY if any(held) else NOT


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment of a paper. Runs with the same case and number are always the same.

    Attributes
    ----------
    name : str
        As on the command line.
    title, paper, section : str
    protocol : str
        Two sentences.
    runs, quick : mapping of str to int
        Number of runs per case. The quick runs are the first of the full ones. The first quick case is the cheapest.
    run : callable
        ``run(case, number)`` returns a dict of numbers, or lists of numbers, ready for JSON.
    table : callable
        From the results to text in Markdown.
    claims : sequence of Claim
    draw : callable
        From the results to a matplotlib figure, or None if too little was run.
    data : mapping of str to str
        Case to the real data set that it needs.
    stand_in : str
        What of the paper's material is missing, and what stands in.
    """

    name: str
    title: str
    paper: str
    section: str
    protocol: str
    runs: Mapping[str, int]
    quick: Mapping[str, int]
    run: Callable[[str, int], dict[str, Any]]
    table: Callable[[Results], str]
    claims: Sequence[Claim]
    draw: Callable[[Results], Any]
    data: Mapping[str, str] = field(default_factory=dict)
    stand_in: str = ""
