"""MATLAB files: version 5 to 7 parsed here, version 7.3 (HDF5) through h5py, version 4 through scipy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from eigensieve._extras import require
from eigensieve.tables.errors import parsing, position
from eigensieve.tables.files import read_content
from eigensieve.tables.hdf5 import check_hdf5
from eigensieve.tables.limits import claim
from eigensieve.tables.mat5 import read_mat5
from eigensieve.tables.matrix import as_matrix, check_length, check_sparse, matrix_table, only_matrix
from eigensieve.tables.table import Column, Request, Table


def read_mat(path: Path, request: Request) -> Table:
    """Read a .mat file.

    The matrix is the variable ``X``, or ``data``, or the only matrix of numbers with more than one column. The label
    and the id are variables with one entry per sample.
    """
    variables = _load(path, request)
    for role, variable in request.named.items():
        position(variable, list(variables), path, role, "variable")
    name = _matrix_name(variables, set(request.named.values()), path)
    names = _texts(variables["feature_names"]) if "feature_names" in variables else None
    table = matrix_table(as_matrix(variables[name], path), request, names)
    return replace(
        table,
        sample_names=None
        if request.id is None
        else [str(name) for name in _vector(variables, request.id, table, path)],
        apart={role: Column(name, _vector(variables, name, table, path)) for role, name in request.apart.items()},
        details={"matrix": name},
    )


def write_mat(path: Path, table: Table) -> None:
    """Write a version 5 .mat file with the matrix, the chosen features' names and the label."""
    from scipy.io import savemat

    X = table.stored
    variables: dict[str, Any] = {
        str(table.details.get("matrix", "X")): X if isinstance(X, np.ndarray) else csc_matrix(X),
        "feature_names": np.array(list(table.feature_names), dtype=object),
    }
    for name, values in table.columns_apart.items():
        # words as cells: MATLAB's text arrays pad them to one length
        variables[name] = (values.astype(object) if values.dtype.kind == "U" else values).reshape(-1, 1)
    if table.sample_names is not None:
        variables[table.id_name or "sample_names"] = np.array(table.sample_names, dtype=object)
    savemat(str(path), variables, do_compression=True)


def _load(path: Path, request: Request) -> dict[str, Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import matfile_version

    with path.open("rb") as file:
        start = file.read(128)
    if b"MATLAB 7.3" in start or start.startswith(b"\x89HDF"):
        return _load_hdf5(path, request)
    with parsing(path, "a MATLAB file"):
        version = matfile_version(path)[0]
        if version == 1:
            return read_mat5(read_content(path), request)
        if version == 2:
            return _load_hdf5(path, request)
        loaded = loadmat(path)  # version 4, whose parser is written in Python
    return {name: value for name, value in loaded.items() if not name.startswith("__")}


def _load_hdf5(path: Path, request: Request) -> dict[str, Any]:
    """Variables of a version 7.3 file, whose arrays are stored column by column."""
    h5py = require("h5py", extra="disk")
    check_hdf5(path)
    variables: dict[str, Any] = {}
    with parsing(path, "a MATLAB 7.3 file"), h5py.File(path) as file:
        for name, item in file.items():
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiub":
                variables[name] = np.asarray(item).T
            elif isinstance(item, h5py.Group) and {"data", "ir", "jc"} <= set(item):
                shape = (int(item.attrs["MATLAB_sparse"]), len(item["jc"]) - 1)
                claim(8.0 * shape[0], path, request.size)
                matrix = csc_matrix((item["data"][:], item["ir"][:], item["jc"][:]), shape=shape)
                check_sparse(matrix)
                variables[name] = matrix
    return variables


def _matrix_name(variables: dict[str, Any], aside: set[str], path: Path) -> str:
    for name in ("X", "data"):
        if name in variables and name not in aside:
            return name
    matrices = [
        name
        for name, value in variables.items()
        if name not in aside and getattr(value, "ndim", 0) == 2 and value.dtype.kind in "fiub" and value.shape[1] > 1
    ]
    return only_matrix(matrices, path)


def _vector(variables: dict[str, Any], name: str, table: Table, path: Path) -> np.ndarray:
    values = np.ravel(variables[name])
    if values.dtype == object:
        values = _texts(values)
    check_length(values, table.n_samples, path, name)
    return values.astype(np.int64) if values.dtype.kind in "ub" and values.dtype != np.uint64 else values


def _texts(cells: np.ndarray) -> np.ndarray:
    """A cell array of strings as an array of strings."""
    return np.array([str(np.ravel(cell)[0]) if np.size(cell) else "" for cell in np.ravel(cells)])
