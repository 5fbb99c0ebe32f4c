"""``eigensieve demo``: real measurements hidden among shuffled copies, found again, shown in a report."""

from pathlib import Path
from typing import Annotated

import typer

from eigensieve.cli.console import Console
from eigensieve.cli.methods import DEFAULT_METHOD
from eigensieve.cli.options import PrintOptions
from eigensieve.cli.outputs import STDOUT, Outputs
from eigensieve.cli.selection import Fitting, report_page

EXAMPLES = ("eigensieve demo -o demo.html",)


def run_demo(
    printing: PrintOptions,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where the report goes; an earlier demo report is replaced.")
    ] = "eigensieve-demo.html",
    features: Annotated[int, typer.Option("--features", min=31, help="How many features in all.")] = 2000,
) -> None:
    """Run on bundled real data: 30 tumour measurements hidden among 1,970 shuffled copies of them.

    Writes a report and prints where it is. Nothing is downloaded and nothing is opened.
    """
    from eigensieve.datasets import load_demo

    console = Console(printing, output)
    with Outputs(output, force=True) as outputs:
        bunch = load_demo(features)
        n_relevant = int(bunch.relevant.sum())
        model = Fitting(DEFAULT_METHOD, {}).estimator()
        with console.fitting(f"Fitting {type(model).__name__}", "the demo data"):
            model.fit(bunch.data)
        n_selected, found = int(model.get_support().sum()), int(bunch.relevant[model.get_support()].sum())

        with console.working("Drawing the report"):
            page = report_page(
                model,
                bunch.data,
                feature_names=bunch.feature_names,
                labels=[bunch.class_names[i] for i in bunch.target],
                title="Tumour measurements among shuffled copies",
                source={"name": bunch.source, "labels": "diagnosis", "labels_used": False},
            )
        outputs.write_text("report", output, lambda: page)
    n_samples, n_features = bunch.data.shape
    console.text(
        f"{n_samples} tumours, {n_features} features: {n_relevant} real measurements, the rest shuffled copies."
    )
    console.text(f"{type(model).__name__} selected {n_selected} without labels: {found} of them are real measurements.")
    place = output if output == STDOUT else str(Path(output).resolve())
    if place != STDOUT:
        console.text(f"Report: {place}")
    document = {"samples": n_samples, "features": n_features, "method": DEFAULT_METHOD, "selected": n_selected}
    console.finish(document | {"relevant": n_relevant, "relevant_found": found, "report": place})
