"""Writing CSV and TSV, in the layout the table was read with."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from eigensieve.tables.content import open_for_writing
from eigensieve.tables.dialect import TAB_ENDINGS, Dialect
from eigensieve.tables.formats import ending_of
from eigensieve.tables.table import Table


def write_csv(path: Path, table: Table) -> None:
    """Write a table as delimited text; a name ending in ``.gz`` is compressed."""
    dialect = _dialect(path, table)
    with open_for_writing(path) as binary, io.TextIOWrapper(binary, "utf-8", newline="") as file:
        _write(file, table, dialect)


def _dialect(path: Path, table: Table) -> Dialect:
    """The layout the table was read with, as far as the file's ending allows it."""
    dialect: Dialect = table.details.get("dialect", Dialect())
    ending = ending_of(path)
    if ending in TAB_ENDINGS:
        return replace(dialect, delimiter="\t")
    if ending == ".csv" and dialect.delimiter == "\t":
        return replace(dialect, delimiter="," if dialect.decimal == "." else ";")
    return dialect


def _write(file: IO[str], table: Table, dialect: Dialect) -> None:
    writer = csv.writer(file, delimiter=dialect.delimiter, lineterminator="\n")
    rows = _feature_rows(table, dialect) if table.orientation == "columns" else _sample_rows(table, dialect)
    header = next(rows)
    if dialect.header or table.orientation == "columns":
        writer.writerow(header)
    writer.writerows(rows)


def _sample_rows(table: Table, dialect: Dialect) -> Iterator[list[str]]:
    names, apart = table.sample_names, table.columns_apart
    before = [] if names is None else ["id" if table.id_name is None else table.id_name]
    yield [*before, *table.feature_names, *apart]
    for row in range(table.n_samples):
        yield [
            *([] if names is None else [names[row]]),
            *_cells(_dense_row(table, row), dialect),
            *(str(values[row]) for values in apart.values()),
        ]


def _feature_rows(table: Table, dialect: Dialect) -> Iterator[list[str]]:
    yield [table.id_name or "", *table.sample_names_or_numbers]
    for name, values in table.columns_apart.items():
        yield [name, *map(str, values)]
    X = table.X if isinstance(table.X, np.ndarray) else table.X.tocsc()
    for column, name in enumerate(table.feature_names):
        values = X[:, column] if isinstance(X, np.ndarray) else X[:, [column]].toarray()[:, 0]
        yield [name, *_cells(values, dialect)]


def _dense_row(table: Table, row: int) -> np.ndarray:
    return table.X[row] if isinstance(table.X, np.ndarray) else table.X[[row]].toarray()[0]


def _cells(values: np.ndarray, dialect: Dialect) -> list[str]:
    """Shortest text that reads back as the same number; nothing for a missing value."""
    texts = map(repr, values.tolist()) if values.dtype == np.float64 else map(str, values)
    cells = ["" if text == "nan" else text.removesuffix(".0") for text in texts]
    return [cell.replace(".", dialect.decimal) for cell in cells] if dialect.decimal != "." else cells
