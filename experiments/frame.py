"""The frame of an experiment: what it runs, what the paper claims, and how a verdict is computed."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""A numpy array of any type; docstrings give its shape."""

REPRODUCED, PARTLY, NOT, UNJUDGED, NOT_RUN = "reproduced", "partly", "not reproduced", "cannot be judged", "not run"
ERRORS = 2.0
"""Differences of means are judged at this many standard errors."""


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
    """A measured figure beside the figure or sentence that it is compared with.

    Attributes
    ----------
    where : str
        The part of the claim: a data set, a setting.
    against : str
        The printed figure, a figure of a rival that was measured here, or a rule in words.
    ours : str
    holds : bool
    printed : float or None
        The figure as the paper prints it, if there is one.
    """

    where: str
    against: str
    ours: str
    holds: bool
    printed: float | None = None


Side = Literal["both", "at least", "at most"]


def standard_error(values: Array) -> float:
    """Return the standard error of the mean; 0 for a single value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def figure(where: str, printed: float, values: Array, digits: int, side: Side = "both") -> list[Check]:
    """Return the check of a printed figure, or nothing if there are no values.

    Parameters
    ----------
    where : str
    printed : float
    values : ndarray of shape (n_runs,)
        One value per run, or one 0 or 1 per sample for a rate.
    digits : int
        Decimals that the paper prints.
    side : {"both", "at least", "at most"}
        "both" for baselines, whose figure must be met. The others for the paper's own method, which may be better.

    Notes
    -----
    The paper's mean is taken to have the same standard error s as ours. The tolerance is then ``2 sqrt(2) s``, plus
    half a unit of the last decimal printed.
    """
    if not len(values):
        return []
    gap = float(np.mean(values)) - printed
    gap = {"both": abs(gap), "at least": -gap, "at most": gap}[side]
    holds = gap <= ERRORS * np.sqrt(2) * standard_error(values) + 0.5 * 10.0**-digits + 1e-12
    against = f"printed {'' if side == 'both' else side + ' '}{printed:.{digits}f}"
    return [Check(where, against, mean_and_error(values, digits + 1), bool(holds), printed)]


def above(where: str, ours: Array, others: Mapping[str, Array], digits: int = 3) -> list[Check]:
    """Return the check that ours is above the best of the others, which were measured in the same runs.

    It holds if the mean of the differences exceeds 0 by two standard errors.
    """
    known = {name: values for name, values in others.items() if len(values)}
    if not len(ours) or not known:
        return []
    best = max(known, key=lambda name: float(known[name].mean()))
    difference = ours - known[best]
    holds = float(difference.mean()) > ERRORS * standard_error(difference)
    text = f"measured: {best} {known[best].mean():.{digits}f}"
    return [Check(where, text, mean_and_error(ours, digits), holds)]


def no_worse(where: str, errors: Array, other: Array, name: str, digits: int = 3) -> list[Check]:
    """Return the check that our errors are not above those of a method that was measured in the same runs.

    It holds unless the mean of the differences exceeds 0 by two standard errors.
    """
    if not len(errors) or not len(other):
        return []
    difference = errors - other
    holds = float(difference.mean()) <= ERRORS * standard_error(difference)
    return [Check(where, f"measured: {name} {other.mean():.{digits}f}", mean_and_error(errors, digits), holds)]


def statement(where: str, rule: str, ours: str, holds: bool | np.bool_, printed: float | None = None) -> Check:
    """Return the check of something that the paper says in words; the rule says when it holds."""
    return Check(where, rule, ours, bool(holds), printed)


def mean_and_error(values: Array, digits: int = 3) -> str:
    """Return the mean and, if there are several values, its standard error; '-' for no values."""
    if not len(values):
        return "-"
    mean = f"{np.mean(values):.{digits}f}"
    return f"{mean} ± {standard_error(values):.{digits}f}" if len(values) > 1 else mean


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the checks that decide on it.

    Attributes
    ----------
    text : str
    checks : callable
        From the results to a list of `Check`. Parts that were not run have none.
    unjudged : str
        Why the claim cannot be judged, if it cannot.
    """

    text: str
    checks: Callable[[Results], Sequence[Check]]
    unjudged: str = ""

    def verdict(self, results: Results) -> str:
        """Return "reproduced" if all checks hold, "partly" if some do, "not reproduced", or why there is no verdict."""
        held = [check.holds for check in self.checks(results)]
        if not held:
            return NOT_RUN
        if self.unjudged:
            return UNJUDGED
        return REPRODUCED if all(held) else PARTLY if any(held) else NOT


@dataclass(frozen=True)
class Reading:
    """One way to read what a paper leaves open, and its effect.

    Attributes
    ----------
    choice, reading : str
        The settings a paper leaves open, and their reading here; "(judged)" marks the reading that the verdicts use.
    ours : str
        The figure under this reading.
    printed : str
        The figure that the paper prints.
    agrees : bool
        Whether this reading gives it.
    """

    choice: str
    reading: str
    ours: str
    printed: str
    agrees: bool


def reading(choice: str, name: str, values: Array, printed: float, digits: int, side: Side = "both") -> list[Reading]:
    """Return a reading that is judged as :func:`figure` is, or nothing if there are no values."""
    return [
        Reading(choice, name, check.ours, check.against.removeprefix("printed "), check.holds)
        for check in figure("", printed, values, digits, side)
    ]


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
    conclusion : callable
        From the results to one or two sentences.
    table : callable
        From the results to text in Markdown.
    claims : sequence of Claim
    readings : callable
        From the results to a list of `Reading`: what the paper leaves open.
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
    conclusion: Callable[[Results], str]
    table: Callable[[Results], str]
    claims: Sequence[Claim]
    readings: Callable[[Results], Sequence[Reading]]
    draw: Callable[[Results], Any]
    data: Mapping[str, str] = field(default_factory=dict)
    stand_in: str = ""

    @classmethod
    def of(cls, module: str, **about: Any) -> "Experiment":
        """Return the experiment of a module: its functions `run`, `conclude`, `table`, `draw` and `open_choices`."""
        own = vars(sys.modules[module])
        functions = {name: own[name] for name in ("run", "table", "draw")}
        return cls(**functions, conclusion=own["conclude"], readings=own["open_choices"], **about)
