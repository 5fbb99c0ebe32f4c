"""Files that appear whole or not at all."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from eigensieve._files import StagedFile
from eigensieve.cli.errors import OutputProblem, disk_full, explain_os_error, one_line

STDOUT = "-"


class Outputs:
    """Stage every output of a command beside its place, and move all of them there at the end.

    Each file is first written in a hidden folder next to its destination (so that the move is a rename), and
    nothing is
    moved before everything is written: a command that fails, is interrupted or runs out of disk leaves no
    output at all.

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
                    file.publish()
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
