"""Parquet and Feather files, through pyarrow."""

from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve.tables.content import read_content
from eigensieve.tables.feather_size import unpacked_size
from eigensieve.tables.formats import format_of
from eigensieve.tables.labels import as_labels
from eigensieve.tables.limits import PER_TEXT, claim
from eigensieve.tables.orientation import place_of_samples
from eigensieve.tables.table import (
    DataError,
    Request,
    Table,
    damaged,
    parsing,
    position,
    refuse_duplicates,
    text_among_numbers,
    too_large,
)


def read_columnar(path: Path, request: Request) -> Table:
    """Read a Parquet or Feather file."""
    arrow = _load(path, request)
    names = [str(name) for name in arrow.column_names]
    refuse_duplicates(names, path, "column")
    text_columns = [column for column in range(len(names)) if not _is_numeric(arrow.column(column).type)]
    named_rows = text_columns == [0] and request.id is None
    orientation, notes = place_of_samples(
        request,
        column_names=names,
        row_names=_texts(arrow.column(0)) if named_rows else None,
        values=lambda: _numbers(arrow, np.arange(1, len(names)), request),
    )
    if orientation == "columns":
        text = [names[column] for column in text_columns if column != 0]
        if text:
            raise text_among_numbers(path, text)
        return _samples_in_columns(arrow, names, request, notes)
    return _samples_in_rows(arrow, names, request, text_columns, notes)


def _samples_in_rows(
    arrow: Any, names: list[str], request: Request, text_columns: list[int], notes: list[str]
) -> Table:
    places = {role: position(name, names, request.path, role) for role, name in request.named.items()}
    label_column, id_column, batch_column = (places.get(role) for role in ("label", "id", "batch"))
    if id_column is None:
        id_column = _index_column(arrow, names, text_columns, (label_column, batch_column))
        if id_column is not None:
            notes.append(f"sample names from column '{names[id_column]}'")
    aside = {label_column, id_column, batch_column}
    text = [column for column in text_columns if column not in aside]
    if text and request.categories == "error":
        raise text_among_numbers(request.path, [names[column] for column in text])
    aside |= set(text)
    features = np.array([column for column in range(len(names)) if column not in aside], dtype=int)
    return Table(
        X=_numbers(arrow, features, request),
        feature_names=[names[column] for column in features],
        sample_names=None if id_column is None else _texts(arrow.column(id_column)),
        label=None
        if label_column is None
        else as_labels(_texts(arrow.column(label_column)), request.path, request.na_values),
        format=request.format,
        notes=notes,
        label_name=request.label,
        id_name=None if id_column is None else names[id_column],
        text={names[column]: _texts(arrow.column(column)) for column in text},
        batch=None
        if batch_column is None
        else as_labels(_texts(arrow.column(batch_column)), request.path, request.na_values),
        batch_name=request.batch,
    )


def _samples_in_columns(arrow: Any, names: list[str], request: Request, notes: list[str]) -> Table:
    row_names = _texts(arrow.column(0))
    values = _numbers(arrow, np.arange(1, len(names)), request)
    aside = {}
    for role, name in (("label", request.label), ("batch", request.batch)):
        if name is None:
            continue
        row = position(name, row_names, request.path, role, "row")
        aside[role] = as_labels([repr(float(value)) for value in values[row]], request.path, request.na_values)
        values = np.delete(values, row, axis=0)
        del row_names[row]
    refuse_duplicates(row_names, request.path, "feature")
    return Table(
        X=values.T,
        feature_names=row_names,
        sample_names=names[1:],
        label=aside.get("label"),
        format=request.format,
        orientation="columns",
        notes=notes,
        label_name=request.label,
        id_name=names[0],
        batch=aside.get("batch"),
        batch_name=request.batch,
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
        columns |= table.set_apart()
    arrow = pa.table(columns)
    with path.open("wb") as file:  # pyarrow opens no file whose name is not UTF-8
        if format_of(path).name == "parquet":
            require("pyarrow.parquet", extra="cli").write_table(arrow, file)
        else:
            require("pyarrow.feather", extra="cli").write_feather(arrow, file, version=2)


def _load(path: Path, request: Request) -> Any:
    pa = require("pyarrow", extra="cli")
    content = read_content(path)
    if request.format == "feather" and content[:4] == b"FEA1":
        raise DataError(f"'{path}' is a Feather file of the old version 1. Write it again as version 2, or as Parquet.")
    source = pa.BufferReader(pa.py_buffer(content))
    with parsing(path, f"a {request.format.capitalize()} file"):
        if request.format == "parquet":
            table = _load_parquet(source, request)
        else:
            if content[:6] == b"ARROW1":
                claim(unpacked_size(content, pa), path, request.size)
            table = require("pyarrow.feather", extra="cli").read_table(source)
        _check_size(table.num_rows, table.schema, request)
        table.validate(full=True)  # places beyond the data crash what reads from them
    return table


def _load_parquet(source: Any, request: Request) -> Any:
    parquet = require("pyarrow.parquet", extra="cli")
    about = parquet.read_metadata(source)
    schema = about.schema.to_arrow_schema()
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    if sum(group.num_rows for group in groups) != about.num_rows:
        raise damaged(request.path, "a Parquet file")
    claim(sum(float(group.total_byte_size) for group in groups), request.path, request.size)
    _check_size(about.num_rows, schema, request)
    # a long text that is stored once is not repeated for every row
    types = require("pyarrow.types", extra="cli")
    texts = [field.name for field in schema if types.is_string(field.type) or types.is_binary(field.type)]
    return parquet.ParquetFile(source, read_dictionary=texts).read()


def _check_size(n_rows: int, schema: Any, request: Request) -> None:
    """Refuse more rows and columns than fit."""
    per_row = sum(8 if _is_numeric(field.type) else PER_TEXT for field in schema)
    claim(float(max(n_rows, 0)) * per_row, request.path, request.size)


def _is_numeric(type: Any) -> bool:
    types = require("pyarrow.types", extra="cli")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(type) for test in tests)


def _numbers(arrow: Any, columns: np.ndarray, request: Request) -> np.ndarray:
    """Columns as one matrix: float32 where all of them are, float64 otherwise; NaN for nulls."""
    pa = require("pyarrow", extra="cli")
    single = bool(len(columns)) and all(arrow.column(int(i)).type == pa.float32() for i in columns)
    kind = pa.float32() if single else pa.float64()
    values = np.empty((arrow.num_rows, len(columns)), dtype=np.float32 if single else np.float64, order="F")
    for target, column in enumerate(columns):
        data, name = arrow.column(int(column)), arrow.column_names[column]
        if pa.types.is_boolean(data.type):
            data = data.cast(pa.int8())
        try:
            values[:, target] = data.cast(kind, safe=not request.unused(name)).to_numpy()
        except pa.ArrowInvalid as error:  # the cast of whole numbers to floats is exact or fails
            raise too_large(request.path, f" in column '{name}'") from error
    return values


def _texts(column: Any) -> list[str]:
    """A column as texts. Rows with the same text share it."""
    types = require("pyarrow.types", extra="cli")
    if types.is_nested(column.type):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    found: list[str] = []
    for chunk in column.chunks:
        part = chunk if hasattr(chunk, "indices") else chunk.dictionary_encode()
        words = ["" if word is None else str(word) for word in part.dictionary.to_pylist()]
        found += ["" if place is None else words[place] for place in part.indices.to_pylist()]
    return found


def _index_column(arrow: Any, names: list[str], text_columns: list[int], taken: tuple[int | None, ...]) -> int | None:
    """The data frame's own index where one was stored, else a first column of distinct texts."""
    stored = (arrow.schema.pandas_metadata or {}).get("index_columns", [])
    index = [names.index(name) for name in stored if isinstance(name, str) and name in names]
    if index:
        return index[0]
    if text_columns[:1] == [0] and 0 not in taken:
        texts = _texts(arrow.column(0))
        return 0 if len(set(texts)) == len(texts) else None
    return None
