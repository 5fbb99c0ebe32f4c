"""Tables in and out: files through the readers, standard input and output as ``-``."""

from pathlib import Path
from typing import Any

from eigensieve.cli.errors import UsageProblem, input_errors


def load_table(
    source: str, *, label: str | None = None, ident: str | None = None, samples: str = "auto", form: str | None = None
) -> Any:
    """Read a table from a file, a 10x folder, or standard input.

    Parameters
    ----------
    source : str
        Path, or ``-``.
    label, ident : str, optional
        Columns that hold the samples' labels and names.
    samples : {"auto", "rows", "columns"}
        Where the samples stand.
    form : str, optional
        Format, when the file's name does not tell it.
    """
    from eigensieve.tables import FORMATS, read_table

    if samples not in ("auto", "rows", "columns"):
        raise UsageProblem(f"--samples must be auto, rows or columns. Got '{samples}' instead.")
    if form is not None and form not in FORMATS:
        raise UsageProblem(f"--format must be one of {', '.join(FORMATS)}. Got '{form}' instead.")
    with input_errors(source):
        return read_table(source, label=label, id=ident, samples=samples, format=form)  # type: ignore[arg-type]


def save_table(table: Any, path: Path) -> None:
    """Write a table in the format its name says."""
    from eigensieve.tables import write_table

    write_table(path, table)


def check_table_name(place: str | None, source: str) -> None:
    """Refuse, before the work, a name from which no format can be told."""
    from eigensieve.tables import DataError, format_of

    folder = Path(source).is_dir()
    if place is None:
        return
    if place == "-":
        if folder:
            raise UsageProblem("A 10x folder cannot go to standard output. Name a folder or file with -o.")
        return
    if folder and Path(place).suffix == "":
        return
    try:
        format_of(Path(place))
    except DataError as error:
        raise UsageProblem(f"Output {error}") from error


FRAMES = (".csv", ".tsv", ".parquet", ".feather", ".json")
"""Suffixes of small tables of results (weights, comparisons)."""


def save_frame(columns: dict[str, Any], path: Path) -> None:
    """Write a small table of results; the suffix says the format."""
    from eigensieve._extras import require

    polars = require("polars", extra="cli")
    frame = polars.DataFrame(columns)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".feather":
        frame.write_ipc(path)
    elif suffix == ".json":
        path.write_text(frame.write_json(), encoding="utf-8")
    else:
        frame.write_csv(path, separator="\t" if suffix == ".tsv" else ",")


def check_frame_name(place: str | None) -> None:
    """Refuse a name whose suffix :func:`save_frame` does not know."""
    if place is not None and place != "-" and Path(place).suffix.lower() not in FRAMES:
        raise UsageProblem(f"The name '{place}' must end in one of {', '.join(FRAMES)}.")
