"""Files that appear all together or not at all, and the formats of tables written."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from eigensieve._files import StagedFile
from eigensieve.cli.errors import OutputProblem, UsageProblem, disk_full, explain_os_error, one_line

STDOUT = "-"


class Outputs:
    """Stage every output of a command beside its place, and move all of them there at the end.

    Each file is first written in a hidden folder next to its destination, so that the move is a rename. Nothing is
    moved before everything is written: a command that fails, is interrupted or runs out of disk leaves no output.

    Parameters
    ----------
    force : bool
        Whether existing files may be replaced.
    """

    def __init__(self, *, force: bool) -> None:
        self.force = force
        self._staged: list[tuple[str, StagedFile]] = []  # place, file
        self.written: dict[str, str] = {}

    def __enter__(self) -> "Outputs":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, file in self._staged:
            file.discard()

    def check(self, *places: str | None) -> None:
        """Refuse, before any work is done, places that could not be written at the end."""
        seen: dict[str, str] = {}
        for place in places:
            if place is None:
                continue
            key = STDOUT if place == STDOUT else str(Path(place).resolve())
            if key in seen:
                raise OutputProblem(f"Two outputs go to '{place}'. Give each its own file.")
            seen[key] = place
            if place != STDOUT:
                self._check_place(Path(place))

    def _check_place(self, path: Path) -> None:
        parent = path.parent
        if not parent.is_dir():
            raise OutputProblem(f"The folder '{parent}' of output '{path}' does not exist. Create it first.")
        if path.is_dir() and not _replaceable_folder(path):
            raise OutputProblem(f"Output '{path}' is a folder. Name a file.")
        if path.exists() and not self.force:
            raise OutputProblem(f"Output '{path}' exists already. Use --force to replace it, or another name.")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise OutputProblem(f"No permission to write in the folder '{parent}'. Choose another place.")

    def write(self, role: str, place: str, writer: Callable[[Path], object], *, suffix: str = "") -> None:
        """Let `writer` make the file for `place` in its hidden folder.

        Parameters
        ----------
        role : str
            What the file is ("table", "report"...), for the summary printed at the end.
        place : str
            The destination, ``-`` for standard output.
        writer : callable
            Given the path it must write to, whose name is that of the destination.
        suffix : str
            Suffix of the file's name when the destination is standard output.
        """
        try:
            file = StagedFile(Path(tempfile.gettempdir()) / f"stdout{suffix}" if place == STDOUT else place)
            self._staged.append((place, file))
            writer(file.path)
        except OSError as error:
            raise OutputProblem(explain_os_error(error, place, "writing")) from error
        except Exception as error:
            if disk_full(error):
                raise OutputProblem(explain_os_error(error, place, "writing")) from error
            from eigensieve.tables import DataError

            if isinstance(error, DataError):
                raise OutputProblem(one_line(error)) from error
            raise
        self.written[role] = place

    def commit(self) -> None:
        """Move every staged file to its place."""
        for place, file in self._staged:
            try:
                if place == STDOUT:
                    _copy_to_stdout(file.path)
                else:
                    file.publish(flush=True)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise OutputProblem(explain_os_error(error, place, "writing")) from error


def _replaceable_folder(path: Path) -> bool:
    """A folder is replaced only where it holds nothing but the files of a 10x Matrix Market folder."""
    names = {entry.name.removesuffix(".gz") for entry in path.iterdir()}
    return names <= {"matrix.mtx", "features.tsv", "genes.tsv", "barcodes.tsv"}


def _copy_to_stdout(staged: Path) -> None:
    with staged.open("rb") as source:
        shutil.copyfileobj(source, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def check_table_name(place: str | None, source: str) -> None:
    """Refuse, before the work, a name from which no format can be told."""
    from eigensieve.tables import DataError, format_of

    folder = Path(source).is_dir()
    if place is None:
        return
    if place == STDOUT:
        if folder:
            raise UsageProblem("A 10x folder cannot go to standard output. Name a folder or file with -o.")
        return
    if folder and Path(place).suffix == "":
        return
    try:
        format_of(Path(place))
    except DataError as error:
        raise UsageProblem(f"Output {error}") from error


def save_table(table: Any, path: Path) -> None:
    """Write a table in the format its name says."""
    from eigensieve.tables import write_in_place

    write_in_place(path, table)


def save_model(model: Any, path: Path, **about: Any) -> None:
    """Write a fitted model, and with it what is known about its data."""
    from eigensieve import estimators

    estimators.save_model(model, path, about=about)


_FRAMES = (".csv", ".tsv", ".parquet", ".feather", ".json")


def check_frame_name(place: str | None) -> None:
    """Refuse a name whose suffix :func:`save_frame` does not know."""
    if place is not None and place != STDOUT and Path(place).suffix.lower() not in _FRAMES:
        raise UsageProblem(f"The name '{place}' must end in one of {', '.join(_FRAMES)}.")


def save_frame(columns: dict[str, Any], path: Path) -> None:
    """Write a small table of results, such as weights, in the format its name says."""
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
