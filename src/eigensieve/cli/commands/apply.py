"""``eigensieve apply``: a fitted selection on other samples."""

from typing import Annotated, Any

import numpy as np
import typer

from eigensieve._types import IntArray, JsonDict
from eigensieve.cli.console import Console
from eigensieve.cli.errors import ModelProblem, explain_os_error
from eigensieve.cli.options import Force, PrintOptions, SafeNames, TableOptions
from eigensieve.cli.outputs import Outputs, check_table_name, own_suffix, save_table
from eigensieve.cli.reading import find_columns, read_table
from eigensieve.tables import Table

EXAMPLES = (
    "eigensieve apply genes.skops new.csv -o new-chosen.csv",
    "cat new.csv | eigensieve apply genes.skops - > new-chosen.csv",
)


def apply_model(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model written by 'eigensieve select --model'.")],
    reading: TableOptions,
    printing: PrintOptions,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Write the selected columns here (- for stdout).")
    ] = "-",
    safe_names: SafeNames = False,
    force: Force = False,
) -> None:
    """Keep the features that a fitted model selected, in another table. Columns are found by their names."""
    check_table_name(output, reading.source)
    console = Console(printing, output)
    with Outputs(output, inputs=(model, reading.source, reading.sheet), force=force) as outputs:
        estimator, header = _open_model(model)
        if not hasattr(estimator, "get_support"):
            raise ModelProblem(
                f"'{model}' holds a {header['estimator']}, which selects no features. "
                f"Give a model that 'eigensieve select --model' wrote."
            )
        table = read_table(reading, console)
        columns = header["about"].get("columns", {})  # what were labels and batches in the fit
        for role, name in columns.items() if isinstance(columns, dict) else ():
            if role not in table.apart:
                table = table.set_apart(str(role), str(name))
        chosen = table.take(_columns(estimator, table, model, reading.source))
        if chosen.n_features:
            suffix = own_suffix(table)
            outputs.write("table", output, lambda path: save_table(chosen, path, safe=safe_names), suffix=suffix)
        else:
            console.note(f"No table was written: the model '{model}' selected no features.")
    console.text(f"{chosen.n_features:,} of {table.n_features:,} features kept for {table.n_samples:,} samples")
    document = {
        "command": "apply",
        "model": {key: header[key] for key in ("eigensieve", "estimator", "written")},
        "samples": table.n_samples,
        "features": [str(name) for name in chosen.feature_names],
    }
    console.finish(document, outputs.written)


def _open_model(path: str) -> tuple[Any, JsonDict]:
    """Load a model file, or say how it is wrong."""
    from eigensieve.estimators import ModelFileError, load_model, read_model_header

    try:
        return load_model(path), read_model_header(path)
    except ModelFileError as error:
        raise ModelProblem(str(error)) from error
    except (OSError, EOFError) as error:
        raise ModelProblem(explain_os_error(error, path, "reading")) from error


def _columns(estimator: Any, table: Table, model: str, source: str) -> IntArray:
    """Positions, in the table, of the features the model selected. A model that knows names finds columns by name:
    their order and further columns do not matter. Otherwise columns are found by position, and there must be as many as
    in the fit."""
    chosen = np.flatnonzero(estimator.get_support())
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        if table.n_features != estimator.n_features_in_:
            raise ModelProblem(
                f"The model '{model}' was fitted on {estimator.n_features_in_:,} columns without names; '{source}' has "
                f"{table.n_features:,}. Give it the same columns."
            )
        return chosen
    columns, absent = find_columns(table.feature_names, [str(names[i]) for i in chosen])
    if absent:
        raise ModelProblem(
            f"'{source}' lacks {absent} that the model '{model}' selected. Check the column names, or --samples."
        )
    return np.array(columns, dtype=np.intp)
