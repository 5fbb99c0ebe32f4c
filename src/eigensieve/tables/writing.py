"""Writing a table so that the file appears whole or not at all."""

import os
import shutil
import sys
import tempfile
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from eigensieve.tables.content import STDIN, format_of
from eigensieve.tables.table import DataError, Table


def write_table(
    path: str | PathLike[str], table: Table, columns: ArrayLike | None = None, *, force: bool = False
) -> None:
    """Write some features of a table.

    Parameters
    ----------
    path : str or path-like
        Where to. The format follows from the ending, and a table from a 10x folder goes to a folder when
        there is no ending; ``-`` writes the table's own format to standard output.
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
    format = _format(place, chosen)
    if not place.parent.is_dir():
        raise DataError(f"'{place}' cannot be written: its folder does not exist. Create it first.")
    if place.exists() and not force:
        raise DataError(f"'{place}' exists already. Choose another name, or force to replace it.")
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as folder:
        # the same name as the place, because libraries tell formats and compression from it
        staged = Path(folder) / place.name
        _write(staged, chosen, format)
        _flush(staged)
        if place.is_dir() and not place.is_symlink():
            os.replace(place, Path(folder) / "replaced")
        os.replace(staged, place)
    _flush_folder(place.parent)


def _format(place: Path, table: Table) -> str:
    if table.details.get("folder") and place.suffix == "":
        return "mtx"
    return format_of(place)[0]


def _write(path: Path, table: Table, format: str) -> None:
    if format == "csv":
        from eigensieve.tables.delimited_writing import write_delimited

        write_delimited(path, table)
    elif format in ("parquet", "feather"):
        from eigensieve.tables.columnar import write_columnar

        write_columnar(path, table, format)
    elif format in ("npy", "npz"):
        from eigensieve.tables.arrays import write_npy, write_npz

        (write_npy if format == "npy" else write_npz)(path, table)
    elif format == "mat":
        from eigensieve.tables.matlab import write_mat

        write_mat(path, table)
    elif format == "svmlight":
        from eigensieve.tables.svmlight import write_svmlight

        write_svmlight(path, table)
    elif format == "mtx":
        from eigensieve.tables.matrix_market import write_mtx

        write_mtx(path, table)
    else:
        from eigensieve.tables.h5ad import write_h5ad

        write_h5ad(path, table)


def write_in_place(path: Path, table: Table) -> None:
    """Write a table straight to its place, for callers that stage their files themselves."""
    _write(path, table, _format(path, table))


def _to_stdout(table: Table) -> None:
    if table.details.get("folder"):
        raise DataError("A 10x folder cannot go to standard output. Name a folder to write to.")
    with tempfile.TemporaryDirectory() as folder:
        # .txt keeps the delimiter the table was read with
        staged = Path(folder) / ("table.txt" if table.format == "csv" else f"table.{table.format}")
        _write(staged, table, table.format)
        with staged.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _flush(path: Path) -> None:
    """Have the system put a file, or every file in a folder, on the disk."""
    for file in path.iterdir() if path.is_dir() else [path]:
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())


def _flush_folder(folder: Path) -> None:
    """Have the rename itself put on the disk, where the system allows folders to be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
