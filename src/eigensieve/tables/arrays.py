"""Tables around one matrix, as files have that store arrays and no columns; NumPy's own are here: .npy, and .npz with a
dense matrix or the parts of a sparse one."""

import io
import math
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, issparse

from eigensieve._types import Array, JsonDict, Raw
from eigensieve.tables.errors import PER_FEATURE, PER_TEXT, DataError, claim, damaged, listed, parsing, position
from eigensieve.tables.files import Source
from eigensieve.tables.table import Column, Matrix, NumberedNames, Request, Table, as_floats

_PARTS = ("data", "indices", "indptr", "shape")
"""Of a sparse matrix: with "X_" before their names, or as ``scipy.sparse.save_npz`` writes them."""


def check_sparse(matrix: Any) -> None:
    """Raise ValueError for places beyond the shape, which crash whatever computes with the matrix."""
    # scipy looks at these only where the last one is above zero
    if matrix.indptr[0] != 0 or np.any(np.diff(matrix.indptr) < 0):
        raise ValueError("rows or columns that begin before the one in front of them")
    matrix.check_format(full_check=True)


def as_matrix(values: Raw, path: str | Path) -> Matrix:
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


def matrix_table(X: Matrix, request: Request, names: Array | None = None) -> Table:
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


def with_arrays(table: Table, request: Request, arrays: dict[str, Array]) -> Table:
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


def read_npy(source: Source, request: Request) -> Table:
    refuse_names("an .npy file", request)
    with _opened(source) as file:
        if file.read(2) == b"PK":
            raise DataError(f"'{request.path}' is not an .npy file but an .npz archive. Give it the ending .npz.")
        file.seek(0)
        values = _array(file, request)
    return matrix_table(as_matrix(values, request.path), request)


def read_npz(source: Source, request: Request) -> Table:
    """Read an .npz archive.

    The matrix is ``X``, or its CSR parts ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape``, or what
    ``scipy.sparse.save_npz`` writes, or the only two-dimensional array there is. The label and the id are arrays with
    one entry per sample; ``feature_names`` is used where present.
    """
    entries = _members(source, request)
    X, used = _matrix_of(entries, request)
    rest = {name: values for name, values in entries.items() if name not in used}
    table = matrix_table(X, request, rest.pop("feature_names", None))
    for role, name in request.named.items():
        position(name, list(rest), request.path, role, "array")
    others = {name: values for name, values in rest.items() if name not in request.named.values()}
    return replace(with_arrays(table, request, rest), details={"rest": others})


def write_npy(path: Path, table: Table) -> None:
    """Write the matrix alone, as it stood in the file."""
    np.save(path, table.dense if table.orientation == "rows" else table.dense.T)


def write_npz(path: Path, table: Table) -> None:
    """Write matrix, names, label, ids and whatever else the archive held."""
    entries: JsonDict = dict(table.details.get("rest", {}))
    X = table.stored
    if isinstance(X, np.ndarray):
        entries["X"] = X
    else:
        X = csr_matrix(X)
        entries |= {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
    entries["feature_names"] = np.array(list(table.feature_names), dtype=str)
    entries |= table.columns_apart
    if table.sample_names is not None:
        entries[table.id_name or "sample_names"] = np.array(table.sample_names, dtype=str)
    with path.open("wb") as file:
        np.savez_compressed(file, **entries)


def _opened(source: Source) -> IO[bytes]:
    return io.BytesIO(source.getbuffer()) if isinstance(source, io.BytesIO) else source.open("rb")


def _array(file: IO[bytes], request: Request) -> Array:
    """One array in NumPy's format. Its size is checked before there is room for it, and nothing is unpickled."""
    with parsing(request.path, "a NumPy file without pickled objects"):
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        if dtype.hasobject or min(shape, default=0) < 0:
            raise damaged(request.path, "a NumPy file without pickled objects")
        count = math.prod(shape)
        claim(count * max(dtype.itemsize, PER_TEXT if dtype.kind in "SU" else 1), request.path, request.size)
        file.seek(0)
        values: Array = np.lib.format.read_array(file, allow_pickle=False)
        if dtype.kind == "U":  # Python fails on numbers that stand for no character only when they are used
            codes = np.frombuffer(values.tobytes(), dtype=np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
            if np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))):
                raise damaged(request.path, "a NumPy file with valid texts")
    return values


def _members(source: Source, request: Request) -> dict[str, Array]:
    with _opened(source) as file:
        if file.read(6) == b"\x93NUMPY":
            raise DataError(f"'{request.path}' is not an .npz archive but an .npy file. Give it the ending .npy.")
        entries: dict[str, Array] = {}
        with parsing(request.path, "an .npz archive without pickled objects"), zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                # NumPy writes these two; the others may unpack without bound
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise damaged(request.path, "an .npz archive that NumPy wrote")
                claim(sum(values.nbytes for values in entries.values()) + member.file_size, request.path, request.size)
                with archive.open(member) as stream:
                    entries[member.filename.removesuffix(".npy")] = _array(stream, request)
    return entries


def _matrix_of(entries: dict[str, Array], request: Request) -> tuple[Matrix, set[str]]:
    """The matrix, and the names of the arrays it was made from."""
    path = request.path
    if "X" in entries:
        return as_matrix(entries["X"], path), {"X"}
    for prefix in ("X_", ""):
        names = [prefix + part for part in _PARTS]
        if set(names) <= set(entries):
            return _sparse(entries, names, request), {*names, "format", "_is_array"}
    matrices = [name for name, values in entries.items() if values.ndim == 2 and values.dtype.kind in "fiub"]
    name = only_matrix(matrices, path)
    return as_matrix(entries[name], path), {name}


def _sparse(entries: dict[str, Array], names: list[str], request: Request) -> csr_matrix:
    data, indices, indptr, shape = (entries[name] for name in names)
    with parsing(request.path, "a sparse matrix in CSR or CSC parts"):
        kind = entries.get("format", np.array("csr")).item()
        kind = kind.decode() if isinstance(kind, bytes) else kind
        n_rows, n_columns = (int(length) for length in shape)
        claim(8.0 * n_rows + PER_FEATURE * n_columns, request.path, request.size)
        parts = (as_floats(data, request.path), indices, indptr)
        built = (csc_matrix if kind == "csc" else csr_matrix)(parts, shape=(n_rows, n_columns))
        check_sparse(built)
    return csr_matrix(built)
