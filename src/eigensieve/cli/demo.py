"""``eigensieve demo``: real measurements hidden among shuffled copies, found again, shown in a report."""

from pathlib import Path
from typing import Annotated

import typer

from eigensieve.cli.app import app
from eigensieve.cli.console import Console
from eigensieve.cli.errors import input_errors
from eigensieve.cli.methods import build, default_method
from eigensieve.cli.options import AsJson, Quiet
from eigensieve.cli.outputs import Outputs


@app.command(
    epilog="[bold]Example[/bold]\n\neigensieve demo -o demo.html",
)
def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where the report goes; an earlier demo report is replaced.")
    ] = "eigensieve-demo.html",
    features: Annotated[int, typer.Option("--features", min=31, help="How many features in all.")] = 2000,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run on bundled real data: 30 tumour measurements hidden among 1,970 shuffled copies of them.

    Writes a report and prints where it is. Nothing is downloaded and nothing is opened.
    """
    from eigensieve.datasets import load_demo

    console = Console(quiet=quiet, as_json=as_json)
    with Outputs(force=True) as outputs:
        outputs.check(output)
        bunch = load_demo(features)
        method = default_method()
        n_relevant = int(bunch.relevant.sum())
        model = build(method, {"n_features_to_select": n_relevant}, console.verbosity)
        with input_errors("the demo data"), console.working(f"Fitting {type(model).__name__}"):
            model.fit(bunch.data)
        support = model.get_support()
        found = int(bunch.relevant[support].sum())
        from eigensieve.cli.reporting import write_report

        outputs.write(
            "report",
            output,
            lambda path: write_report(
                path,
                console,
                model,
                bunch.data,
                feature_names=bunch.feature_names,
                labels=[bunch.class_names[i] for i in bunch.target],
                title="Tumour measurements among shuffled copies",
                source={"name": bunch.source, "labels": "diagnosis", "labels_used": False},
            ),
        )
        outputs.commit()
    n_samples, n_features = bunch.data.shape
    console.text(
        f"{n_samples} tumours, {n_features} features: {n_relevant} real measurements, the rest shuffled copies."
    )
    console.text(f"{type(model).__name__} picked {n_relevant} without labels: {found} of them are real measurements.")
    console.text(f"Report: {Path(output).resolve()}")
    console.document(
        {
            "samples": n_samples,
            "features": n_features,
            "method": method,
            "selected": n_relevant,
            "relevant_found": found,
            "report": str(Path(output).resolve()),
        }
    )
