"""Tables of named columns (text, Parquet, Feather): which hold names, labels or features, and which hold text."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from eigensieve.tables.errors import DataError, position
from eigensieve.tables.labels import as_labels
from eigensieve.tables.orientation import place_of_samples
from eigensieve.tables.table import Column, Request, Table, refuse_duplicates

UNNAMED = ("", "Unnamed: 0")
"""What R and pandas call an index column without a name."""


class Columns(Protocol):
    """The columns of a file, as its reader found them.

    Attributes
    ----------
    details : dict
        For `Table.details`.
    """

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def details(self) -> dict[str, Any]: ...

    def text_columns(self) -> list[int]:
        """The columns of text, as far as a first look tells."""
        ...

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        """The cells of some columns as text."""
        ...

    def numbers(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values of those of the columns that hold numbers, and a mask of them."""
        ...

    def some_numbers(self) -> np.ndarray:
        """Numbers from all over the file, without the first column."""
        ...

    def id_column(self, text_columns: list[int], taken: Sequence[int]) -> int | None:
        """The column that holds the samples' names, if one does."""
        ...

    def rows(self, rows: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """The numbers of some rows, without the first column. Errors call the rows by `names`."""
        ...

    def line(self, row: int) -> list[str]:
        """The cells of one row as text, without the first column."""
        ...


def table_of(columns: Columns, request: Request, notes: list[str]) -> Table:
    """Make a table from the columns of a file. Find out where the samples stand."""
    text_columns = columns.text_columns()
    orientation, reasons = place_of_samples(
        request,
        column_names=columns.names,
        row_names=columns.texts([0])[0] if text_columns == [0] and request.id is None else None,
        values=columns.some_numbers,
    )
    notes += reasons
    if orientation == "columns":
        return _samples_in_columns(columns, request, notes)
    return _samples_in_rows(columns, request, text_columns, notes)


def _samples_in_rows(columns: Columns, request: Request, text_columns: list[int], notes: list[str]) -> Table:
    names = columns.names
    apart = {role: position(name, names, request.path, role) for role, name in request.named.items()}
    id_column = apart.pop("id", None)
    if id_column is None:
        id_column = columns.id_column(text_columns, list(apart.values()))
        if id_column is not None:
            name = names[id_column]
            nameless = name in UNNAMED or name.startswith("__index_level_")
            where = "the index column, which has no name" if nameless else f"column '{name}'"
            notes.append(f"sample names from {where}")
    taken = [*apart.values(), *([] if id_column is None else [id_column])]
    features = np.delete(np.arange(len(names)), taken)
    values, numeric = columns.numbers(features)
    text = features[~numeric].tolist()
    return Table(
        X=values,
        feature_names=names if numeric.all() and not taken else [names[column] for column in features[numeric]],
        sample_names=None if id_column is None else columns.texts([id_column])[0],
        format=request.format,
        notes=notes,
        apart=_set_apart(apart, names, lambda place: columns.texts([place])[0], request),
        id_name=None if id_column is None else names[id_column],
        text=dict(zip((names[column] for column in text), columns.texts(text), strict=True)),
        details=columns.details,
    )


def _samples_in_columns(columns: Columns, request: Request, notes: list[str]) -> Table:
    row_names = columns.texts([0])[0]
    apart = {role: position(name, row_names, request.path, role, "row") for role, name in request.apart.items()}
    rows = np.delete(np.arange(len(row_names)), list(apart.values()))
    features = [row_names[row] for row in rows]
    if not features or len(columns.names) < 2:
        raise DataError(f"'{request.path}' has no samples in columns. Check the delimiter, or read samples in rows.")
    refuse_duplicates(features, request.path, "feature")
    return Table(
        X=columns.rows(rows, features).T,
        feature_names=features,
        sample_names=list(columns.names[1:]),
        format=request.format,
        orientation="columns",
        notes=notes,
        apart=_set_apart(apart, row_names, columns.line, request),
        id_name=columns.names[0],
        details=columns.details,
    )


def _set_apart(
    places: dict[str, int], names: Sequence[str], cells: Callable[[int], list[str]], request: Request
) -> dict[str, Column]:
    return {role: Column(names[place], as_labels(cells(place), request)) for role, place in places.items()}
