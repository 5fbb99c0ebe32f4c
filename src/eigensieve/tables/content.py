"""The bytes of an input: a file, a compressed file, a pipe, or standard input."""

import gzip
import io
import mmap
import os
import stat
import sys
import zlib
from pathlib import Path
from typing import IO, Any, cast

from eigensieve.tables.errors import DataError
from eigensieve.tables.limits import allowance, claim

STDIN = "-"
Source = Path | io.BytesIO
"""Where a reader takes its bytes from."""

_PIECE = 2**20
_OPEN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile)


def read_content(source: Source) -> Any:
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


def as_stream(source: Source) -> io.BytesIO:
    """The bytes of a source, decompressed, as a file in memory."""
    return source if isinstance(source, io.BytesIO) else io.BytesIO(read_content(source)[:])


def open_for_writing(path: Path) -> IO[bytes]:
    """Open a file for bytes; a name ending in ``.gz`` is compressed."""
    return cast(IO[bytes], gzip.open(path, "wb") if _is_compressed(path) else path.open("wb"))


def is_stream(path: str | Path) -> bool:
    """Whether a path can be read only once: standard input, a named pipe, what ``<(command)`` stands for."""
    try:
        kind = 0 if str(path) == STDIN else os.stat(path).st_mode
    except OSError:
        return False  # what is wrong with it is said where it is read
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
