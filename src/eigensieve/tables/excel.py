"""Excel workbooks (.xlsx), through openpyxl: the first sheet, read as the text table it looks like."""

import csv
import io
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve.tables.delimited import lines, read_csv
from eigensieve.tables.errors import PER_TEXT, DataError, allowance, claim, listed, parsing
from eigensieve.tables.files import Source
from eigensieve.tables.table import Request, Table


def read_xlsx(source: Source, request: Request) -> Table:
    """Read the first sheet of a workbook. Header, names and text columns are found as in a CSV file."""
    text, sheets = first_sheet(source, request)
    table = read_csv(io.BytesIO(text), replace(request, ending=".tsv", decimal=_decimal(request)))
    if len(sheets) > 1:
        table.notes.append(f"read from the first sheet, '{sheets[0]}'; the others are {listed(sheets[1:])}")
    return replace(table, details={})


def first_sheet(source: Source, request: Request) -> tuple[bytes, list[str]]:
    """The first sheet of a workbook as tab separated text, and the names of all sheets."""
    openpyxl = require("openpyxl", extra="excel")
    with parsing(request.path, "an Excel workbook (.xlsx)"):
        with zipfile.ZipFile(source) as archive:
            claim(sum(member.file_size for member in archive.infolist()), request.path, request.size)
        book = openpyxl.load_workbook(source, read_only=True, data_only=True)
        sheets = book.sheetnames
        rows = _rows(book[sheets[0]], request)
        book.close()
    if not rows:
        raise DataError(f"'{request.path}' has an empty first sheet, '{sheets[0]}'. Put the table on the first sheet.")
    width = max(map(len, rows))
    text = io.StringIO()
    csv.writer(text, delimiter="\t").writerows([*row, *[""] * width][:width] for row in rows)
    return text.getvalue().encode(), sheets


def _rows(sheet: Any, request: Request) -> list[list[str]]:
    """The cells of a sheet as text, without empty rows and without empty cells at the end of a row."""
    # The extent that the file announces would be filled up with empty cells.
    sheet.reset_dimensions()
    rows, cells, allowed, decimal = [], 0, allowance(request.size), _decimal(request)
    for row in sheet.iter_rows(values_only=True):
        cells += len(row)
        if cells * PER_TEXT > allowed:
            claim(cells * PER_TEXT, request.path, request.size)
        texts = [_text(cell, decimal) for cell in row]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            rows.append(texts)
    return rows


def write_xlsx(path: Path, table: Table) -> None:
    openpyxl = require("openpyxl", extra="excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")
    header, rows = lines(table)
    sheet.append(_words(sheet, header))
    for before, values, after in rows:
        cells = [None if value != value else value for value in values.tolist()]
        sheet.append([*_words(sheet, before), *cells, *_words(sheet, after)])
    book.save(path)


def _decimal(request: Request) -> str:
    """The decimal mark of numbers that stand as text in their cells: a point, unless the caller says otherwise."""
    return request.decimal or ("," if request.thousands == "." else ".")


def _text(cell: object, decimal: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return (cell.date() if cell.time() == time() else cell).isoformat()
    return repr(cell).replace(".", decimal) if isinstance(cell, float) else str(cell)


def _words(sheet: Any, values: Iterable[Any]) -> list[Any]:
    """Names and labels as cells. A text that begins with "=" stays a text; otherwise it would be a formula."""
    cells = [require("openpyxl.cell", extra="excel").WriteOnlyCell(sheet, np.array(value).item()) for value in values]
    for cell in cells:
        if cell.data_type == "f":
            cell.data_type = "s"
    return cells
