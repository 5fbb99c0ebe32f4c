"""The files: their formats, by ending and first bytes, and their bytes, from a file, a pipe or standard input.

What an ending means stands here once. :func:`~eigensieve.tables.read_table`, :func:`~eigensieve.tables.write_table` and
:func:`~eigensieve.data.open_data` all look a file up in this table.
"""

import gzip
import io
import mmap
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Literal, cast

from eigensieve.tables.errors import DataError, allowance, claim


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
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.namelist()
    except zipfile.BadZipFile:
        members = []
    for format in ALL:
        if content.startswith(format.magic) and (not format.member or format.member in members):
            return format
    return named("csv")


def function(verb: Literal["read", "write"], format: Format) -> Callable[..., Any]:
    """Import the reader or the writer of a format when it is first needed."""
    found: Callable[..., Any] = getattr(import_module(f"eigensieve.tables.{format.file}"), f"{verb}_{format.name}")
    return found


def _look_up(path: Path) -> Format | None:
    ending, compressed = ending_of(path), path.name.lower().endswith(".gz")
    return next((format for format in ALL if ending in format.endings and (format.text or not compressed)), None)


def _endings(use: str) -> str:
    return ", ".join(ending for format in ALL if getattr(format, use) for ending in format.endings)


STDIN = "-"
Source = Path | io.BytesIO
"""Where a reader takes its bytes from."""
Content = bytes | mmap.mmap

_PIECE = 2**20
_OPEN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile)


def read_content(source: Source) -> Content:
    """Return the bytes of a source: mapped where possible, decompressed where needed."""
    if isinstance(source, io.BytesIO):
        return source.getvalue()
    if _is_compressed(source):
        with source.open("rb") as file:
            return _decompressed(file, source, source.stat().st_size)
    with source.open("rb") as file:
        if source.stat().st_size == 0:
            return b""  # nothing can be mapped
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _decompressed(file: IO[bytes], path: str | Path, size: int) -> bytes:
    """The contents of a compressed file of `size` bytes, as long as they are no larger than they may be."""
    allowed = allowance(size)
    content = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=file) as stream:
            while piece := stream.read(_PIECE):
                content.write(piece)
                if content.tell() > allowed:
                    claim(content.tell(), path, size)
    except _BROKEN as error:
        raise DataError(f"'{path}' is damaged: {error}. Get the file again.") from error
    return content.getvalue()


def open_for_writing(path: Path) -> IO[bytes]:
    """Open a file for bytes; a name ending in ``.gz`` is compressed."""
    return cast(IO[bytes], gzip.open(path, "wb") if _is_compressed(path) else path.open("wb"))


def is_stream(path: str | Path) -> bool:
    """Whether a path can be read only once: standard input, a named pipe, what ``<(command)`` stands for."""
    try:
        kind = 0 if str(path) == STDIN else os.stat(path).st_mode
    except OSError:
        return False  # its reader reports the fault
    special = stat.S_ISFIFO(kind) or stat.S_ISCHR(kind) or stat.S_ISBLK(kind)
    return str(path) == STDIN or special or str(path).startswith(_OPEN_FILES)


def read_stream(path: str | Path) -> tuple[bytes, int]:
    """Return all of a stream, decompressed where it is compressed, and how many bytes came in."""
    if str(path) == STDIN:
        path, content = "standard input", sys.stdin.buffer.read()
    else:
        with Path(path).open("rb") as file:
            if stat.S_ISBLK(mode := os.fstat(file.fileno()).st_mode) or (stat.S_ISCHR(mode) and not file.isatty()):
                raise DataError(f"'{path}' is a device, which may never end. Name a file, or - for standard input.")
            content = file.read()
    if not content:
        raise DataError(f"'{path}' is empty. Pipe a table into the command, or name a file.")
    if content[:2] != b"\x1f\x8b":
        return content, len(content)
    return _decompressed(io.BytesIO(content), path, len(content)), len(content)


def check_readable(path: Path) -> None:
    """Refuse paths that are missing, unreadable or empty."""
    try:
        if path.is_dir():
            return
        with path.open("rb") as file:
            if not file.read(1):
                raise DataError(f"'{path}' is empty. Check that it was written completely.")
    except FileNotFoundError:
        raise DataError(f"'{path}' does not exist. Check the name and the folder.") from None
    except PermissionError:
        raise DataError(f"'{path}' cannot be read: no permission. Change its permissions.") from None
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}. Check the file.") from error


def _is_compressed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")
