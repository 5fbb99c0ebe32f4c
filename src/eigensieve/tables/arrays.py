"""NumPy's own files: .npy, and .npz with a dense matrix or the parts of a sparse one."""

import io
import math
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from eigensieve.tables.errors import PER_FEATURE, PER_TEXT, DataError, claim, damaged, parsing, position
from eigensieve.tables.files import Source
from eigensieve.tables.matrix import as_matrix, check_sparse, matrix_table, only_matrix, refuse_names, with_arrays
from eigensieve.tables.table import Matrix, Request, Table, as_floats

_PARTS = ("data", "indices", "indptr", "shape")
"""Of a sparse matrix: with "X_" before their names, or as ``scipy.sparse.save_npz`` writes them."""


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
    entries: dict[str, Any] = dict(table.details.get("rest", {}))
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


def _array(file: IO[bytes], request: Request) -> np.ndarray:
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
        values: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
        if dtype.kind == "U":  # Python fails on numbers that stand for no character only when they are used
            codes = np.frombuffer(values.tobytes(), dtype=np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
            if np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))):
                raise damaged(request.path, "a NumPy file with valid texts")
    return values


def _members(source: Source, request: Request) -> dict[str, np.ndarray]:
    with _opened(source) as file:
        if file.read(6) == b"\x93NUMPY":
            raise DataError(f"'{request.path}' is not an .npz archive but an .npy file. Give it the ending .npy.")
        entries: dict[str, np.ndarray] = {}
        with parsing(request.path, "an .npz archive without pickled objects"), zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                # NumPy writes these two; the others may unpack without bound
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise damaged(request.path, "an .npz archive that NumPy wrote")
                claim(sum(values.nbytes for values in entries.values()) + member.file_size, request.path, request.size)
                with archive.open(member) as stream:
                    entries[member.filename.removesuffix(".npy")] = _array(stream, request)
    return entries


def _matrix_of(entries: dict[str, np.ndarray], request: Request) -> tuple[Matrix, set[str]]:
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


def _sparse(entries: dict[str, np.ndarray], names: list[str], request: Request) -> csr_matrix:
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
