"""Matrix Market files, alone or in a folder with names as 10x Genomics writes them."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, issparse

from eigensieve.tables.content import Source, as_stream, open_for_writing, read_content
from eigensieve.tables.matrix import as_matrix, matrix_table, refuse_names
from eigensieve.tables.table import DataError, Matrix, Request, Table, damaged, make_unique

_FEATURES = ("features.tsv.gz", "features.tsv", "genes.tsv.gz", "genes.tsv")
_BARCODES = ("barcodes.tsv.gz", "barcodes.tsv")
_MATRIX = ("matrix.mtx.gz", "matrix.mtx")


def read_mtx(source: Source, request: Request) -> Table:
    """Read one Matrix Market file; samples in rows unless told otherwise."""
    refuse_names("a Matrix Market file", request)
    return matrix_table(_load(source, request.path), request)


def read_10x(folder: Path, request: Request) -> Table:
    """Read a folder with matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv, plain or .gz.

    The matrix is features x cells; cells are the samples. Features are called by their symbol (second
    column), with repeated symbols numbered.
    """
    refuse_names("a 10x folder", request)
    if request.samples == "rows":
        raise DataError(f"'{folder}' has samples in columns: 10x folders always do. Leave it at columns or auto.")
    matrix = _find(folder, _MATRIX)
    X = csr_matrix(_load(matrix, matrix).T)
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
        label=None,
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


def _save(path: Path, X: Any) -> None:
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


def _load(source: Source, path: str | Path) -> Matrix:
    from scipy.io import mmread

    try:
        X = mmread(as_stream(source))
    except (ValueError, OverflowError, EOFError, IndexError) as error:
        raise damaged(path, "a Matrix Market file") from error
    return as_matrix(X, path)


def _find(folder: Path, names: tuple[str, ...]) -> Path:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise DataError(f"'{folder}' has no {names[-1]} (or .gz). Name a folder with a matrix and its names.")
    return found


def _lines(path: Path) -> list[list[str]]:
    try:
        text = bytes(read_content(path)[:]).decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(path, "UTF-8 text") from error
    return [line.split("\t") for line in text.splitlines() if line.strip()]
