"""NumPy's own files: .npy, and .npz with a dense matrix or the parts of a sparse one."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from eigensieve.tables.content import Source
from eigensieve.tables.matrix import as_matrix, check_length, matrix_table, only_matrix, refuse_names
from eigensieve.tables.table import DataError, Matrix, Request, Table, as_floats, damaged, position

_PREFIXED = {"data": "X_data", "indices": "X_indices", "indptr": "X_indptr", "shape": "X_shape"}
_PLAIN = {part: part for part in _PREFIXED}
"""The layout of ``scipy.sparse.save_npz``."""


def read_npy(source: Source, request: Request) -> Table:
    """Read one matrix from an .npy file."""
    refuse_names("an .npy file", request)
    values = _load(source, request.path)
    if not isinstance(values, np.ndarray):
        raise DataError(f"'{request.path}' is not an .npy file but an .npz archive. Give it the ending .npz.")
    return matrix_table(as_matrix(values, request.path), request)


def read_npz(source: Source, request: Request) -> Table:
    """Read an .npz archive.

    The matrix is ``X``, or its CSR parts ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape``, or what
    ``scipy.sparse.save_npz`` writes, or the only two-dimensional array there is. The label and the id are arrays with
    one entry per sample; ``feature_names`` is used where present.
    """
    path, label, id, batch = request.path, request.label, request.id, request.batch
    archive = _load(source, path)
    if isinstance(archive, np.ndarray):
        raise DataError(f"'{path}' is not an .npz archive but an .npy file. Give it the ending .npy.")
    try:
        entries = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, OSError) as error:
        raise damaged(path, "an .npz archive without pickled objects") from error
    X, used = _matrix_of(entries, path)
    rest = {name: values for name, values in entries.items() if name not in used}
    table = matrix_table(X, request, rest.pop("feature_names", None))
    for role, name in request.named.items():
        position(name, list(rest), path, role, "array")
        check_length(rest[name], table.n_samples, path, name)
    return replace(
        table,
        sample_names=None if id is None else [str(entry) for entry in rest[id]],
        label=None if label is None else rest[label],
        details={"rest": {name: values for name, values in rest.items() if name not in (label, id, batch)}},
        batch=None if batch is None else rest[batch],
    )


def write_npy(path: Path, table: Table) -> None:
    """Write the matrix alone, as it stood in the file."""
    np.save(path, table.dense if table.orientation == "rows" else table.dense.T)


def write_npz(path: Path, table: Table) -> None:
    """Write matrix, names, label, ids and whatever else the archive held."""
    entries: dict[str, Any] = dict(table.details.get("rest", {}))
    X = table.stored
    if isinstance(X, np.ndarray):
        entries["X"] = X
    else:
        X = csr_matrix(X)
        entries |= {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
    entries["feature_names"] = np.array(list(table.feature_names), dtype=str)
    entries |= table.set_apart("y")
    if table.sample_names is not None:
        entries[table.id_name or "sample_names"] = np.array(table.sample_names, dtype=str)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **entries)


def _load(source: Source, path: str | Path) -> Any:
    """``numpy.load`` without pickle, with an error that names the file."""
    try:
        return np.load(source, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile, OSError) as error:
        raise damaged(path, "a NumPy file without pickled objects") from error


def _matrix_of(entries: dict[str, np.ndarray], path: str | Path) -> tuple[Matrix, set[str]]:
    """The matrix, and the names of the arrays it was made from."""
    if "X" in entries:
        return as_matrix(entries["X"], path), {"X"}
    for layout in (_PREFIXED, _PLAIN):
        if set(layout.values()) <= set(entries):
            return _sparse(entries, layout, path), {*layout.values(), "format", "_is_array"}
    matrices = [name for name, values in entries.items() if values.ndim == 2 and values.dtype.kind in "fiub"]
    name = only_matrix(matrices, path)
    return as_matrix(entries[name], path), {name}


def _sparse(entries: dict[str, np.ndarray], layout: dict[str, str], path: str | Path) -> csr_matrix:
    data, indices, indptr, shape = (entries[layout[part]] for part in ("data", "indices", "indptr", "shape"))
    kind = entries.get("format", np.array("csr")).item()
    kind = kind.decode() if isinstance(kind, bytes) else kind
    try:
        built = (csc_matrix if kind == "csc" else csr_matrix)(
            (as_floats(data), indices, indptr), shape=(int(shape[0]), int(shape[1]))
        )
        built.check_format(full_check=True)
    except (ValueError, IndexError, TypeError) as error:
        raise damaged(path, "a sparse matrix in CSR or CSC parts") from error
    return csr_matrix(built)
