"""The file formats: their endings, their first bytes, and the functions that read and write them.

The knowledge stands here once. :func:`~eigensieve.tables.read_table`, :func:`~eigensieve.tables.write_table` and
:func:`~eigensieve.data.open_data` all look a file up in this table.
"""

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from eigensieve.tables.errors import DataError


@dataclass(frozen=True)
class Format:
    """One file format."""

    name: str
    endings: tuple[str, ...]  # file endings, in lower case
    file: str = ""  # the file of this package with read_NAME and write_NAME; empty where only ``open_data`` knows it
    magic: tuple[bytes, ...] = ()  # first bytes of such a file. They tell the format of standard input.
    member: str = ""  # a file that is in every such archive. It tells apart formats that are zip files.
    text: bool = False  # whether it is text, which may also be compressed (``.gz``)
    file_only: bool = False  # whether its library reads files only, not bytes in memory
    in_place: bool = False  # whether ``open_data`` can leave the data in the file and read parts of it


_ZIP = b"PK\x03\x04"
ALL = (
    Format("csv", (".csv", ".txt", ".tsv", ".tab"), "delimited", text=True),
    Format("parquet", (".parquet", ".pq"), "columnar", (b"PAR1",), file_only=True, in_place=True),
    Format("feather", (".feather", ".arrow"), "columnar", (b"ARROW1", b"FEA1"), file_only=True),
    Format("xlsx", (".xlsx",), "excel", (_ZIP,), "xl/workbook.xml"),
    Format("npy", (".npy",), "arrays", (b"\x93NUMPY",), in_place=True),
    Format("npz", (".npz",), "arrays", (_ZIP,)),
    Format("mat", (".mat",), "matlab", (b"MATLAB 5",), file_only=True),
    Format("svmlight", (".svm", ".svmlight", ".libsvm"), "svmlight", text=True),
    Format("mtx", (".mtx",), "matrix_market", (b"%%MatrixMarket",), text=True),
    Format("h5ad", (".h5ad",), "hdf5", (b"\x89HDF\r\n",), file_only=True, in_place=True),
    Format("hdf5", (".h5", ".hdf5"), in_place=True),
    Format("zarr", (".zarr",), in_place=True),
)
FORMATS = tuple(format.name for format in ALL if format.file)
"""Names of the formats that can be read and written; "mtx" includes folders as 10x Genomics writes them."""


def named(name: str) -> Format:
    return next(format for format in ALL if format.name == name)


def ending_of(path: Path) -> str:
    """A file's ending in lower case, without ``.gz``."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def format_of(path: Path, *, in_place: bool = False, reading: bool = False) -> Format:
    """The format that a file's name stands for.

    With `in_place` it must be one that ``open_data`` reads part by part, else one that ``read_table`` and
    ``write_table`` know. With `reading` the error offers to name the file's format.
    """
    found = _look_up(path)
    if found is not None and (found.in_place if in_place else found.file):
        return found
    if in_place:
        known = f"one of {_endings('in_place')}"
        other = " Read it into memory with eigensieve.tables.read_table." if found else ""
    else:
        known = f"one of {_endings('file')} (text formats also with .gz), or a folder with matrix.mtx"
        other = " Open it with eigensieve.open_data." if found else ""
        if reading and not found:
            other = " Or name the format that it has: format='csv', on the command line --format csv."
    raise DataError(f"'{path}' has an unsupported file ending. Use {known}.{other}")


def format_of_stream(content: bytes, path: Path) -> Format:
    """The format of what came from a pipe: told by its name, by the first bytes, or else delimited text."""
    found = _look_up(path)
    if found is not None and found.file:
        return found
    members = _members(content)
    for format in ALL:
        if content.startswith(format.magic) and (not format.member or format.member in members):
            return format
    return named("csv")


def function(verb: Literal["read", "write"], format: Format) -> Callable[..., Any]:
    """Import the reader or the writer of a format when it is first needed."""
    found: Callable[..., Any] = getattr(import_module(f"eigensieve.tables.{format.file}"), f"{verb}_{format.name}")
    return found


def _members(content: bytes) -> list[str]:
    """Names of the files in a zip archive; none where it is damaged or something else."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.namelist()
    except zipfile.BadZipFile:
        return []


def _look_up(path: Path) -> Format | None:
    ending, compressed = ending_of(path), path.name.lower().endswith(".gz")
    return next((format for format in ALL if ending in format.endings and (format.text or not compressed)), None)


def _endings(use: str) -> str:
    return ", ".join(ending for format in ALL if getattr(format, use) for ending in format.endings)
