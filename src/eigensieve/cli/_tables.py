"""Tables in and out: files through the readers, standard input and output as ``-``."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from eigensieve.cli._errors import InputProblem, UsageProblem, input_errors

STDIN = "-"

SUFFIXES = {
    "csv": ".csv",
    "tsv": ".tsv",
    "parquet": ".parquet",
    "feather": ".feather",
    "npy": ".npy",
    "npz": ".npz",
    "mat": ".mat",
    "svmlight": ".svm",
    "mtx": ".mtx",
    "h5ad": ".h5ad",
}
"""Names for ``--format`` and the suffix each stands for."""


def suffix_of(format_name: str) -> str:
    """Return the suffix of a format named on the command line."""
    if format_name not in SUFFIXES:
        raise UsageProblem(f"--format must be one of {', '.join(SUFFIXES)}. Got '{format_name}' instead.")
    return SUFFIXES[format_name]


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
    from eigensieve.datasets.readers import read_table

    if samples not in ("auto", "rows", "columns"):
        raise UsageProblem(f"--samples must be auto, rows or columns. Got '{samples}' instead.")
    suffix = suffix_of(form) if form is not None else None
    options: dict[str, Any] = {"label": label, "id": ident, "samples": samples}
    with input_errors(source):
        if source == STDIN:
            return _from_stdin(suffix or ".csv", options)
        path = Path(source)
        if not path.exists():
            raise InputProblem(f"Input '{source}' does not exist. Check the path.")
        if suffix is not None and path.suffix != suffix:
            with tempfile.TemporaryDirectory(prefix="eigensieve-") as folder:
                named = Path(folder) / f"{path.name}{suffix}"
                named.symlink_to(path.resolve())
                return read_table(named, **options)
        return read_table(path, **options)


def _from_stdin(suffix: str, options: dict[str, Any]) -> Any:
    """Readers need to look at a file more than once: standard input is kept in a temporary one."""
    from eigensieve.datasets.readers import read_table

    if sys.stdin.isatty():
        raise InputProblem("Standard input is a terminal. Pipe a table into the command, or name a file.")
    with tempfile.TemporaryDirectory(prefix="eigensieve-") as folder:
        kept = Path(folder) / f"stdin{suffix}"
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return read_table(kept, **options)


def save_table(table: Any, path: Path) -> None:
    """Write a table in the format its name says."""
    from eigensieve.datasets.readers import write_table

    write_table(table, path)


def check_table_name(place: str | None) -> None:
    """Refuse, before the work, a name from which no format can be told."""
    if place is None or place == "-":
        return
    name = place.removesuffix(".gz")
    if Path(name).suffix and Path(name).suffix.lower() not in {*SUFFIXES.values(), ".txt", ".tab", ".arrow", ".libsvm"}:
        raise UsageProblem(
            f"The format of '{place}' cannot be told from its name. End it in one of: {', '.join(SUFFIXES.values())}."
        )


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
