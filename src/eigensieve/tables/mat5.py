"""MATLAB files of version 5 to 7, parsed in Python.

Why by hand: scipy's compiled parser (1.17.1) crashed on 5 of 1,000 files with one to five damaged bytes.
The format is that of MathWorks, "MAT-File Format", chapter 1. Read are matrices of numbers, full and sparse, texts, and
cell arrays of those. Structures, objects and functions are passed over.
"""

import math
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from eigensieve.tables.errors import damaged
from eigensieve.tables.limits import PER_TEXT, allowance, claim
from eigensieve.tables.matrix import check_sparse
from eigensieve.tables.table import Request

_MATRIX, _COMPRESSED = 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""How numbers are stored, by the type of an element."""
_UTF8, _UTF16 = 16, 17
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
"""What an array of numbers is in MATLAB, by its class."""
_CELL, _CHAR, _SPARSE = 1, 4, 5
_COMPLEX = 0x0800
_HEADER = 128
_DEEPEST = 3
"""Cells within cells that are followed."""


class _Damage(Exception):
    """Header and contents disagree."""


def read_mat5(content: Any, request: Request) -> dict[str, Any]:
    """The variables of a file by name: arrays, sparse matrices, arrays of texts, object arrays for cells."""
    try:
        return _Reader(request, "<" if content[126:128] == b"IM" else ">").variables(bytes(content[_HEADER:]))
    except (_Damage, zlib.error, ValueError, UnicodeDecodeError) as error:
        raise damaged(request.path, "a MATLAB file") from error


@dataclass
class _Reader:
    request: Request
    order: str
    taken: float = 0.0

    def variables(self, content: bytes) -> dict[str, Any]:
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

    def _numbers(self, data: bytes, place: int) -> tuple[np.ndarray, int]:
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

    def _full(self, data: bytes, place: int, shape: tuple[int, ...], dtype: np.dtype, is_complex: bool) -> np.ndarray:
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

    def _texts(self, data: bytes, place: int, shape: tuple[int, ...]) -> np.ndarray:
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

    def _cells(self, data: bytes, place: int, shape: tuple[int, ...], depth: int) -> np.ndarray:
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
