"""Files that appear all together or not at all, and the formats of tables written."""

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._files import StagedFile, is_special, signals_held
from eigensieve._types import JsonDict
from eigensieve.cli.console import printable
from eigensieve.cli.errors import OutputProblem, UsageProblem, disk_full, explain_os_error, one_line
from eigensieve.tables import DataError, Table, write_in_place, written_format

STDOUT = "-"
_OF_10X = {"matrix.mtx", "features.tsv", "genes.tsv", "barcodes.tsv"}
PUBLISHED: list[str] = []
"""Outputs that the running command has written. A message about its end must not deny it."""
_STAGED: list[tuple[str, StagedFile]] = []  # places and hidden files of the running command


def discard_staged() -> None:
    """Remove what the running command has not put in its place. A signal may keep a context from doing it."""
    with signals_held():
        while _STAGED:
            _STAGED.pop()[1].discard()


class Outputs:
    """Stage every output of a command in a hidden folder beside its place, and move all of them there at the end. A
    command that fails, is interrupted or runs out of disk leaves no output. Existing files are replaced only with
    `force`. Places that could not be written at the end, and the inputs themselves, are refused before any work is
    done."""

    def __init__(self, *places: str | None, inputs: Sequence[str | None] = (), force: bool) -> None:
        self.written: dict[str, str] = {}
        given = [place for place in places if place is not None]
        resolved = [STDOUT if place == STDOUT else str(Path(place).resolve()) for place in given]
        for number, (place, key) in enumerate(zip(given, resolved, strict=True)):
            if key in resolved[:number]:
                raise OutputProblem(f"Two outputs go to '{place}'. Give each its own file.")
            if place != STDOUT:
                _check_place(Path(place), force)
                for source in inputs:
                    if source is not None and _same_place(place, source):
                        raise OutputProblem(f"Output '{place}' would replace the input '{source}'. Name another file.")

    def __enter__(self) -> "Outputs":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            discard_staged()

    def write(self, role: str, place: str | None, writer: Callable[[Path], object], *, suffix: str = "") -> None:
        """Let `writer` make the file for `place`, where one is given, at the path that it is given. `role` names it in
        the summary ("table", "report"...). `suffix` is its name's where the place is standard output."""
        if place is None:
            return
        try:
            with signals_held():  # a folder that is made and not yet known would be left behind
                file = StagedFile(Path(tempfile.gettempdir()) / f"stdout{suffix}" if place == STDOUT else place)
                _STAGED.append((place, file))
            writer(file.path)
        except Exception as error:
            if isinstance(error, OSError) or disk_full(error):
                raise OutputProblem(explain_os_error(error, place, "writing")) from error
            if isinstance(error, DataError):
                raise OutputProblem(one_line(error)) from error
            raise
        self.written[role] = place

    def write_text(self, role: str, place: str | None, make: Callable[[], str], *, suffix: str = "") -> None:
        """As :meth:`write`, for a text that is made only where a place is given."""
        self.write(role, place, lambda path: path.write_text(make(), encoding="utf-8", errors="replace"), suffix=suffix)

    def _commit(self) -> None:
        """Move every staged file to its place; signals wait until all are there. Standard output comes last."""
        with signals_held():
            for place, file in _STAGED:
                if place != STDOUT:
                    try:
                        file.publish(flush=True)
                    except OSError as error:
                        already = f" Already written: {', '.join(PUBLISHED)}." if PUBLISHED else ""
                        raise OutputProblem(explain_os_error(error, place, "writing") + already) from error
                    PUBLISHED.append(f"'{place}'")
        for place, file in _STAGED:
            if place == STDOUT:
                PUBLISHED.append("standard output, perhaps not to its end")
                try:
                    with file.path.open("rb") as source:
                        shutil.copyfileobj(source, sys.stdout.buffer)
                    sys.stdout.buffer.flush()
                except BrokenPipeError:
                    raise
                except OSError as error:
                    raise OutputProblem(explain_os_error(error, place, "writing")) from error


def _check_place(path: Path, force: bool) -> None:
    parent = path.parent
    if not parent.is_dir():
        raise OutputProblem(f"The folder '{parent}' of output '{path}' does not exist. Create it first.")
    # a folder is replaced only where it holds nothing but the files of a 10x Matrix Market folder
    if path.is_dir() and not {entry.name.removesuffix(".gz") for entry in path.iterdir()} <= _OF_10X:
        raise OutputProblem(f"Output '{path}' is a folder. Name a file.")
    if is_special(path):
        raise OutputProblem(
            f"Output '{path}' is a device, pipe or socket, which is never replaced. "
            "Name a file, or - for standard output."
        )
    if os.path.lexists(path) and not force:
        raise OutputProblem(f"Output '{path}' exists already. Use --force to replace it, or another name.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputProblem(f"No permission to write in the folder '{parent}'. Choose another place.")


def _same_place(place: str, source: str) -> bool:
    """Whether an output is an input, or a file of an input that is a folder."""
    if not (os.path.exists(place) and os.path.exists(source)):
        return False
    return os.path.samefile(place, source) or (os.path.isdir(source) and os.path.samefile(Path(place).parent, source))


def check_table_name(place: str | None, source: str) -> None:
    """Refuse, before the work, a name from which no format can be told."""
    folder = Path(source).is_dir()
    if place == STDOUT and folder:
        raise UsageProblem("A 10x folder cannot go to standard output. Name a folder or file with -o.")
    if place is None or place == STDOUT:
        return
    try:
        written_format(Path(place), folder=folder)
    except DataError as error:
        raise UsageProblem(f"Output {error}") from error


def own_suffix(table: Table) -> str:
    """The suffix of a table's own format, for standard output; ``.txt`` keeps the delimiter it was read with."""
    return ".txt" if table.format == "csv" else f".{table.format}"


def save_table(table: Table, path: Path, *, safe: bool = False) -> None:
    """Write a table in the format its name says; `safe` keeps spreadsheets from computing names in text files."""
    if safe and not table.details.get("folder") and written_format(path).name == "csv":
        table = replace(
            table,
            feature_names=without_formulas(table.feature_names),
            sample_names=None if table.sample_names is None else without_formulas(table.sample_names),
            apart={
                role: column._replace(values=np.array(without_formulas(column.values)))
                for role, column in table.apart.items()
            },
        )
    write_in_place(path, table)


def without_formulas(values: Any) -> Any:
    """Put an apostrophe before every text that a spreadsheet would take for a formula; numbers stay as they are."""
    found = [isinstance(value, str) and _is_formula(value) for value in values]
    if not any(found):
        return values
    return [f"'{value}" if formula else value for value, formula in zip(values, found, strict=True)]


def _is_formula(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.startswith(("=", "+", "-", "@", "\t", "\r"))
    return False


def save_model(model: Any, path: Path, **about: Any) -> None:
    from eigensieve import estimators

    # file names may hold bytes that are no text
    plain = {key: printable(value) if isinstance(value, str) else value for key, value in about.items()}
    estimators.save_model(model, path, about=plain)


_FRAMES = (".csv", ".tsv", ".parquet", ".feather", ".json")


def check_frame_name(place: str | None) -> None:
    """Refuse a name whose suffix :func:`save_frame` does not know."""
    if place is not None and place != STDOUT and Path(place).suffix.lower() not in _FRAMES:
        raise UsageProblem(f"The name '{place}' must end in one of {', '.join(_FRAMES)}.")


def save_frame(columns: JsonDict, path: Path, *, safe: bool = False) -> None:
    """Write a small table of results, such as weights, in the format its name says; `safe` as in `save_table`."""
    polars = require("polars", extra="cli")
    suffix = path.suffix.lower()
    if safe and suffix in (".csv", ".tsv"):
        columns = {name: without_formulas(values) for name, values in columns.items()}
    out = io.BytesIO()
    with signals_held():  # polars answers an exception within its compiled code with a panic, which prints pages
        frame = polars.DataFrame(columns)
        if suffix == ".parquet":
            frame.write_parquet(out)
        elif suffix == ".feather":
            frame.write_ipc(out)
        elif suffix == ".json":
            out.write(frame.write_json().encode("utf-8"))
        else:
            frame.write_csv(out, separator="\t" if suffix == ".tsv" else ",")
    path.write_bytes(out.getvalue())  # polars opens no file whose name is not UTF-8
