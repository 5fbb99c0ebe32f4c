"""``eigensieve map``: the topographical map of the features."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import JsonDict
from eigensieve._words import counted
from eigensieve.cli.console import Console
from eigensieve.cli.errors import UsageProblem
from eigensieve.cli.methods import METHODS
from eigensieve.cli.options import Force, PrintOptions, Report, SafeNames, SampleOptions, option
from eigensieve.cli.outputs import Outputs, check_frame_name, save_frame, save_model
from eigensieve.cli.reading import Samples, labels_with, read_samples, read_side
from eigensieve.cli.selection import count_or_auto

EXAMPLES = (
    "eigensieve map genes.csv -o map.csv --figure map.svg",
    "eigensieve map faces.npz --rounds 3 --side one-person.npz --json",
)

_FIGURES = (".png", ".svg", ".pdf")
_SHOWN = 200  # features in the table of the report


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    rounds: int = option("--rounds", min=1, help="How many different structures to look for.", default=2)
    clusters: int = option("--clusters", "-k", min=1, help="Number of eigenvectors per round.", default=2)
    n_features: str = option("--n-features", "-n", help="How many: auto, a number, or a fraction.", default="auto")
    side: str | None = option("--side", help="File of samples that vary in unwanted ways.")


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    output: str | None = option("--output", "-o", help="Write weight and coordinate of every feature per round here.")
    figure: str | None = option("--figure", help="Draw the map here (.png, .svg or .pdf); needs two rounds.")
    report: Report = None
    names: int = option("--names", min=0, help="How many features to name in the picture.", default=20)
    model: str | None = option("--model", "-m", help="Write the fitted map here (.skops).")
    safe_names: SafeNames = False
    force: Force = False


def map_features(reading: SampleOptions, fit: FitOptions, writing: WriteOptions, printing: PrintOptions) -> None:
    """Map the features: several rounds of Q-alpha, each of which looks for another structure of the data.

    Every feature has a weight and a coordinate per round; with two rounds it is an ellipse in the plane. With labels
    every round shows the labels, each by other features.
    """
    check_frame_name(writing.output)
    if writing.figure is not None:
        if Path(writing.figure).suffix.lower() not in _FIGURES:
            raise UsageProblem(f"--figure must end in one of {', '.join(_FIGURES)}. Got '{writing.figure}' instead.")
        if fit.rounds < 2:
            raise UsageProblem("--figure needs two rounds: use --rounds 2 or more.")
    places = (writing.output, writing.figure, writing.model, writing.report)
    console = Console(printing, *places)
    with Outputs(*places, inputs=(reading.source, reading.sheet, fit.side), force=writing.force) as outputs:
        samples = read_samples(reading, console, notes=True)
        fitted, used = _fit(samples, fit, console, reading)
        columns = _columns(fitted, samples.features)
        safe = writing.safe_names
        outputs.write("table", writing.output, lambda path: save_frame(columns, path, safe=safe), suffix=".csv")
        outputs.write("figure", writing.figure, lambda path: _draw(fitted, writing.names, path))
        outputs.write("model", writing.model, lambda path: save_model(fitted, path, input=reading.source))
        outputs.write_text("report", writing.report, lambda: _page(fitted, columns, used, reading.source, samples))
    _show(fitted, columns, used, console, outputs.written)


def _fit(samples: Samples, options: FitOptions, console: Console, reading: SampleOptions) -> tuple[Any, JsonDict]:
    """Fit; also return the knowledge that was used besides the table."""
    from eigensieve.estimators import FeatureMap, known_and_used

    count = count_or_auto(options.n_features, "--n-features")
    y = None if samples.labels is None else labels_with(samples.labels, METHODS["qalpha"].unlabelled)
    extra = {}
    if options.side is not None:
        extra["side"] = read_side(options.side, reading, samples, console)
    fitted = FeatureMap(count, n_rounds=options.rounds, n_clusters=options.clusters)
    with console.fitting("Fitting FeatureMap", reading.source):
        fitted.fit(samples.data, y, **extra)
    if samples.has_names:
        fitted.feature_names_in_ = np.array([str(name) for name in samples.features], dtype=object)
    return fitted, known_and_used(fitted, y=y, y_name=samples.name_of("label"), **extra)


def _columns(fitted: Any, names: Sequence[str]) -> JsonDict:
    """All features as a table, in the order in which the rounds take them."""
    order = np.argsort(fitted.ranking_)
    columns: JsonDict = {"feature": [str(names[i]) for i in order]}
    for number in range(fitted.weights_.shape[1]):
        columns[f"weight_{number + 1}"] = fitted.weights_[order, number]
        columns[f"coordinate_{number + 1}"] = fitted.coordinates_[order, number]
    columns["selected"] = fitted.support_[order]
    columns["round"] = [int(r) + 1 if r >= 0 else None for r in fitted.rounds_[order]]
    return columns


def _draw(fitted: Any, names: int, path: Path) -> None:
    require("matplotlib", extra="plot").use("Agg")
    display = fitted.plot(n_labels=names)
    display.figure_.savefig(path, dpi=150, bbox_inches="tight")
    require("matplotlib.pyplot", extra="plot").close(display.figure_)


def _page(fitted: Any, columns: JsonDict, used: JsonDict, source: str, samples: Samples) -> str:
    """The report: the picture of two rounds, unless they show the same structure, and the features taken."""
    from eigensieve.report import Section, ellipses, sheet

    sections, overlaps = [], fitted.overlaps_
    if len(overlaps) > 1 and not fitted.same_structure_[1]:
        picture = ellipses(
            fitted.coordinates_[:, :2].tolist(),
            np.abs(fitted.relevance_[:, :2]).tolist(),
            [str(name) for name in samples.features],
            fitted.support_.tolist(),
        )
        text = "One ellipse per feature: its direction in rounds 1 and 2, its relevance to them as width and height."
        sections.append(Section("The first two rounds", text=text, picture=picture))
    elif len(overlaps) > 1:
        text = f"Round 2 shows the structure of round 1 again (overlap {overlaps[1]:.2f} of 1). No map is drawn."
        if used["labels"]:
            text = "Both rounds show the labels, by other features. On a map the features would lie on one line."
        sections.append(Section("One structure", text=text))
    heads, rows = _taken(columns)
    sections.append(Section("Features taken from the rounds in turn", heads, rows[:_SHOWN]))
    facts = [*samples.facts(source), *(f"The map {sentence}" for sentence in used["sentences"])]
    return sheet("Map of the features", facts, sections)


def _taken(columns: JsonDict) -> tuple[list[str], list[list[Any]]]:
    """The heads and the rows of a table of the features taken."""
    weights = [key for key in columns if key.startswith("weight_")]
    rows = [
        [columns["feature"][i], columns["round"][i], *(f"{columns[key][i]:.3g}" for key in weights)]
        for i in np.flatnonzero(columns["selected"])
    ]
    return ["feature", "round", *(key.replace("_", " in round ") for key in weights)], rows


def _show(fitted: Any, columns: JsonDict, used: JsonDict, console: Console, written: dict[str, str]) -> None:
    rounds, (heads, rows) = range(1, fitted.weights_.shape[1] + 1), _taken(columns)
    console.text(f"{len(rows):,} of {len(columns['feature']):,} features taken from {counted(len(rounds), 'round')}")
    for sentence in used["sentences"]:
        console.text(sentence)
    console.table("Taken from the rounds in turn", heads, rows[:20], right=heads[1:])
    document = {
        "command": "map",
        "features": len(columns["feature"]),
        "used": used,
        "rounds": [[name for name, taken_in, *_ in rows if taken_in == number] for number in rounds],
        "criteria": [float(value) for value in fitted.objectives_],
    }
    console.finish(document, written)
