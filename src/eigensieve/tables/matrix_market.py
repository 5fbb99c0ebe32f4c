"""Matrix Market files, alone or in a folder with names as 10x Genomics writes them.

Why by hand: scipy's parser (1.17.1) crashed the process on 201 of 1,000 files with one to five damaged bytes. The
compiled loop over the entries is in `_delimited_numba`. scipy also reads "5x" as 5 and "1E2E-1" as 100.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, issparse

from eigensieve._types import FloatArray, IntArray, MatrixLike
from eigensieve.tables.arrays import matrix_table, refuse_names
from eigensieve.tables.errors import PER_FEATURE, PER_TEXT, DataError, claim, damaged, too_large
from eigensieve.tables.files import Content, Source, open_for_writing, read_content
from eigensieve.tables.table import Matrix, Request, Table, make_unique

_NUMBERS = (b"real", b"double", b"integer", b"unsigned-integer")
_KNOWN = [
    [b"%%matrixmarket", b"matrix", form, kind, symmetry]
    for form, kinds in ((b"coordinate", (*_NUMBERS, b"pattern")), (b"array", _NUMBERS))
    for kind in kinds
    for symmetry in (b"general", b"symmetric", b"skew-symmetric", b"hermitian")
]
_FEATURES = ("features.tsv.gz", "features.tsv", "genes.tsv.gz", "genes.tsv")
_BARCODES = ("barcodes.tsv.gz", "barcodes.tsv")
_MATRIX = ("matrix.mtx.gz", "matrix.mtx")


def read_mtx(source: Source, request: Request) -> Table:
    """Read one Matrix Market file; samples in rows unless told otherwise."""
    refuse_names("a Matrix Market file", request)
    return matrix_table(_load(source, request.path, request.size), request)


def read_10x(folder: Path, request: Request) -> Table:
    """Read a folder with matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv, plain or .gz.

    The matrix is features x cells; cells are the samples. Features are called by their symbol (second
    column), with repeated symbols numbered.
    """
    refuse_names("a 10x folder", request)
    if request.samples == "rows":
        raise DataError(f"'{folder}' has samples in columns: 10x folders always do. Leave it at columns or auto.")
    matrix = _find(folder, _MATRIX)
    X = csr_matrix(_load(matrix, matrix, matrix.stat().st_size).T)
    features = _lines(_find(folder, _FEATURES))
    barcodes = [line[0] for line in _lines(_find(folder, _BARCODES))]
    if X.shape != (len(barcodes), len(features)):
        raise DataError(
            f"'{folder}': matrix.mtx is {X.shape[1]:,} x {X.shape[0]:,} but there are {len(features):,} features and "
            f"{len(barcodes):,} barcodes. Get the three files again, from one run."
        )
    notes: list[str] = []
    symbols = [line[1] if len(line) > 1 else line[0] for line in features]
    return Table(
        X=X,
        feature_names=make_unique(symbols, notes),
        sample_names=barcodes,
        format="mtx",
        orientation="columns",
        notes=notes,
        details={"folder": True, "features": features},
    )


def write_mtx(path: Path, table: Table) -> None:
    """Write a Matrix Market file, or a folder with names where the table came from one."""
    if table.details.get("folder"):
        _write_10x(path, table)
        return
    _save(path, table.stored)


def _write_10x(folder: Path, table: Table) -> None:
    folder.mkdir()
    _save(folder / "matrix.mtx.gz", table.X.T)
    features = table.details["features"]
    columns = table.details.get("columns", np.arange(len(features)))
    with gzip.open(folder / "features.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines("\t".join(features[int(column)]) + "\n" for column in columns)
    with gzip.open(folder / "barcodes.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in table.sample_names or [])


def _save(path: Path, X: MatrixLike) -> None:
    from scipy.io import mmwrite

    sparse: bool = issparse(X)
    values = X.data if sparse else X
    whole = bool(np.all(values == np.round(values)))
    with open_for_writing(path) as file:
        mmwrite(
            file,
            (coo_matrix(X) if sparse else X).astype(np.int64 if whole else np.float64),
            field="integer" if whole else "real",
        )


@dataclass(frozen=True)
class _Header:
    """The first line, and the line of sizes."""

    kinds: list[bytes]  # words of the first line: coordinate or array, the kind of numbers, the symmetry
    shape: tuple[int, int]
    n_entries: int  # stored entries
    place: int  # where they begin


def _load(source: Source, path: str | Path, size: int) -> Matrix:
    content = read_content(source)
    header = _header(content, path)
    form, kind, symmetry = header.kinds
    shortest = 2 if form == b"array" else 4  # "1" or "1 1", and a line end
    if shortest * header.n_entries > len(content) + 1:
        raise DataError(
            f"'{path}' announces {header.n_entries:,} entries but has text for {len(content) // shortest:,} at most. "
            "It is cut off; get the file again."
        )
    mirrored = symmetry != b"general"
    claim(48.0 * (1 + mirrored) * header.n_entries + 8.0 * header.shape[0] + PER_FEATURE * header.shape[1], path, size)
    indices, values = _entries(content, header, kind != b"pattern", path)
    rows, columns = indices
    if mirrored:
        sign = -1.0 if symmetry == b"skew-symmetric" else 1.0
        below = rows != columns
        rows, columns = np.concatenate([rows, columns[below]]), np.concatenate([columns, rows[below]])
        values = np.concatenate([values, sign * values[below]])
    if form == b"array":
        X = np.zeros(header.shape)
        X[rows, columns] = values
        return X
    return csr_matrix((values, (rows, columns)), shape=header.shape)


def _header(content: Content, path: str | Path) -> _Header:
    """Read the first line, pass over comments, and read the line of sizes."""
    kinds: list[bytes] | None = None
    place = 0
    while place < len(content):
        end = content.find(b"\n", place)
        end = len(content) if end < 0 else end
        line = content[place : min(end, place + 200)].strip()
        place = end + 1
        if kinds is None:
            kinds = line.lower().split()
            if kinds not in _KNOWN:
                raise damaged(path, "a Matrix Market file of real numbers")
        elif line and not line.startswith(b"%"):
            sizes = line.split()
            form, symmetry = kinds[2], kinds[4]
            if len(sizes) != 2 + (form == b"coordinate") or not all(n.isdigit() and len(n) < 19 for n in sizes):
                break
            rows, columns = int(sizes[0]), int(sizes[1])
            if symmetry != b"general" and rows != columns:
                break
            stored = rows * columns
            if symmetry != b"general":
                stored = rows * (rows + 1 - 2 * (symmetry == b"skew-symmetric")) // 2
            n_entries = int(sizes[2]) if form == b"coordinate" else stored
            return _Header(kinds[2:], (rows, columns), n_entries, place)
    raise damaged(path, "a Matrix Market file")


def _entries(
    content: Content, header: _Header, with_values: bool, path: str | Path
) -> tuple[tuple[IntArray, IntArray], FloatArray]:
    """Rows and columns, from 0, and values of the stored entries."""
    from eigensieve.tables._delimited_numba import BAD, parse_entries

    text = np.frombuffer(content, dtype=np.uint8)
    n_rows, n_columns = header.shape
    by_index = header.kinds[0] == b"coordinate"
    indices = np.empty((header.n_entries, 2 if by_index else 0), dtype=np.int64)
    values = np.ones(header.n_entries)
    long = np.empty((1024, 3), dtype=np.int64)
    n_long = parse_entries(text, header.place, indices, values, with_values, long)
    if n_long > len(long):
        long = np.empty((n_long, 3), dtype=np.int64)
        n_long = parse_entries(text, header.place, indices, values, with_values, long)
    if n_long == BAD:
        raise damaged(path, "a Matrix Market file")
    for entry, first, last in long[:n_long]:
        values[entry] = float(text[first:last].tobytes())
    if header.kinds[1].endswith(b"integer") and np.any(np.abs(values) >= 2.0**53):
        raise too_large(path)
    if by_index:
        if header.n_entries and (indices.min() < 1 or np.any(indices.max(axis=0) > (n_rows, n_columns))):
            raise damaged(path, "a Matrix Market file whose indices are within its sizes")
        return (indices[:, 0] - 1, indices[:, 1] - 1), values
    columns, rows = np.divmod(np.arange(n_rows * n_columns), max(n_rows, 1))
    if header.kinds[2] != b"general":
        kept = rows > columns if header.kinds[2] == b"skew-symmetric" else rows >= columns
        rows, columns = rows[kept], columns[kept]
    return (rows, columns), values


def _find(folder: Path, names: tuple[str, ...]) -> Path:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise DataError(f"'{folder}' has no {names[-1]} (or .gz). Name a folder with a matrix and its names.")
    return found


def _lines(path: Path) -> list[list[str]]:
    content = bytes(read_content(path)[:])
    claim(PER_TEXT * (content.count(b"\n") + content.count(b"\t")), path, path.stat().st_size)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(path, "UTF-8 text") from error
    return [line.split("\t") for line in text.splitlines() if line.strip()]
