"""The page of all results: a conclusion, a figure and verdicts per experiment, with the tables folded."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import matplotlib.pyplot as plt

from eigensieve._files import staged
from experiments.common import markdown
from experiments.frame import NOT, NOT_RUN, PARTLY, REPRODUCED, UNJUDGED, Check, Claim, Experiment, Reading, Results
from experiments.running import missing_data

_HEAD = """# The papers, reproduced

This page is written by `make reproduce`; do not edit it. Each experiment begins with its conclusion. Protocols,
tables, checks and readings are folded; open them for the figures. The raw results are in `docs/reproduced-runs`, and
everything here is computed from them.

**The rule.** "a ± s" is a mean over runs and its standard error. A check compares it with a figure that the paper
prints.

- A figure of the paper's own method holds if ours is as good: worse by at most 2√2 s. (The paper's mean is taken to
  have the same standard error as ours, so their difference has √2 s.)
- A figure of a baseline holds if ours lies within 2√2 s, on either side. A better baseline is no reproduction.
- "Better than" another method that was measured here holds if the mean of the paired differences exceeds two standard
  errors.
- Where the paper gives words and no figure, the check states its threshold.

A claim is *reproduced* if all its checks hold, *partly* if some hold, *not reproduced* if none holds. It *cannot be
judged* if it is a figure for images that are not available, or if the paper prints no experiment; how a method behaves
is judged on the images that stand in. Where a paper leaves a choice open, "readings" shows each choice and whether it
gives the printed figure; "(judged)" marks the one behind the verdicts.

`python -m experiments NAME` runs one experiment from a clone, `--quick` a few runs of it. Runs that are in the results
folder are not repeated. All seeds are fixed.
"""

VERDICTS = ("experiment", "claim", "verdict")


def verdict_rows(experiments: Sequence[tuple[Experiment, Results]]) -> list[list[str]]:
    """Return one row per claim: experiment, claim, verdict."""
    return [
        [experiment.name, claim.text, verdict(experiment, claim, results)]
        for experiment, results in experiments
        for claim in experiment.claims
    ]


def verdict(experiment: Experiment, claim: Claim, results: Results) -> str:
    """Return the verdict on a claim; it says so if runs of the experiment are missing."""
    word = claim.verdict(results)
    counts = [(results.count(case), wanted) for case, wanted in experiment.runs.items()]
    if word in (NOT_RUN, UNJUDGED) or all(count >= wanted for count, wanted in counts):
        return word
    return f"{word} in the {'runs so far' if all(count for count, _ in counts) else 'cases that were run'}"


def summary(experiments: Sequence[tuple[Experiment, Results]]) -> str:
    """Return the number of verdicts of each kind, per experiment."""
    words = (REPRODUCED, PARTLY, NOT, UNJUDGED, NOT_RUN)
    rows = []
    for experiment, results in experiments:
        found = [claim.verdict(results) for claim in experiment.claims]
        link = experiment.title.lower().replace(" ", "-").translate(str.maketrans("", "", ":,'"))
        rows.append([f"[{experiment.title}](#{link})", *(str(found.count(word) or "") for word in words[:-1])])
    totals = [sum(int(row[i] or 0) for row in rows) for i in range(1, len(words))]
    return markdown(["experiment", *words[:-1]], [*rows, ["all", *map(str, totals)]])


def runs_sentence(experiment: Experiment, results: Results) -> str:
    """Say on how many runs the results rest, and which data were missing."""
    counts = {case: results.count(case) for case in experiment.runs}
    full = [case for case, count in counts.items() if count >= experiment.runs[case]]
    ran = [count for count in counts.values() if count]
    if not ran:
        text = "Nothing was run."
    elif len(full) == len(counts):
        text = "One run per case." if max(ran) == 1 else f"{_range(ran)} runs per case."
    else:
        wanted = _range(list(experiment.runs.values()))
        text = f"{len(ran)} of {len(counts)} cases were run, with {_range(ran)} of {wanted} runs each."
    absent = missing_data(experiment)
    if absent:
        names = ", ".join(sorted(set(absent.values())))
        text += f" Not in the data folder: {names}. Without them these cases cannot run: {', '.join(absent)}."
    return text


def _mark(holds: bool) -> str:
    return "✓" if holds else "✗"


def check_text(checks: Sequence[Check]) -> str:
    """Return the checks of a claim in one paragraph; a common standard of comparison is named once."""
    parts = []
    for against, group in groupby(checks, key=lambda check: check.against):
        found = "; ".join(f"{check.where}: {check.ours} {_mark(check.holds)}" for check in group)
        parts.append(f"{found} ({against})")
    return ". ".join(parts) + "."


def reading_text(readings: Sequence[Reading]) -> str:
    """Return the readings, one line per open choice."""
    lines: dict[tuple[str, str], list[str]] = {}
    for each in readings:
        lines.setdefault((each.choice, each.printed), []).append(f"{each.reading}: {each.ours} {_mark(each.agrees)}")
    return "\n".join(f"- {choice} (printed: {printed}). {'; '.join(own)}." for (choice, printed), own in lines.items())


def section(experiment: Experiment, results: Results, picture: str | None = None) -> str:
    """Return an experiment's part of the page."""
    parts = [f"## {experiment.title}"]
    if results.rows:
        parts.append(f"**{experiment.conclusion(results)}**")
    parts.append("\n".join(_claim_line(experiment, i, results) for i in range(len(experiment.claims))))
    if picture:
        parts.append(f"![{experiment.title}]({picture})")
    source = f"`{experiment.name}`: {experiment.paper}, {experiment.section}."
    stand_in = f" Stand-in: {experiment.stand_in}" if experiment.stand_in else ""
    protocol = f"{source} {experiment.protocol}{stand_in} {runs_sentence(experiment, results)}"
    parts.append(_folded("Protocol and table", f"{protocol}\n\n{experiment.table(results)}"))
    checks = {i: claim.checks(results) for i, claim in enumerate(experiment.claims, start=1)}
    if any(checks.values()):
        lines = [f"{i}. {check_text(found) if found else 'Not run.'}" for i, found in checks.items()]
        parts.append(_folded("Checks", "\n".join(lines)))
    if readings := experiment.readings(results) if results.rows else ():
        parts.append(_folded("Readings: what the paper leaves open", reading_text(readings)))
    return "\n\n".join(parts)


def _claim_line(experiment: Experiment, index: int, results: Results) -> str:
    claim = experiment.claims[index]
    because = f" ({claim.unjudged})" if claim.unjudged else ""
    return f"{index + 1}. *{verdict(experiment, claim, results)}*{because}: {claim.text}"


def _folded(title: str, text: str) -> str:
    """Markdown inside is read as such because empty lines stand around it."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def write_page(experiments: Sequence[tuple[Experiment, Results]], file: Path) -> None:
    """Write the page and, into ``images`` beside it, the figures."""
    parts = [_HEAD, summary(experiments)]
    for experiment, results in experiments:
        picture = draw(experiment, results, file.parent / "images")
        parts.append(section(experiment, results, f"images/{picture.name}" if picture else None))
    file.parent.mkdir(parents=True, exist_ok=True)
    with staged(file) as path:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def draw(experiment: Experiment, results: Results, folder: Path) -> Path | None:
    """Draw an experiment's figure into the folder; return None if too little was run."""
    if not results.rows:
        return None
    plt.switch_backend("Agg")
    picture = experiment.draw(results)
    if picture is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"reproduced-{experiment.name}.png"
    with staged(file) as path:
        picture.savefig(path, dpi=80, bbox_inches="tight", metadata={"Software": None})
    plt.close(picture)
    return file


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
