"""Parquet and Feather files, through pyarrow."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import BoolArray, FloatArray, IntArray, JsonDict
from eigensieve.tables import errors
from eigensieve.tables.columns import table_of
from eigensieve.tables.files import Content, format_of, read_content
from eigensieve.tables.table import Request, Table


def read_parquet(path: Path, request: Request) -> Table:
    arrow = _load(path, request)
    names = [str(name) for name in arrow.column_names]
    errors.refuse_duplicates(names, path, "column")
    return table_of(_ArrowColumns(arrow, names, list(arrow.schema.types), request), request, [])


read_feather = read_parquet


@dataclass(frozen=True)
class _ArrowColumns:
    """The columns of an Arrow table; see :class:`~eigensieve.tables.columns.Columns`.

    Names and types are looked up once: Arrow makes the list of all of them whenever one is asked for.
    """

    arrow: Any
    names: list[str]
    types: list[Any]
    request: Request

    def text_columns(self) -> list[int]:
        return [column for column, type in enumerate(self.types) if not _is_numeric(type)]

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        return [_texts(self.arrow.column(column)) for column in columns]

    def numbers(self, columns: IntArray) -> tuple[FloatArray, BoolArray]:
        numeric = np.array([_is_numeric(self.types[column]) for column in columns], dtype=bool)
        return self._values(columns[numeric]), numeric

    def some_numbers(self) -> FloatArray:
        return self._values(np.arange(1, len(self.names)))

    def id_column(self, text_columns: list[int], taken: Sequence[int]) -> int | None:
        """The data frame's own index where one was stored, else a first column of distinct texts."""
        try:
            stored = (self.arrow.schema.pandas_metadata or {}).get("index_columns", [])
            index = [self.names.index(name) for name in stored if isinstance(name, str) and name in self.names]
        except (ValueError, AttributeError, TypeError) as error:  # not JSON, or not what pandas writes
            raise errors.DataError(
                f"'{self.request.path}' has damaged notes of pandas about its index. Name the column with the samples' "
                "names (id, on the command line --id), or write the file again."
            ) from error
        if index:
            return index[0]
        if text_columns[:1] != [0] or 0 in taken:
            return None
        texts = _texts(self.arrow.column(0))
        return 0 if len(set(texts)) == len(texts) else None

    def rows(self, rows: IntArray, names: Sequence[str]) -> FloatArray:
        text = [self.names[column] for column in self.text_columns() if column != 0]
        if text:
            raise errors.text_among_numbers(self.request.path, text)
        return self.some_numbers()[rows]

    def line(self, row: int) -> list[str]:
        return [repr(float(value)) for value in self.some_numbers()[row]]

    def _values(self, columns: IntArray) -> FloatArray:
        """Columns as one matrix: float32 where all of them are, float64 otherwise; NaN for nulls."""
        pa = require("pyarrow", extra="cli")
        single = bool(len(columns)) and all(self.types[column] == pa.float32() for column in columns)
        kind = pa.float32() if single else pa.float64()
        values = np.empty((self.arrow.num_rows, len(columns)), dtype=kind.to_pandas_dtype(), order="F")
        for target, column in enumerate(columns.tolist()):
            data = self.arrow.column(column)
            if pa.types.is_boolean(data.type):
                data = data.cast(pa.int8())
            try:
                values[:, target] = data.cast(kind, safe=not self.request.unused(self.names[column])).to_numpy()
            except pa.ArrowInvalid as error:  # the cast of whole numbers to floats is exact or fails
                raise errors.too_large(self.request.path, f" in column '{self.names[column]}'") from error
        return values


def write_parquet(path: Path, table: Table) -> None:
    pa = require("pyarrow", extra="cli")
    X = table.dense
    columns: JsonDict = {}
    if table.orientation == "columns":
        columns[table.id_name or "feature"] = list(table.feature_names)
        columns |= {name: np.ascontiguousarray(row) for name, row in zip(table.sample_names_or_numbers, X, strict=True)}
    else:
        if table.sample_names is not None:
            columns[table.id_name or "id"] = table.sample_names
        columns |= {name: np.ascontiguousarray(column) for name, column in zip(table.feature_names, X.T, strict=True)}
        columns |= table.columns_apart
    arrow = pa.table(columns)
    with path.open("wb") as file:  # pyarrow opens no file whose name is not UTF-8
        if format_of(path).name == "parquet":
            require("pyarrow.parquet", extra="cli").write_table(arrow, file)
        else:
            require("pyarrow.feather", extra="cli").write_feather(arrow, file, version=2)


write_feather = write_parquet


def _load(path: Path, request: Request) -> Any:
    pa = require("pyarrow", extra="cli")
    content = read_content(path)
    if request.format == "feather" and content[:4] == b"FEA1":
        raise errors.DataError(
            f"'{path}' is a Feather file of the old version 1. Write it again as version 2, or as Parquet."
        )
    source = pa.BufferReader(pa.py_buffer(content))
    with errors.parsing(path, f"a {request.format.capitalize()} file"):
        if request.format == "parquet":
            table = _load_parquet(source, request)
        else:
            if content[:6] == b"ARROW1":
                errors.claim(unpacked_size(content, pa), path, request.size)
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
        raise errors.damaged(request.path, "a Parquet file")
    errors.claim(sum(float(group.total_byte_size) for group in groups), request.path, request.size)
    _check_size(about.num_rows, schema, request)
    # a long text that is stored once is not repeated for every row
    types = require("pyarrow.types", extra="cli")
    texts = [field.name for field in schema if types.is_string(field.type) or types.is_binary(field.type)]
    return parquet.ParquetFile(source, read_dictionary=texts).read()


def _check_size(n_rows: int, schema: Any, request: Request) -> None:
    per_row = sum(8 if _is_numeric(field.type) else errors.PER_TEXT for field in schema)
    errors.claim(float(max(n_rows, 0)) * per_row, request.path, request.size)


@cache
def _is_numeric(type: Any) -> bool:
    types = require("pyarrow.types", extra="cli")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(type) for test in tests)


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


_FILE_START = 8
_BATCH, _DICTIONARY = 3, 2  # kinds of messages that hold data


def unpacked_size(content: Content, pa: Any) -> int:
    """Bytes of all buffers of a Feather file, unpacked, told without unpacking. Damaged files raise any exception.

    The file is a stream of Arrow messages. Each compressed buffer begins with its unpacked size. The places of the
    buffers stand in the header of the message, a flatbuffer ("Arrow Columnar Format", "Serialization and IPC").
    """
    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(pa.py_buffer(content).slice(_FILE_START)))
    return sum(_size(memoryview(message.metadata), memoryview(message.body or b"")) for message in reader)


def _size(header: memoryview, body: memoryview) -> int:
    message = _follow(header, 0)
    kind_place, table_place = _field(header, message, 1), _field(header, message, 2)
    kind = header[kind_place] if kind_place else 0
    if kind not in (_BATCH, _DICTIONARY) or not table_place:
        return 0
    batch = _follow(header, table_place)
    if kind == _DICTIONARY:
        batch = _follow(header, _field(header, batch, 1))
    places, compressed = _field(header, batch, 2), bool(_field(header, batch, 3))
    if not places or not compressed:
        return len(body)
    vector = _follow(header, places)
    (count,) = struct.unpack_from("<I", header, vector)
    total = 0
    for number in range(count):
        first, length = struct.unpack_from("<qq", header, vector + 4 + 16 * number)
        if length >= 8:
            (unpacked,) = struct.unpack_from("<q", body, first)
            total += length if unpacked < 0 else unpacked  # -1 stands for a buffer that is not compressed
    return total


def _follow(data: memoryview, place: int) -> int:
    """Where the offset at a place leads."""
    return place + int(struct.unpack_from("<I", data, place)[0])


def _field(data: memoryview, table: int, number: int) -> int:
    """The place of a field of a table; 0 where it is absent."""
    layout = table - struct.unpack_from("<i", data, table)[0]
    (size,) = struct.unpack_from("<H", data, layout)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, layout + 4 + 2 * number)
    return table + int(offset) if offset else 0
