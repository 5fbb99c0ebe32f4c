"""NumPy's own files: .npy, and .npz with a dense matrix or the parts of a sparse one."""

import io
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix, issparse

from eigensieve.tables.table import (
    DataError,
    Matrix,
    NumberedNames,
    Samples,
    Table,
    as_floats,
    listed,
    position,
)

_PREFIXED = {"data": "X_data", "indices": "X_indices", "indptr": "X_indptr", "shape": "X_shape"}
_PLAIN = {part: part for part in _PREFIXED}
"""The layout of ``scipy.sparse.save_npz``."""


def read_npy(
    content: Path | io.BytesIO, path: str | Path, *, label: str | None, id: str | None, samples: Samples
) -> Table:
    """Read one matrix from an .npy file."""
    refuse_names(path, "an .npy file", label, id)
    values = load(content, path)
    if not isinstance(values, np.ndarray):
        raise DataError(f"'{path}' is not an .npy file but an .npz archive. Give it the ending .npz.")
    X = as_matrix(values, path)
    return matrix_table(X, path, "npy", samples)


def read_npz(
    content: Path | io.BytesIO, path: str | Path, *, label: str | None, id: str | None, samples: Samples
) -> Table:
    """Read an .npz archive.

    The matrix is ``X``, or its CSR parts ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape``, or what
    ``scipy.sparse.save_npz`` writes, or the only two-dimensional array there is. `label` and `id` name
    arrays with one entry a sample; ``feature_names`` is used where present.
    """
    archive = load(content, path)
    if isinstance(archive, np.ndarray):
        raise DataError(f"'{path}' is not an .npz archive but an .npy file. Give it the ending .npy.")
    try:
        entries = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, OSError) as error:
        raise damaged(path, "an .npz archive without pickled objects") from error
    X, used = _matrix_of(entries, path)
    rest = {name: values for name, values in entries.items() if name not in used}
    names = rest.pop("feature_names", None)
    table = matrix_table(X, path, "npz", samples, names)
    for name, role in ((label, "label"), (id, "id")):
        if name is not None and position(name, list(rest), path, role, "array") >= 0:
            check_length(rest[name], table.n_samples, path, name)
    return Table(
        X=table.X,
        feature_names=table.feature_names,
        sample_names=None if id is None else [str(entry) for entry in rest[id]],
        label=None if label is None else rest[label],
        format="npz",
        orientation=table.orientation,
        notes=table.notes,
        label_name=label,
        id_name=id,
        details={"rest": {name: values for name, values in rest.items() if name not in (label, id)}},
    )


def write_npy(path: Path, table: Table) -> None:
    """Write the matrix alone, as it stood in the file."""
    X = table.X if isinstance(table.X, np.ndarray) else table.X.toarray()
    np.save(path, X if table.orientation == "rows" else X.T)


def write_npz(path: Path, table: Table) -> None:
    """Write matrix, names, label, ids and whatever else the archive held."""
    entries: dict[str, Any] = dict(table.details.get("rest", {}))
    if isinstance(table.X, np.ndarray):
        entries["X"] = table.X if table.orientation == "rows" else table.X.T
    else:
        X = csr_matrix(table.X if table.orientation == "rows" else table.X.T)
        entries |= {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
    entries["feature_names"] = np.array(list(table.feature_names), dtype=str)
    if table.label is not None:
        entries[table.label_name or "y"] = table.label
    if table.sample_names is not None:
        entries[table.id_name or "sample_names"] = np.array(table.sample_names, dtype=str)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **entries)


def load(content: Path | io.BytesIO, path: str | Path) -> Any:
    """``numpy.load`` without pickle, with an error that names the file."""
    try:
        return np.load(content, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile, OSError) as error:
        raise damaged(path, "a NumPy file without pickled objects") from error


def damaged(path: str | Path, what: str) -> DataError:
    """The error for a file that its own library refuses."""
    return DataError(f"'{path}' is damaged or not {what}. Get or write the file again.")


def as_matrix(values: Any, path: str | Path) -> Matrix:
    """A matrix of floats, CSR where it is sparse; or an error that says what was found instead."""
    sparse: bool = issparse(values)
    if sparse:
        return csr_matrix(values, dtype=as_floats(values.data[:1]).dtype)
    values = np.asarray(values)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise DataError(
            f"'{path}' holds an array of {values.ndim} dimension(s) and type {values.dtype}, not a matrix of numbers. "
            "Store a samples x features matrix."
        )
    return as_floats(values)


def matrix_table(X: Matrix, path: str | Path, format: str, samples: Samples, names: np.ndarray | None = None) -> Table:
    """A table around a bare matrix.

    Samples are in rows unless the user said otherwise, or only the number of rows agrees with that of `names`, the
    features' names.
    """
    notes = []
    orientation: Literal["rows", "columns"] = "columns" if samples == "columns" else "rows"
    if samples == "auto" and names is not None and len(names) != X.shape[1] and len(names) == X.shape[0]:
        orientation = "columns"
        notes.append("samples in columns: there are as many feature names as rows")
    if orientation == "columns":
        X = X.T if isinstance(X, np.ndarray) else csr_matrix(X.T)
    if names is not None and len(names) != X.shape[1]:
        raise DataError(
            f"'{path}' has {len(names):,} feature_names for {X.shape[1]:,} features. "
            "Say where the samples stand, or write the file again."
        )
    return Table(
        X=X,
        feature_names=NumberedNames(X.shape[1]) if names is None else [str(name) for name in names],
        sample_names=None,
        label=None,
        format=format,
        orientation=orientation,
        notes=notes,
    )


def check_length(values: np.ndarray, n_samples: int, path: str | Path, name: str) -> None:
    """Refuse an array that does not have one entry a sample."""
    if values.shape != (n_samples,):
        raise DataError(
            f"'{path}': array '{name}' has shape {values.shape} where ({n_samples},) is needed. "
            "Name an array with one entry a sample."
        )


def refuse_names(path: str | Path, what: str, label: str | None, id: str | None) -> None:
    """Refuse a label or id where the format has no names."""
    for name, role in ((label, "label"), (id, "id")):
        if name is not None:
            raise DataError(
                f"'{path}' has no {role} column '{name}': {what} holds no names. Use a format with named columns."
            )


def _matrix_of(entries: dict[str, np.ndarray], path: str | Path) -> tuple[Matrix, set[str]]:
    if "X" in entries:
        return as_matrix(entries["X"], path), {"X"}
    for layout in (_PREFIXED, _PLAIN):
        if set(layout.values()) <= set(entries):
            return _sparse(entries, layout, path), {*layout.values(), "format", "_is_array"}
    matrices = [name for name, values in entries.items() if values.ndim == 2 and values.dtype.kind in "fiub"]
    if len(matrices) != 1:
        found = f"several matrices: {listed(matrices)}" if matrices else "no matrix of numbers"
        raise DataError(f"'{path}' holds {found}. Call the one to read 'X'.")
    return as_matrix(entries[matrices[0]], path), {matrices[0]}


def _sparse(entries: dict[str, np.ndarray], layout: dict[str, str], path: str | Path) -> csr_matrix:
    from scipy.sparse import csc_matrix

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
