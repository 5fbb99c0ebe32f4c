"""``eigensieve apply``: a fitted selection on other samples."""

from typing import Annotated, Any

import numpy as np
import typer

from eigensieve.cli.app import app
from eigensieve.cli.console import Console
from eigensieve.cli.errors import ModelProblem, UsageProblem, explain_os_error
from eigensieve.cli.options import AsJson, Force, Format, Ident, Input, Label, Orientation, Quiet
from eigensieve.cli.outputs import Outputs
from eigensieve.cli.tables import check_table_name, load_table, save_table


@app.command(
    name="apply",
    epilog="[bold]Examples[/bold]\n\neigensieve apply genes.skops new.csv -o new-chosen.csv\n\n"
    "cat new.csv | eigensieve apply genes.skops - > new-chosen.csv",
)
def apply_model(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model written by 'eigensieve select --model'.")],
    source: Input,
    output: Annotated[str, typer.Option("--output", "-o", help="Table of the selected features (- for stdout).")] = "-",
    label: Label = None,
    ident: Ident = None,
    orientation: Orientation = "auto",
    form: Format = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Keep, of another table, the features a fitted model selected; columns are found by their names."""
    check_table_name(output, source)
    if as_json and output == "-":
        raise UsageProblem("--json prints to standard output. Name a file for the table with -o.")
    console = Console(quiet=quiet, as_json=as_json, stdout_is_data=output == "-")
    with Outputs(force=force) as outputs:
        outputs.check(output)
        estimator, header = open_model(model)
        if not hasattr(estimator, "get_support"):
            raise ModelProblem(f"'{model}' holds a {header['estimator']}, which selects no features.")
        with console.working(f"Reading {source}"):
            table = load_table(source, label=label, ident=ident, samples=orientation, form=form)
        columns = columns_of(estimator, table, model, source)
        chosen = table.take(columns)
        outputs.write("table", output, lambda path: save_table(chosen, path), suffix=f".{table.format}")
        outputs.commit()
    console.text(f"{chosen.n_features:,} of {table.n_features:,} features kept for {table.n_samples:,} samples")
    if output != "-":
        console.text(f"table: {output}")
    console.document(
        {
            "command": "apply",
            "model": {key: header[key] for key in ("eigensieve", "estimator", "written")},
            "samples": table.n_samples,
            "features": [str(name) for name in chosen.feature_names],
            "outputs": outputs.written,
        }
    )


def open_model(path: str) -> tuple[Any, dict[str, Any]]:
    """Load a model file, or say what is wrong with it."""
    from eigensieve.estimators import ModelFileError, load_model, read_model_header

    try:
        return load_model(path), read_model_header(path)
    except ModelFileError as error:
        raise ModelProblem(str(error)) from error
    except OSError as error:
        raise ModelProblem(explain_os_error(error, path, "reading")) from error


def columns_of(estimator: Any, table: Any, model: str, source: str) -> Any:
    """Positions, in the table, of the features the model selected, best first.

    By name where the model knows names: order and further columns do not matter. By position otherwise, and
    then the
    number of columns must be the same.
    """
    chosen = np.flatnonzero(estimator.get_support())
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        if table.n_features != estimator.n_features_in_:
            raise ModelProblem(
                f"The model '{model}' was fitted on {estimator.n_features_in_:,} columns without names; "
                f"'{source}' has "
                f"{table.n_features:,}. Give it the same columns."
            )
        return chosen
    place = {str(name): i for i, name in enumerate(table.feature_names)}
    absent = [str(names[i]) for i in chosen if str(names[i]) not in place]
    if absent:
        some = ", ".join(repr(name) for name in absent[:3]) + (" ..." if len(absent) > 3 else "")
        raise ModelProblem(
            f"'{source}' lacks {len(absent)} of the {len(chosen)} features that the model '{model}' "
            f"selected ({some}). "
            "Check the column names, or --samples."
        )
    return np.array([place[str(names[i])] for i in chosen])
