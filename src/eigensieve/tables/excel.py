"""Excel workbooks (.xlsx), through openpyxl: the first sheet, read as the text table it looks like."""

import csv
import io
import zipfile
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from typing import Any

from eigensieve._extras import require
from eigensieve.tables.content import Source
from eigensieve.tables.delimited import read_csv
from eigensieve.tables.table import DataError, Request, Table, damaged, listed


def read_xlsx(source: Source, request: Request) -> Table:
    """Read the first sheet of a workbook. Header, names and text columns are found as in a CSV file."""
    openpyxl = require("openpyxl", extra="excel")
    try:
        book = openpyxl.load_workbook(source, read_only=True, data_only=True)
        sheets = book.sheetnames
        rows = [[_text(cell) for cell in row] for row in book[sheets[0]].iter_rows(values_only=True)]
        book.close()
    except (zipfile.BadZipFile, KeyError, OSError, ValueError) as error:
        raise damaged(request.path, "an Excel workbook (.xlsx)") from error
    rows = [row for row in rows if any(row)]
    if not rows:
        raise DataError(f"'{request.path}' has an empty first sheet, '{sheets[0]}'. Put the table on the first sheet.")
    width = max(max(place for place, cell in enumerate(row, start=1) if cell) for row in rows)
    text = io.StringIO()
    csv.writer(text, delimiter="\t").writerows([*row, *[""] * width][:width] for row in rows)
    table = read_csv(io.BytesIO(text.getvalue().encode()), replace(request, ending=".tsv", decimal="."))
    if len(sheets) > 1:
        table.notes.append(f"read from the first sheet, '{sheets[0]}'; the others are {listed(sheets[1:])}")
    return replace(table, details={})


def write_xlsx(path: Path, table: Table) -> None:
    """Write a table on one sheet."""
    openpyxl = require("openpyxl", extra="excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")
    if table.orientation == "columns":
        sheet.append([table.id_name or "", *table.sample_names_or_numbers])
        if table.label is not None:
            sheet.append([table.label_name or "label", *table.label.tolist()])
        for name, values in zip(table.feature_names, table.dense.T, strict=True):
            sheet.append([name, *map(_cell, values.tolist())])
    else:
        ids, labels = table.sample_names, table.label
        before = [] if ids is None else [table.id_name or "id"]
        sheet.append([*before, *table.feature_names, *([] if labels is None else [table.label_name or "label"])])
        for row, values in enumerate(table.dense):
            named = [] if ids is None else [ids[row]]
            after = [] if labels is None else [labels[row].item()]
            sheet.append([*named, *map(_cell, values.tolist()), *after])
    book.save(path)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return (cell.date() if cell.time() == time() else cell).isoformat()
    return repr(cell) if isinstance(cell, float) else str(cell)


def _cell(value: float) -> float | None:
    return None if value != value else value
