"""Parquet and Feather files, through pyarrow."""

from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve.tables.formats import format_of
from eigensieve.tables.orientation import place_of_samples
from eigensieve.tables.table import Request, Table, as_labels, damaged, position, refuse_duplicates, text_among_numbers


def read_columnar(path: Path, request: Request) -> Table:
    """Read a Parquet or Feather file."""
    arrow = _load(path, request.format)
    names = [str(name) for name in arrow.column_names]
    refuse_duplicates(names, path, "column")
    text_columns = [column for column in range(len(names)) if not _is_numeric(arrow.column(column).type)]
    named_rows = text_columns == [0] and request.id is None
    orientation, notes = place_of_samples(
        request,
        column_names=names,
        row_names=_texts(arrow.column(0)) if named_rows else None,
        values=lambda: _numbers(arrow, np.arange(1, len(names))),
    )
    if orientation == "columns":
        return _samples_in_columns(arrow, names, request, notes)
    return _samples_in_rows(arrow, names, request, text_columns, notes)


def _samples_in_rows(
    arrow: Any, names: list[str], request: Request, text_columns: list[int], notes: list[str]
) -> Table:
    places = {role: position(name, names, request.path, role) for role, name in request.named.items()}
    label_column, id_column = places.get("label"), places.get("id")
    if id_column is None:
        id_column = _index_column(arrow, names, text_columns, label_column)
        if id_column is not None:
            notes.append(f"sample names from column '{names[id_column]}'")
    aside = {label_column, id_column}
    text = [column for column in text_columns if column not in aside]
    if text and request.categories == "error":
        raise text_among_numbers(request.path, [names[column] for column in text])
    aside |= set(text)
    features = np.array([column for column in range(len(names)) if column not in aside], dtype=int)
    return Table(
        X=_numbers(arrow, features),
        feature_names=[names[column] for column in features],
        sample_names=None if id_column is None else _texts(arrow.column(id_column)),
        label=None if label_column is None else as_labels(_texts(arrow.column(label_column))),
        format=request.format,
        notes=notes,
        label_name=request.label,
        id_name=None if id_column is None else names[id_column],
        text={names[column]: _texts(arrow.column(column)) for column in text},
    )


def _samples_in_columns(arrow: Any, names: list[str], request: Request, notes: list[str]) -> Table:
    row_names = _texts(arrow.column(0))
    values = _numbers(arrow, np.arange(1, len(names)))
    labels = None
    if request.label is not None:
        row = position(request.label, row_names, request.path, "label", "row")
        labels = as_labels([repr(float(value)) for value in values[row]])
        values = np.delete(values, row, axis=0)
        del row_names[row]
    refuse_duplicates(row_names, request.path, "feature")
    return Table(
        X=values.T,
        feature_names=row_names,
        sample_names=names[1:],
        label=labels,
        format=request.format,
        orientation="columns",
        notes=notes,
        label_name=request.label,
        id_name=names[0],
    )


def write_columnar(path: Path, table: Table) -> None:
    """Write a Parquet or Feather file."""
    pa = require("pyarrow", extra="cli")
    X = table.dense
    columns: dict[str, Any] = {}
    if table.orientation == "columns":
        columns[table.id_name or "feature"] = list(table.feature_names)
        columns |= {name: np.ascontiguousarray(row) for name, row in zip(table.sample_names_or_numbers, X, strict=True)}
    else:
        if table.sample_names is not None:
            columns[table.id_name or "id"] = table.sample_names
        columns |= {name: np.ascontiguousarray(column) for name, column in zip(table.feature_names, X.T, strict=True)}
        if table.label is not None:
            columns[table.label_name or "label"] = table.label
    arrow = pa.table(columns)
    if format_of(path).name == "parquet":
        require("pyarrow.parquet", extra="cli").write_table(arrow, path)
    else:
        require("pyarrow.feather", extra="cli").write_feather(arrow, str(path), version=2)


def _load(path: Path, format: str) -> Any:
    pa = require("pyarrow", extra="cli")
    try:
        if format == "parquet":
            return require("pyarrow.parquet", extra="cli").read_table(path)
        return require("pyarrow.feather", extra="cli").read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"a {format.capitalize()} file") from error


def _is_numeric(type: Any) -> bool:
    types = require("pyarrow.types", extra="cli")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(type) for test in tests)


def _numbers(arrow: Any, columns: np.ndarray) -> np.ndarray:
    """Columns as one matrix: float32 where all of them are, float64 otherwise; NaN for nulls."""
    pa = require("pyarrow", extra="cli")
    single = bool(len(columns)) and all(arrow.column(int(i)).type == pa.float32() for i in columns)
    kind = pa.float32() if single else pa.float64()
    values = np.empty((arrow.num_rows, len(columns)), dtype=np.float32 if single else np.float64, order="F")
    for target, column in enumerate(columns):
        data = arrow.column(int(column))
        if pa.types.is_boolean(data.type):
            data = data.cast(pa.int8())
        values[:, target] = data.cast(kind).to_numpy()
    return values


def _texts(column: Any) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _index_column(arrow: Any, names: list[str], text_columns: list[int], label_column: int | None) -> int | None:
    """The data frame's own index where one was stored, else a first column of distinct texts."""
    stored = (arrow.schema.pandas_metadata or {}).get("index_columns", [])
    index = [names.index(name) for name in stored if isinstance(name, str) and name in names]
    if index:
        return index[0]
    if text_columns[:1] == [0] and label_column != 0:
        texts = _texts(arrow.column(0))
        return 0 if len(set(texts)) == len(texts) else None
    return None
