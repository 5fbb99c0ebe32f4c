"""The bytes of an input: a file, a compressed file, or standard input, and which format they are in."""

import gzip
import mmap
import sys
import zlib
from pathlib import Path
from typing import Any

from eigensieve.tables.table import DataError

STDIN = "-"

SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npy": "npy",
    ".npz": "npz",
    ".mat": "mat",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".mtx": "mtx",
    ".h5ad": "h5ad",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
"""Formats that can be read and written; "mtx" includes folders as 10x Genomics writes them."""

_COMPRESSIBLE = ("csv", "svmlight", "mtx")
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"MATLAB 5": "mat",
    b"\x89HDF\r\n": "h5ad",
    b"%%MatrixMarket": "mtx",
}


def format_of(path: Path) -> tuple[str, str]:
    """Format and file ending (without ``.gz``) that a path's name stands for."""
    name = path.name.lower()
    compressed = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    found = SUFFIXES.get(ending)
    if found is None or (compressed and found not in _COMPRESSIBLE):
        known = ", ".join(SUFFIXES)
        raise DataError(
            f"'{path}' has an unsupported file ending. Use one of {known} (text formats also with .gz), "
            "or a folder with matrix.mtx."
        )
    return found, ending


def format_of_stream(content: bytes) -> str:
    """Format of bytes without a name: known by their first bytes, otherwise delimited text."""
    return next((name for magic, name in _MAGIC.items() if content.startswith(magic)), "csv")


def read_content(path: Path) -> Any:
    """Return the bytes of a text file: mapped where possible, decompressed where needed."""
    try:
        if path.name.lower().endswith(".gz"):
            with gzip.open(path) as stream:
                return stream.read()
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"'{path}' is damaged: {error}. Get the file again.") from error


def read_stdin() -> bytes:
    """Return all of standard input, decompressed where it is compressed."""
    content = sys.stdin.buffer.read()
    if not content:
        raise DataError("Standard input is empty. Pipe a table into the command, or name a file.")
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"Standard input is damaged: {error}. Send the file again.") from error


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
