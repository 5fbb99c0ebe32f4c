"""One function that reads a table from any supported file, and one that writes it."""

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import get_args

import numpy as np

from eigensieve._errors import wrong_parameter
from eigensieve._files import staged
from eigensieve._types import OneEach
from eigensieve.tables import files
from eigensieve.tables.errors import DataError, out_of_memory
from eigensieve.tables.grid import find_grid
from eigensieve.tables.labels import named_gaps, numbers_among, without_gaps
from eigensieve.tables.mixed import arranged
from eigensieve.tables.table import Categories, Column, Request, Samples, Sheet, Table, checked, read_with


def read_table(
    path: str | PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    batch: str | None = None,
    donor: str | None = None,
    event: str | None = None,
    time: str | None = None,
    samples: Samples = "auto",
    format: str | None = None,
    categories: Categories = "error",
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    na_values: Sequence[str] = (),
    decimal: str | None = None,
    thousands: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    sheet: str | PathLike[str] | None = None,
) -> Table:
    """Read a table of samples.

    Parameters
    ----------
    path : str or path-like
        The format follows from the file's ending: .csv, .tsv, .tab, .txt (also with .gz), .parquet, .pq,
        .feather, .arrow, .xlsx, .npy, .npz, .mat, .svm, .svmlight, .libsvm (also .gz), .mtx (also .gz), .h5ad; or
        a folder with matrix.mtx, features.tsv and barcodes.tsv (10x). ``-`` reads standard input. The format of
        standard input, and of a pipe without an ending, is recognised from the first bytes; text is taken for CSV or
        TSV.
    label : str, optional
        Name of the label column: a column, the name of a row when samples are in columns, an array of an
        .npz or .mat file, a column of ``obs`` in .h5ad, "label" in svmlight.
    id : str, optional
        Name of the column with the samples' names. A first column of distinct texts is taken without asking.
    batch : str, optional
        Name of the column with the samples' batches, found like the label.
    donor : str, optional
        Name of the column with the samples' donors, found like the label.
    event, time : str, optional
        Names of the columns that say whether an event was seen, and when it or the last look was.
    samples : {"auto", "rows", "columns"}, default="auto"
        Where the samples stand. "auto" takes rows, unless a text table has named rows that the label, the
        name of the first column or the values show to be features; the table's notes say so.
    format : str, optional
        One of :data:`~eigensieve.tables.FORMATS`, to overrule the file's ending.
    categories : {"error", "leave-out", "one-hot"}, default="error"
        What to do with columns of text, dates and categories: refuse the table, leave them out with a note, or encode
        the categories of each as columns of 0 and 1 (up to 50 of them; columns with more are left out).
    keep, drop : sequence of str, optional
        Use only these columns; do not use these. The label and the id need not be named.
    na_values : sequence of str, optional
        Cells that mean "missing", besides empty cells, "NA", "NaN", "null", "?" and the like: texts, or numbers such as
        "-999", in every format, among features, labels and batches.
    decimal, thousands : str, optional
        Decimal mark and thousands mark of a text file, or of numbers that are text in a workbook. The decimal mark
        is found in text files; a thousands mark must be named. A mark that is named as one is not taken for the other.
    header : bool, optional
        Whether the first line of a text file or a workbook names the columns. It is found out where this is None.
        Columns without names are called "x0", "x1", ...
    comment : str, optional
        Lines of a text file or a workbook that begin with this are passed over. A GEO series matrix is read as it is.
    sheet : str or path-like, optional
        A CSV, TSV or Excel file with one row per sample. The label and the batch may be columns of it. Samples are
        found by their names, in the column of the sheet that names most of them; the order does not matter. The
        table's notes say which samples one of the two lacks.

    Raises
    ------
    DataError
        When the file is missing, empty, damaged, ragged, of unknown kind, has duplicate names, text among
        its numbers, no such label, or no samples. The message is one line that names the file, the problem
        and the fix.
    """
    check_choices(samples, format, categories, decimal, thousands)
    roles = {"label": label, "batch": batch, "donor": donor, "event": event, "time": time}
    request = Request(
        "standard input" if str(path) == files.STDIN else Path(path),
        {role: name for role, name in roles.items() if name is not None},
        id,
        samples,
        categories=categories,
        keep=tuple(keep),
        drop=tuple(drop),
        na_values=tuple(na_values),
        decimal=decimal,
        thousands=thousands,
        header=header,
        comment=comment,
    )
    request.check_roles()
    if sheet is None:
        table = _from_path(Path(path), format, request)
    else:
        table = read_with(_sheet(sheet), request, lambda rest: _from_path(Path(path), format, rest))
    return checked(arranged(_with_gaps(table, request), request), request.path)


def _sheet(path: str | PathLike[str]) -> Sheet:
    """Read a sheet from a CSV, TSV or Excel file. Its first line names the columns."""
    file = Path(path)
    request = Request(file, ending=files.ending_of(file), format="csv", header=True)
    source: files.Source = file
    if files.is_stream(file):
        content, size = files.read_stream(file)
        source, format = io.BytesIO(content), files.format_of_stream(content, file)
    else:
        files.check_readable(file)
        size, format = file.stat().st_size, files.format_of(file, reading=True)
    request = replace(request, size=size)
    if format.name == "xlsx":
        from eigensieve.tables.excel import first_sheet

        text, _ = first_sheet(source, request)
        source, request = io.BytesIO(text), replace(request, ending=".tsv")
    elif format.name != "csv":
        raise DataError(f"The sample sheet '{file}' must be a CSV, TSV or Excel file. Save it as one of them.")
    grid = find_grid(files.read_content(source), request, [])
    names = [name or "sample" for name in grid.names]
    return Sheet(f"the sheet '{file}'", dict(zip(names, grid.texts(range(len(names))), strict=True)))


def _with_gaps(table: Table, request: Request) -> Table:
    """Put a gap wherever a value is one of the caller's own words for missing ones."""
    words = request.na_values
    if not words:
        return table
    numbers = numbers_among(words)
    if 0.0 in numbers and not isinstance(table.X, np.ndarray):
        raise DataError(
            f"'{request.path}' is sparse: its zeros are not stored, so 0 cannot mean missing. Store a dense matrix."
        )
    X = table.X.copy()
    values = X if isinstance(X, np.ndarray) else X.data  # values that are not stored stay zero
    with np.errstate(over="ignore"):
        values[np.isin(values, np.array(numbers, dtype=values.dtype))] = np.nan
    missing = {name: named_gaps(cells, words) for name, cells in table.text.items()}
    text = {name: ["" if cell in missing[name] else cell for cell in cells] for name, cells in table.text.items()}
    apart = {role: Column(name, without_gaps(values, words)) for role, (name, values) in table.apart.items()}
    return replace(table, X=X, text=text, apart=apart)


def check_choices(
    samples: str, format: str | None, categories: str, decimal: str | None, thousands: str | None
) -> None:
    """Raise ValueError for words that :func:`read_table` does not know, and for marks that cannot stand in numbers."""
    for name, value, known in (
        ("samples", samples, get_args(Samples)),
        ("format", format, (None, *files.FORMATS)),
        ("categories", categories, get_args(Categories)),
    ):
        if value not in known:
            raise wrong_parameter(name, "read_table", f"be one of {', '.join(filter(None, known))}", repr(value))
    for name, mark in (("decimal", decimal), ("thousands", thousands)):
        if mark is not None and not (len(mark) == 1 and mark.isascii() and not mark.isalnum()):
            raise wrong_parameter(name, "read_table", "be one character such as ',' or '.'", repr(mark))
    if decimal is not None and decimal == thousands:
        raise wrong_parameter("thousands", "read_table", f"differ from the decimal mark {decimal!r}", repr(thousands))


def _from_path(file: Path, format: str | None, request: Request) -> Table:
    if files.is_stream(file):
        return _from_stream(file, format, request)
    files.check_readable(file)
    request = replace(request, size=file.stat().st_size)
    if file.is_dir():
        from eigensieve.tables.matrix_market import read_10x

        return read_10x(file, request)
    found = files.format_of(file, reading=True) if format is None else files.named(format)
    ending = files.ending_of(file) if format is None else ""
    return _read(found, file, replace(request, ending=ending))


def _from_stream(path: Path, format: str | None, request: Request) -> Table:
    content, size = files.read_stream(path)
    request = replace(request, size=size)
    found = files.format_of_stream(content, path) if format is None else files.named(format)
    if not found.file_only:
        return _read(found, io.BytesIO(content), request)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"stream{found.endings[0]}"
        file.write_bytes(content)
        try:
            return _read(found, file, replace(request, path=file))
        except DataError as error:
            raise DataError(str(error).replace(str(file), str(request.path))) from error


def _read(format: files.Format, source: files.Source, request: Request) -> Table:
    if format.name not in ("csv", "xlsx") and not (request.header is None and request.comment is None):
        raise DataError(
            f"'{request.path}' is no text table: its format has names of columns, or none. "
            "Leave out header and comment."
        )
    try:
        table: Table = files.function("read", format)(source, replace(request, format=format.name))
    except MemoryError as error:
        raise out_of_memory(request.path) from error
    return table


def write_table(path: str | PathLike[str], table: Table, columns: OneEach = None, *, force: bool = False) -> None:
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
    if str(path) == files.STDIN:
        return _to_stdout(chosen)
    place = Path(path)
    format = written_format(place, folder=bool(chosen.details.get("folder")))
    if not place.parent.is_dir():
        raise DataError(f"'{place}' cannot be written: its folder does not exist. Create it first.")
    if os.path.lexists(place) and not force:
        raise DataError(f"'{place}' exists already. Choose another name, or replace it with force=True.")
    with staged(place, flush=True) as path:
        files.function("write", format)(path, chosen)


def written_format(place: Path, *, folder: bool = False) -> files.Format:
    """Return the format that a name stands for; `folder`: the table came from a 10x folder and may go to one."""
    return files.named("mtx") if folder and place.suffix == "" else files.format_of(place)


def write_in_place(path: Path, table: Table) -> None:
    """Write a table straight to its place, for callers that stage their files themselves."""
    files.function("write", written_format(path, folder=bool(table.details.get("folder"))))(path, table)


def _to_stdout(table: Table) -> None:
    if table.details.get("folder"):
        raise DataError("A 10x folder cannot go to standard output. Name a folder to write to.")
    with tempfile.TemporaryDirectory() as folder:
        # .txt keeps the delimiter the table was read with
        path = Path(folder) / ("table.txt" if table.format == "csv" else f"table.{table.format}")
        files.function("write", files.named(table.format))(path, table)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
