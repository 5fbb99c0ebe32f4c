"""``eigensieve map``: the topographical map of the features."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from eigensieve.cli.app import app
from eigensieve.cli.console import Console
from eigensieve.cli.errors import UsageProblem, input_errors
from eigensieve.cli.options import (
    AsJson,
    Force,
    Format,
    Ident,
    Input,
    Label,
    Missing,
    Orientation,
    Quiet,
    count_or_auto,
)
from eigensieve.cli.outputs import Outputs
from eigensieve.cli.prepare import Samples, align_side, handle_missing
from eigensieve.cli.tables import check_frame_name, load_table, save_frame

_FIGURES = (".png", ".svg", ".pdf")


@app.command(
    name="map",
    epilog="[bold]Examples[/bold]\n\neigensieve map genes.csv -o map.csv --figure map.svg\n\n"
    "eigensieve map faces.npz --rounds 3 --side one-person.npz --json",
)
def map_features(
    source: Input,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Table: weight and coordinate of every feature in every round.")
    ] = None,
    figure: Annotated[
        str | None, typer.Option("--figure", help="The map as a picture (.png, .svg or .pdf); needs two rounds.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="The fitted map (.skops).")] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many different structures to look for.")] = 2,
    clusters: Annotated[int, typer.Option("--clusters", "-k", min=1, help="Leading eigenvectors in a round.")] = 2,
    n_features: Annotated[str, typer.Option("--n-features", "-n", help="auto, a number, or a fraction.")] = "auto",
    side: Annotated[str | None, typer.Option("--side", help="Samples whose variation is not wanted.")] = None,
    names: Annotated[int, typer.Option("--names", min=0, help="How many features are named in the picture.")] = 20,
    label: Label = None,
    ident: Ident = None,
    orientation: Orientation = "auto",
    form: Format = None,
    missing: Missing = "error",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Map the features: rounds of Q-alpha, each led to another structure of the data than the ones before.

    Every feature has, per round, a weight and a coordinate; with two rounds it is an ellipse in the plane.
    """
    check_frame_name(output)
    _check_figure(figure, rounds)
    if as_json and output == "-":
        raise UsageProblem("--json prints to standard output. Name a file for the table with -o.")
    console = Console(quiet=quiet, as_json=as_json, stdout_is_data=output == "-")
    with Outputs(force=force) as outputs:
        outputs.check(output, figure, model)
        with console.working(f"Reading {source}"):
            table = load_table(source, label=label, ident=ident, samples=orientation, form=form)
        for note in table.notes:
            console.note(note)
        samples = handle_missing(Samples.of(table), missing, source)
        fitted = _fit(samples, rounds, clusters, count_or_auto(n_features, "--n-features"), side, console, source)
        columns = _columns(fitted)
        if output is not None:
            outputs.write("table", output, lambda path: save_frame(columns, path), suffix=".csv")
        if figure is not None:
            outputs.write("figure", figure, lambda path: _draw(fitted, names, path))
        if model is not None:
            outputs.write("model", model, lambda path: _save(fitted, source, path))
        outputs.commit()
    _show(fitted, columns, console, outputs.written)


def _check_figure(figure: str | None, rounds: int) -> None:
    if figure is None:
        return
    if Path(figure).suffix.lower() not in _FIGURES:
        raise UsageProblem(f"--figure must end in one of {', '.join(_FIGURES)}. Got '{figure}' instead.")
    if rounds < 2:
        raise UsageProblem("--figure needs two rounds: use --rounds 2 or more.")


def _fit(
    samples: Samples, rounds: int, clusters: int, count: Any, side: str | None, console: Console, source: str
) -> Any:
    from eigensieve.estimators import FeatureMap

    extra = {}
    if side is not None:
        extra["side"] = align_side(handle_missing(Samples.of(load_table(side)), "error", side), samples, side)
    fitted = FeatureMap(count, n_rounds=rounds, n_clusters=clusters, verbose=console.verbosity)
    with console.working("Fitting FeatureMap"), input_errors(source):
        fitted.fit(samples.X, **extra)
    fitted.feature_names_in_ = np.array([str(name) for name in samples.features], dtype=object)
    return fitted


def _columns(fitted: Any) -> dict[str, Any]:
    """All features in the order in which the rounds take them."""
    order = fitted.ranking_
    columns: dict[str, Any] = {"feature": [str(fitted.feature_names_in_[i]) for i in order]}
    for number in range(fitted.weights_.shape[1]):
        columns[f"weight_{number + 1}"] = fitted.weights_[order, number]
        columns[f"coordinate_{number + 1}"] = fitted.coordinates_[order, number]
    columns["selected"] = fitted.support_[order]
    columns["round"] = [int(r) + 1 if r >= 0 else None for r in fitted.rounds_[order]]
    return columns


def _draw(fitted: Any, names: int, path: Path) -> None:
    from eigensieve._extras import require

    require("matplotlib", extra="plot").use("Agg")
    display = fitted.plot(n_labels=names)
    display.figure_.savefig(path, dpi=150, bbox_inches="tight")
    require("matplotlib.pyplot", extra="plot").close(display.figure_)


def _save(fitted: Any, source: str, path: Path) -> None:
    from eigensieve.estimators import save_model

    save_model(fitted, path, about={"input": source})


def _show(fitted: Any, columns: dict[str, Any], console: Console, written: dict[str, str]) -> None:
    rounds = range(1, fitted.weights_.shape[1] + 1)
    chosen = [i for i, selected in enumerate(columns["selected"]) if selected]
    console.text(f"{len(chosen):,} of {len(columns['feature']):,} features taken from {len(rounds)} rounds")
    shown = ["feature", "round", *(f"weight_{number}" for number in rounds)]
    rows = [
        [columns["feature"][i], columns["round"][i], *(f"{columns[key][i]:.3g}" for key in shown[2:])] for i in chosen
    ]
    titles = [title.replace("_", " ") for title in shown]
    console.table("Taken from the rounds in turn", titles, rows[:20], right=titles[1:])
    for role, place in written.items():
        if place != "-":
            console.text(f"{role}: {place}")
    console.document(
        {
            "command": "map",
            "features": len(columns["feature"]),
            "rounds": [[columns["feature"][i] for i in chosen if columns["round"][i] == number] for number in rounds],
            "criteria": [float(value) for value in fitted.objectives_],
            "outputs": written,
        }
    )
