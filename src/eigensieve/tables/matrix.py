"""A table around one matrix: what the formats share that store arrays and no columns."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix, issparse

from eigensieve.tables.errors import DataError, listed, parsing
from eigensieve.tables.table import Column, Matrix, NumberedNames, Request, Table, as_floats


def check_sparse(matrix: Any) -> None:
    """Raise ValueError for places beyond the shape, which crash whatever computes with the matrix."""
    # scipy looks at these only where the last one is above zero
    if matrix.indptr[0] != 0 or np.any(np.diff(matrix.indptr) < 0):
        raise ValueError("rows or columns that begin before the one in front of them")
    matrix.check_format(full_check=True)


def as_matrix(values: Any, path: str | Path) -> Matrix:
    """A matrix of floats, CSR where it is sparse; or an error that says what was found instead."""
    sparse: bool = issparse(values)
    if sparse:
        with parsing(path, "a sparse matrix"):
            if hasattr(values, "check_format"):
                check_sparse(values)
        if values.dtype.kind not in "fiub":
            raise DataError(
                f"'{path}' holds a sparse matrix of type {values.dtype}, not of numbers. Store real numbers."
            )
        return csr_matrix(values, dtype=as_floats(values.data, path).dtype)
    values = np.asarray(values)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise DataError(
            f"'{path}' holds an array of {values.ndim} dimension(s) and type {values.dtype}, not a matrix of numbers. "
            "Store a samples x features matrix."
        )
    return as_floats(values, path)


def matrix_table(X: Matrix, request: Request, names: np.ndarray | None = None) -> Table:
    """A table around a bare matrix.

    Samples are in rows, with two exceptions: the user said otherwise, or the number of feature `names` agrees with the
    number of rows only.
    """
    notes = []
    names = None if names is None else np.ravel(names)
    orientation: Literal["rows", "columns"] = "columns" if request.samples == "columns" else "rows"
    if request.samples == "auto" and names is not None and len(names) != X.shape[1] and len(names) == X.shape[0]:
        orientation = "columns"
        notes.append("samples in columns: there are as many feature names as rows")
    if orientation == "columns":
        X = X.T if isinstance(X, np.ndarray) else csr_matrix(X.T)
    if names is not None and len(names) != X.shape[1]:
        raise DataError(
            f"'{request.path}' has {len(names):,} feature_names for {X.shape[1]:,} features. "
            "Say where the samples stand, or write the file again."
        )
    return Table(
        X=X,
        feature_names=NumberedNames(X.shape[1]) if names is None else [str(name) for name in names],
        sample_names=None,
        format=request.format,
        orientation=orientation,
        notes=notes,
        id_name=request.id,
    )


def only_matrix(matrices: list[str], path: str | Path) -> str:
    """The name of the one matrix there is, or an error that lists them."""
    if len(matrices) != 1:
        found = f"several matrices: {listed(matrices)}" if matrices else "no matrix of numbers"
        raise DataError(f"'{path}' holds {found}. Call the one to read 'X'.")
    return matrices[0]


def with_arrays(table: Table, request: Request, arrays: dict[str, np.ndarray]) -> Table:
    """Return the table with its id, label and batch from arrays with one entry per sample."""
    for name in request.named.values():
        if arrays[name].shape != (table.n_samples,):
            raise DataError(
                f"'{request.path}': array '{name}' has shape {arrays[name].shape} where ({table.n_samples},) is "
                "needed. Name an array with one entry per sample."
            )
    return replace(
        table,
        sample_names=None if request.id is None else [str(entry) for entry in arrays[request.id]],
        apart={role: Column(name, arrays[name]) for role, name in request.apart.items()},
    )


def refuse_names(what: str, request: Request) -> None:
    """Refuse a label, id or batch where the format has no names."""
    for role, name in request.named.items():
        raise DataError(
            f"'{request.path}' has no {role} column '{name}': {what} holds no names. Use a format with named columns."
        )
