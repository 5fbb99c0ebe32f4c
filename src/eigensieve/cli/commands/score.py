"""``eigensieve score``: the worth of panels from any source."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, UsageProblem
from eigensieve.cli.knowledge import feature_places
from eigensieve.cli.methods import DEFAULT_METHOD, METHODS
from eigensieve.cli.options import Force, PrintOptions, Report, SafeNames, SampleOptions, Seed, TargetOptions
from eigensieve.cli.outputs import Outputs, check_frame_name, save_frame
from eigensieve.cli.reading import Samples, check_times, read_samples
from eigensieve.cli.selection import Fitting

EXAMPLES = (
    "eigensieve score genes.csv --panel published.txt",
    "eigensieve score genes.csv --label tissue --panel ours.txt --panel vendor.txt --report panels.html -o panels.csv",
)

_NAMED = 10  # features that a sentence names; the table of --output names all
_HEADS = ["panel", "features", "score", "sieve's pick", "random", "p", "with 3 more"]
_MEASURES = {
    "classes": "how well its 5 nearest samples on the panel tell a sample's class (R2)",
    "numbers": "how well its 5 nearest samples on the panel tell a sample's number (R2)",
    "structure": "the share of the structure of all features that the panel shows (R2)",
    "survival": "how well its 5 nearest samples on the panel tell which sample has its event first (concordance)",
}


def score_panels(
    reading: TargetOptions,
    printing: PrintOptions,
    panel: Annotated[
        list[str],
        typer.Option("--panel", "-p", help="File with one feature per line, or names with commas; repeat for more."),
    ],
    n_random: Annotated[int, typer.Option("--random", min=1, help="How many random panels to compare with.")] = 199,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write a row per panel here.")] = None,
    report: Report = None,
    safe_names: SafeNames = False,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Score panels of features from any source: how much of the structure, or of the label, does each show?

    A panel stands beside as many features picked by the sieve, and beside random panels of its size. Features that add
    nothing are named, and so are the three to add next. Several panels are compared.
    """
    check_times(reading.event, reading.time, reading.label)
    check_frame_name(output)
    console = Console(printing, output, report)
    with Outputs(output, report, inputs=(reading.source, reading.sheet, *panel), force=force) as outputs:
        samples = read_samples(reading, console, notes=True, gaps=METHODS[DEFAULT_METHOD].gaps)
        for sentence in samples.prepared:
            console.note(sentence)
        found = _score(samples, panel, n_random, seed or 0, console, reading.source)
        rows, lines = found.figures(), _lines(found)
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        outputs.write("table", output, lambda path: save_frame(columns, path, safe=safe_names), suffix=".csv")
        outputs.write_text("report", report, lambda: _page(found, lines, samples, reading))
    console.table(f"Score: {_measure(found)}", _HEADS, lines, _HEADS[1:])
    for name, score in found.scores.items():
        console.text(f"{name}: adds nothing: {_listed(score.adds_nothing)}; add next: {_listed(score.next_features)}")
    if best := _best(found):
        console.text(best)
    console.finish({"command": "score", "panels": rows, "best": found.best}, outputs.written)


def _score(samples: Samples, panels: list[str], n_random: int, seed: int, console: Console, source: str) -> Any:
    from eigensieve.estimators import score_panel

    names = [Path(text).stem if os.path.isfile(text) else f"panel {number}" for number, text in enumerate(panels, 1)]
    names = [name if names.count(name) == 1 else text for name, text in zip(names, panels, strict=True)]
    if len(set(panels)) < len(panels):
        raise UsageProblem("--panel names the same panel twice. Give each once.")
    wanted = {name: feature_places(text, samples, f"--panel {text}") for name, text in zip(names, panels, strict=True)}
    for text, places in zip(panels, wanted.values(), strict=True):
        if not places:
            raise InputProblem(f"--panel '{text}' names no feature. Give a file with one feature per line, or names.")
    samples.data.shared.names = np.array([str(name) for name in samples.features], dtype=object)
    y = Fitting(DEFAULT_METHOD, {}).labels(samples)
    with console.fitting("Scoring panels", source):
        return score_panel(
            samples.data,
            wanted,
            y,
            batches=samples.apart.get("batch"),
            groups=samples.apart.get("donor"),
            n_random=n_random,
            random_state=seed,
        )


def _measure(found: Any) -> str:
    return _MEASURES[next(iter(found.scores.values())).measure]


def _lines(found: Any) -> list[list[str]]:
    return [
        [
            name,
            f"{len(score.features):,}",
            f"{score.score:.3f} ± {score.standard_error:.3f}",
            f"{score.best_score:.3f}",
            f"{np.median(score.random_scores):.3f}",
            f"{score.p_value:.3g}",
            f"{score.next_score:.3f}",
        ]
        for name, score in found.scores.items()
    ]


def _best(found: Any) -> str:
    if len(found.scores) == 1:
        return ""
    clear = "shows most" if len(found.best) == 1 else "show most, and no clear difference is between them"
    return f"{', '.join(found.best)} {clear}"


def _listed(names: Sequence[object]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(str, names[:_NAMED])) + more or "none"


def _page(found: Any, lines: list[list[str]], samples: Samples, reading: SampleOptions) -> str:
    from eigensieve.report import Section, beside_random, sheet

    order = sorted(found.scores, key=lambda name: -found.scores[name].score)
    panels = [(name, found.scores[name]) for name in order]
    drawn = [(name, s.score, s.standard_error, s.best_score, s.random_scores.tolist()) for name, s in panels]
    text = "Large dot: the panel, ± 2 standard errors. Diamond: the sieve's pick of as many. Small dots: random panels."
    label = samples.name_of("label")
    facts = samples.facts(reading.source, *([] if label is None else [f"Label: {label}"]), f"Score: {_measure(found)}")
    advice = [[name, _listed(one.adds_nothing), _listed(one.next_features)] for name, one in found.scores.items()]
    sections = [
        Section("Panels", text=text, picture=beside_random(drawn, "score")),
        Section("Scores", _HEADS, lines),
        Section("What to do", ["panel", "adds nothing", "add next"], advice, _best(found)),
    ]
    return sheet("The worth of panels", facts, sections)
