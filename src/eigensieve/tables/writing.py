"""Writing a table so that the file appears whole or not at all."""

import os
import shutil
import sys
import tempfile
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from eigensieve._files import staged
from eigensieve.tables.content import STDIN
from eigensieve.tables.errors import DataError
from eigensieve.tables.formats import Format, format_of, function, named
from eigensieve.tables.table import Table


def write_table(
    path: str | PathLike[str], table: Table, columns: ArrayLike | None = None, *, force: bool = False
) -> None:
    """Write some features of a table.

    Parameters
    ----------
    path : str or path-like
        Where to write. The format follows from the ending. Without an ending, a table from a 10x folder goes to a
        folder. ``-`` writes the table's own format to standard output.
    table : Table
        As :func:`~eigensieve.tables.read_table` returned it.
    columns : array-like of int or bool, optional
        The features to write, in this order; all by default.
    force : bool, default=False
        Whether an existing file may be replaced.

    Raises
    ------
    DataError
        When the place is taken, its folder is missing or the ending is unknown.
    OSError
        When the system refuses, for example because the disk is full. Nothing is left behind then.

    Notes
    -----
    Everything is first written beside its final place, flushed to the disk, and then renamed: whoever looks
    sees the old file or the new one, never half of one.
    """
    chosen = table if columns is None else table.take(np.asarray(columns))
    if str(path) == STDIN:
        _to_stdout(chosen)
        return
    place = Path(path)
    format = written_format(place, folder=bool(chosen.details.get("folder")))
    if not place.parent.is_dir():
        raise DataError(f"'{place}' cannot be written: its folder does not exist. Create it first.")
    if os.path.lexists(place) and not force:
        raise DataError(f"'{place}' exists already. Choose another name, or replace it with force=True.")
    with staged(place, flush=True) as path:
        function(format.writer)(path, chosen)


def written_format(place: Path, *, folder: bool = False) -> Format:
    """Return the format that a name stands for; `folder`: the table came from a 10x folder and may go to one."""
    return named("mtx") if folder and place.suffix == "" else format_of(place)


def write_in_place(path: Path, table: Table) -> None:
    """Write a table straight to its place, for callers that stage their files themselves."""
    function(written_format(path, folder=bool(table.details.get("folder"))).writer)(path, table)


def _to_stdout(table: Table) -> None:
    if table.details.get("folder"):
        raise DataError("A 10x folder cannot go to standard output. Name a folder to write to.")
    with tempfile.TemporaryDirectory() as folder:
        # .txt keeps the delimiter the table was read with
        path = Path(folder) / ("table.txt" if table.format == "csv" else f"table.{table.format}")
        function(named(table.format).writer)(path, table)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
