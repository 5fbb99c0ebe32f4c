"""MATLAB files: version 5 to 7 parsed here, version 7.3 (HDF5) through h5py, version 4 through scipy.

Why by hand: scipy's compiled parser (1.17.1) crashed on 5 of 1,000 files of version 5 with one to five damaged bytes.
The format is that of MathWorks, "MAT-File Format", chapter 1. Matrices of numbers (full and sparse), texts and cell
arrays of those are read. Structures, objects and functions are passed over.
"""

import math
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from eigensieve._extras import require
from eigensieve._types import Array, DType, JsonDict
from eigensieve.tables.arrays import as_matrix, check_sparse, matrix_table, only_matrix, with_arrays
from eigensieve.tables.errors import PER_TEXT, allowance, claim, parsing, position
from eigensieve.tables.files import read_content
from eigensieve.tables.hdf5 import check_hdf5
from eigensieve.tables.table import Request, Table

_MATRIX, _COMPRESSED = 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""How numbers are stored, by the type of an element."""
_UTF8, _UTF16 = 16, 17
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
"""What an array of numbers is in MATLAB, by its class."""
_CELL, _CHAR, _SPARSE = 1, 4, 5
_COMPLEX = 0x0800
_HEADER = 128
_DEEPEST = 3  # cells within cells that are followed


def read_mat(path: Path, request: Request) -> Table:
    """Read a .mat file.

    The matrix is the variable ``X``, or ``data``, or the only matrix of numbers with more than one column. The label
    and the id are variables with one entry per sample.
    """
    variables = _load(path, request)
    for role, variable in request.named.items():
        position(variable, list(variables), path, role, "variable")
    others = {name: value for name, value in variables.items() if name not in request.named.values()}
    matrices = [
        name
        for name, value in others.items()
        if getattr(value, "ndim", 0) == 2 and value.dtype.kind in "fiub" and value.shape[1] > 1
    ]
    name = next((name for name in ("X", "data") if name in others), "") or only_matrix(matrices, path)
    names = _texts(variables["feature_names"]) if "feature_names" in variables else None
    table = matrix_table(as_matrix(variables[name], path), request, names)
    arrays = {name: _vector(variables[name]) for name in request.named.values()}
    return replace(with_arrays(table, request, arrays), details={"matrix": name})


def write_mat(path: Path, table: Table) -> None:
    """Write a version 5 .mat file with the matrix, the chosen features' names and the label."""
    from scipy.io import savemat

    X = table.stored
    variables: JsonDict = {
        str(table.details.get("matrix", "X")): X if isinstance(X, np.ndarray) else csc_matrix(X),
        "feature_names": np.array(list(table.feature_names), dtype=object),
    }
    for name, values in table.columns_apart.items():
        # words as cells: MATLAB's text arrays pad them to one length
        variables[name] = (values.astype(object) if values.dtype.kind == "U" else values).reshape(-1, 1)
    if table.sample_names is not None:
        variables[table.id_name or "sample_names"] = np.array(table.sample_names, dtype=object)
    savemat(str(path), variables, do_compression=True)


def _load(path: Path, request: Request) -> JsonDict:
    from scipy.io import loadmat
    from scipy.io.matlab import matfile_version

    with path.open("rb") as file:
        start = file.read(128)
    if b"MATLAB 7.3" in start or start.startswith(b"\x89HDF"):
        return _load_hdf5(path, request)
    with parsing(path, "a MATLAB file"):
        version = matfile_version(path)[0]
        if version == 1:
            content = read_content(path)
            return _Reader(request, "<" if content[126:128] == b"IM" else ">").variables(bytes(content[_HEADER:]))
        if version == 2:
            return _load_hdf5(path, request)
        loaded = loadmat(path)  # version 4, whose parser is written in Python
    return {name: value for name, value in loaded.items() if not name.startswith("__")}


def _load_hdf5(path: Path, request: Request) -> JsonDict:
    """Variables of a version 7.3 file, whose arrays are stored column by column."""
    h5py = require("h5py", extra="disk")
    check_hdf5(path)
    variables: JsonDict = {}
    with parsing(path, "a MATLAB 7.3 file"), h5py.File(path) as file:
        for name, item in file.items():
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiub":
                variables[name] = np.asarray(item).T
            elif isinstance(item, h5py.Group) and {"data", "ir", "jc"} <= set(item):
                shape = (int(item.attrs["MATLAB_sparse"]), len(item["jc"]) - 1)
                claim(8.0 * shape[0], path, request.size)
                matrix = csc_matrix((item["data"][:], item["ir"][:], item["jc"][:]), shape=shape)
                check_sparse(matrix)
                variables[name] = matrix
    return variables


def _vector(variable: Any) -> Array:
    values = np.ravel(variable)
    if values.dtype == object:
        values = _texts(values)
    return values.astype(np.int64) if values.dtype.kind in "ub" and values.dtype != np.uint64 else values


def _texts(cells: Array) -> Array:
    """A cell array of strings as an array of strings."""
    return np.array([str(np.ravel(cell)[0]) if np.size(cell) else "" for cell in np.ravel(cells)])


class _Damage(ValueError):
    """Header and contents disagree."""


@dataclass
class _Reader:
    """The variables of a file by name: arrays, sparse matrices, arrays of texts, object arrays for cells."""

    request: Request
    order: str
    taken: float = 0.0

    def variables(self, content: bytes) -> JsonDict:
        found = {}
        place = 0
        while place < len(content):
            kind, data, place = self._element(content, place)
            if kind == _COMPRESSED:
                kind, data, _ = self._element(self._unpacked(data), 0)
            if kind != _MATRIX:
                raise _Damage(f"element of type {kind}")
            name, value = self._matrix(data, 0)
            if name and value is not None:
                found[name] = value
        return found

    def _take(self, nbytes: float) -> None:
        """Account for memory before it is used."""
        self.taken += nbytes
        claim(self.taken, self.request.path, self.request.size)

    def _unpacked(self, data: bytes) -> bytes:
        unpacker = zlib.decompressobj()
        allowed = max(1, int(allowance(self.request.size) - self.taken))
        unpacked = unpacker.decompress(data, allowed)
        self._take(len(unpacked) + bool(unpacker.unconsumed_tail) * float(allowed))
        if not unpacker.eof:
            raise _Damage("a compressed variable is cut off")
        return unpacked

    def _element(self, data: bytes, place: int) -> tuple[int, bytes, int]:
        """Type and contents of the element at a place, and where the next one begins."""
        if place + 8 > len(data):
            raise _Damage("cut off")
        first, size = np.frombuffer(data, f"{self.order}u4", 2, place).tolist()
        if first >> 16:  # a small element: its size stands in the upper half, its contents in the next four bytes
            kind, size = first & 0xFFFF, first >> 16
            if size > 4:
                raise _Damage("a small element of more than 4 bytes")
            return kind, data[place + 4 : place + 4 + size], place + 8
        begin = place + 8
        if begin + size > len(data):
            raise _Damage("an element is cut off")
        padding = 0 if first == _COMPRESSED else -size % 8
        return first, data[begin : begin + size], begin + size + padding

    def _numbers(self, data: bytes, place: int) -> tuple[Array, int]:
        kind, numbers, place = self._element(data, place)
        stored = np.dtype(self.order + _STORED[kind]) if kind in _STORED else None
        if stored is None or len(numbers) % stored.itemsize:
            raise _Damage(f"numbers of type {kind}")
        return np.frombuffer(numbers, stored), place

    def _matrix(self, data: bytes, depth: int) -> tuple[str, Any]:
        """Name and value of a variable; None for kinds that are passed over."""
        if not data:
            return "", np.empty((0, 0))
        flags, place = self._numbers(data, 0)
        shape, place = self._numbers(data, place)
        _, name, place = self._element(data, place)
        if len(flags) != 2 or len(shape) < 2 or len(shape) > 8 or np.any(shape < 0):
            raise _Damage("a bad shape")
        size = tuple(int(length) for length in shape)
        kind = int(flags[0]) & 0xFF
        is_complex = bool(int(flags[0]) & _COMPLEX)
        value: Any = None
        if kind in _CLASSES:
            value = self._full(data, place, size, np.dtype(_CLASSES[kind]), is_complex)
        elif kind == _SPARSE:
            value = self._sparse(data, place, size, is_complex)
        elif kind == _CHAR:
            value = self._texts(data, place, size)
        elif kind == _CELL and depth < _DEEPEST:
            value = self._cells(data, place, size, depth)
        return name.decode("utf-8"), value

    def _full(self, data: bytes, place: int, shape: tuple[int, ...], dtype: DType, is_complex: bool) -> Array:
        parts = []
        for _ in range(1 + is_complex):
            numbers, place = self._numbers(data, place)
            if len(numbers) != math.prod(shape):
                raise _Damage("fewer or more numbers than the shape says")
            self._take(len(numbers) * dtype.itemsize)
            parts.append(numbers.astype(dtype).reshape(shape, order="F"))
        return parts[0] + 1j * parts[1] if is_complex else parts[0]

    def _sparse(self, data: bytes, place: int, shape: tuple[int, ...], is_complex: bool) -> Any:
        indices, place = self._numbers(data, place)
        pointers, place = self._numbers(data, place)
        values, place = self._numbers(data, place)
        if len(shape) != 2 or len(pointers) != shape[1] + 1:
            raise _Damage("a bad sparse matrix")
        if is_complex:
            return None
        count = int(pointers[-1])
        if count < 0 or count > min(len(indices), len(values)):
            raise _Damage("a bad sparse matrix")
        self._take(12.0 * count + 8.0 * shape[0])
        parts = (values[:count].astype(np.float64), indices[:count].astype(np.int32), pointers.astype(np.int32))
        matrix = csc_matrix(parts, shape=shape)
        check_sparse(matrix)
        return matrix

    def _texts(self, data: bytes, place: int, shape: tuple[int, ...]) -> Array:
        """The texts along the last axis of an array of characters."""
        kind, stored, _ = self._element(data, place)
        if kind == _UTF8:
            text = stored.decode("utf-8")
        elif kind in (4, _UTF16):
            text = stored.decode("utf-16-le" if self.order == "<" else "utf-16-be")
        else:
            text = stored.decode("latin-1")
        rows = math.prod(shape[:-1])
        self._take(PER_TEXT * min(rows, len(text)) + 4.0 * len(text))
        if rows == 1:  # its length is not checked: it may be in characters or in units of UTF-8 or UTF-16
            return np.array([text], dtype=str)
        if len(text) != rows * shape[-1] or rows > len(data):
            raise _Damage("fewer or more characters than the shape says")
        return np.array([text[row::rows] for row in range(rows)], dtype=str)

    def _cells(self, data: bytes, place: int, shape: tuple[int, ...], depth: int) -> Array:
        count = math.prod(shape)
        if 8 * count > len(data):
            raise _Damage("fewer cells than the shape says")
        self._take(PER_TEXT * count)
        cells = np.empty(count, dtype=object)
        for number in range(count):
            kind, inner, place = self._element(data, place)
            if kind != _MATRIX:
                raise _Damage("a cell that is no matrix")
            cells[number] = self._matrix(inner, depth + 1)[1]
        return cells.reshape(shape, order="F")
