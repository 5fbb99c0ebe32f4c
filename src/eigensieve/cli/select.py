"""``eigensieve select``: from a table to its few features."""

from pathlib import Path
from typing import Annotated, Any

import typer

from eigensieve.cli.app import app
from eigensieve.cli.console import Console
from eigensieve.cli.errors import UsageProblem, input_errors
from eigensieve.cli.fit import fit, stability_frequencies
from eigensieve.cli.methods import METHODS, build, default_method, method_named, parameters
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
    Seed,
    complete_method,
    count_or_auto,
)
from eigensieve.cli.outputs import Outputs
from eigensieve.cli.prepare import Samples, align_side, handle_missing, read_pairs
from eigensieve.cli.run import Run
from eigensieve.cli.tables import (
    check_frame_name,
    check_table_name,
    load_table,
    save_frame,
    save_table,
)

_METHODS = "; ".join(f"{name}: {method.summary}" for name, method in METHODS.items())


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "eigensieve select genes.csv -o chosen.csv --report report.html\n\n"
    "eigensieve select genes.tsv.gz --label tissue --method trace-ratio --n-features 40 --weights "
    "weights.csv\n\n"
    "eigensieve select cells.h5ad --model cells.skops --json > result.json\n\n"
    "cat genes.csv | eigensieve select - -o - > chosen.csv",
)
def select(
    source: Input,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Table of the selected features, in the format of its name (- for stdout)."
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", "-w", help="Table of all features: weight, rank, selected, null quantile."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="The fitted model (.skops).")] = None,
    report: Annotated[str | None, typer.Option("--report", "-r", help="A self-contained HTML report.")] = None,
    selected: Annotated[str | None, typer.Option("--selected", help="The selected features as plain JSON.")] = None,
    label: Label = None,
    ident: Ident = None,
    orientation: Orientation = "auto",
    form: Format = None,
    missing: Missing = "error",
    method: Annotated[
        str,
        typer.Option("--method", help=f"{_METHODS}.", autocompletion=complete_method, rich_help_panel="Method"),
    ] = default_method(),
    n_features: Annotated[
        str | None,
        typer.Option("--n-features", "-n", help="How many: auto, a number, or a fraction.", rich_help_panel="Method"),
    ] = None,
    clusters: Annotated[
        str | None, typer.Option("--clusters", "-k", help="auto or a number.", rich_help_panel="Method")
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option("--fdr", help="sieve, qalpha: rate of false selections for -n auto.", rich_help_panel="Method"),
    ] = None,
    criterion: Annotated[
        str | None, typer.Option("--criterion", help="qalpha: energy or gap.", rich_help_panel="Method")
    ] = None,
    spectrum: Annotated[
        str | None, typer.Option("--spectrum", help="qalpha: standard or laplacian.", rich_help_panel="Method")
    ] = None,
    normalize: Annotated[
        str | None,
        typer.Option("--normalize", help="qalpha: auto, center, unit or none.", rich_help_panel="Method"),
    ] = None,
    supervision: Annotated[
        str | None,
        typer.Option("--supervision", help="qalpha: auto, span, blocks or ignore.", rich_help_panel="Method"),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option("--score", help="trace-ratio: fisher, laplacian, semi-supervised.", rich_help_panel="Method"),
    ] = None,
    level: Annotated[
        str | None, typer.Option("--level", help="trace-ratio: subset or feature.", rich_help_panel="Method")
    ] = None,
    neighbors: Annotated[
        int | None, typer.Option("--neighbors", help="trace-ratio: of each sample.", rich_help_panel="Method")
    ] = None,
    side: Annotated[
        str | None,
        typer.Option("--side", help="qalpha: samples whose variation is not wanted.", rich_help_panel="Side data"),
    ] = None,
    side_strength: Annotated[
        float | None, typer.Option("--side-strength", help="qalpha: how strongly.", rich_help_panel="Side data")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option("--pairs", help="qalpha: lines 'sample,sample[,cannot|must]'.", rich_help_panel="Side data"),
    ] = None,
    pair_strength: Annotated[
        float | None, typer.Option("--pair-strength", help="qalpha: how strongly.", rich_help_panel="Side data")
    ] = None,
    stability: Annotated[
        int, typer.Option("--stability", min=0, help="Repeat on so many random halves of the samples (0: don't).")
    ] = 0,
    top: Annotated[int, typer.Option("--top", min=0, help="How many features to print.")] = 20,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Select the features that matter from a table of samples.

    Reads CSV and TSV (also .gz), Parquet, Feather, .npy, .npz, .mat, svmlight, Matrix Market, 10x folders and .h5ad.
    The label column is never a feature, and sieve never looks at it.
    """
    given = {
        "n_features": count_or_auto(n_features, "--n-features"),
        "clusters": count_or_auto(clusters, "--clusters"),
        "fdr": fdr,
        "criterion": criterion,
        "spectrum": spectrum,
        "normalize": normalize,
        "supervision": supervision,
        "score": score,
        "level": level,
        "neighbors": neighbors,
        "side_strength": side_strength,
        "pair_strength": pair_strength,
        "seed": seed,
    }
    params = parameters(method, given)
    _check_request(method, params, label, side, pairs)
    check_table_name(output, source)
    check_frame_name(weights)
    if as_json and "-" in (output, weights, selected):
        raise UsageProblem("--json prints to standard output, so no other output can be '-'. Name a file for it.")
    console = Console(quiet=quiet, as_json=as_json, stdout_is_data="-" in (output, weights, selected))
    with Outputs(force=force) as outputs:
        outputs.check(output, weights, model, report, selected)
        with console.working(f"Reading {source}"):
            table = load_table(source, label=label, ident=ident, samples=orientation, form=form)
        for note in table.notes:
            console.note(note)
        samples = handle_missing(Samples.of(table), missing, source)
        extra = _side_information(samples, side, pairs, ident, orientation)
        estimator = build(method, params, console.verbosity)
        chosen = method_named(method)
        fit(estimator, chosen, params, samples, extra, console, source)
        frequency = stability_frequencies(estimator, chosen, params, samples, extra, stability, seed, console)
        run = Run(source, method, table, samples, estimator, chosen.uses_label(params), frequency)
        if output is not None and not estimator.get_support().any():
            console.note("No table was written: nothing is selected. --n-features N takes the best N all the same.")
        elif output is not None:
            outputs.write("table", output, lambda path: save_table(run.chosen_table(), path), suffix=run.suffix)
        if weights is not None:
            outputs.write("weights", weights, lambda path: save_frame(run.weights_table(), path), suffix=".csv")
        if selected is not None:
            outputs.write("selected", selected, lambda path: _save_selected(run, path), suffix=".json")
        if model is not None:
            outputs.write("model", model, lambda path: _save_model(run, path), suffix=".skops")
        if report is not None:
            outputs.write("report", report, lambda path: _save_report(run, console, path), suffix=".html")
        outputs.commit()
    run.show(console, top, outputs.written)


def _check_request(name: str, params: dict[str, Any], label: str | None, side: str | None, pairs: str | None) -> None:
    """Refuse options that do not go together, before anything is read."""
    method = method_named(name)
    if method.needs_label(params) and label is None:
        raise UsageProblem(
            f"--method {name} needs labels here. Name their column with --label, or use --score laplacian."
        )
    if side is not None and not method.takes_side:
        raise UsageProblem(f"--side does nothing with --method {name}. Drop it, or use --method qalpha.")
    if pairs is not None and not method.takes_pairs:
        raise UsageProblem(f"--pairs does nothing with --method {name}. Drop it, or use --method qalpha.")


def _side_information(
    samples: Samples, side: str | None, pairs: str | None, ident: str | None, orientation: str
) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if side is not None:
        table = load_table(side, ident=ident, samples=orientation)
        extra["side"] = align_side(handle_missing(Samples.of(table), "error", side), samples, side)
    if pairs is not None:
        with input_errors(pairs):
            extra |= read_pairs(pairs, samples)
    return extra


def _save_selected(run: Run, path: Path) -> None:
    import json

    from eigensieve.estimators import selected_features

    path.write_text(json.dumps(selected_features(run.estimator), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _save_model(run: Run, path: Path) -> None:
    from eigensieve.estimators import save_model

    save_model(run.estimator, path, about={"input": run.source, "prepared": run.samples.prepared})


def _save_report(run: Run, console: Console, path: Path) -> None:
    from eigensieve.cli.reporting import write_report

    write_report(
        path,
        console,
        run.estimator,
        run.samples.X,
        feature_names=[str(name) for name in run.samples.features],
        sample_ids=run.samples.ids,
        labels=run.samples.labels,
        stability=run.frequency,
        title=f"Features of {Path(run.source).name}" if run.source != "-" else "Selected features",
        source={
            "name": run.source,
            "prepared": [*run.table.notes, *run.samples.prepared],
            "labels": run.table.label_name,
            "labels_used": run.labels_used,
        },
    )
