"""Which kind of data an object is, or a file by its suffix, and the data matrix for it. No other code asks."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigensieve._errors import wrong_parameter
from eigensieve._extras import require
from eigensieve._types import Array, MatrixLike
from eigensieve.data.dense import DenseData
from eigensieve.data.disk import sources
from eigensieve.data.disk.npy import memmap_source, npy_source
from eigensieve.data.matrix import DataMatrix
from eigensieve.data.sparse import SparseData


def as_data(X: MatrixLike, max_memory: int | None = None) -> DataMatrix:
    """Return the data matrix for the user's data: the one place that knows the backends. X is an array, sparse matrix,
    memory map, HDF5 dataset, Zarr array, AnnData, Dask collection or DataMatrix. `max_memory` is how many bytes data
    read from disk may take at any time."""
    if isinstance(X, DataMatrix):
        return X
    kind = stored_kind(X)
    if kind == "dask":
        from eigensieve.data.dask.matrix import dask_data

        return dask_data(X)
    if kind == "anndata":
        data = as_data(X.X, max_memory)
        data.shared.names = np.asarray(X.var_names, dtype=object)
        return data
    if kind is not None:
        memory = sources.parse_bytes(sources.DEFAULT_MEMORY) if max_memory is None else max_memory
        source = _source_of(X, kind, memory)
        if source is not None:
            return streamed(source, memory)
    if issparse(X):
        return SparseData(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        return DenseData(np.asarray(X))
    given = f"{X.ndim} dimension(s) of type {X.dtype}" if isinstance(X, np.ndarray) else type(X).__name__
    raise TypeError(
        "Data must be a 2-dimensional numeric numpy array or a scipy sparse matrix. "
        f"Got {given} instead; convert it first, for example with numpy.asarray(X, dtype=float)."
    )


def is_stored(X: MatrixLike) -> bool:
    """Return whether data is not only an array in memory: memory maps, HDF5, Zarr, AnnData, Dask."""
    return isinstance(X, DataMatrix) or stored_kind(X) is not None


def stored_kind(X: MatrixLike) -> str | None:
    """Return the kind of stored or distributed data that an object is; None for everything else. The names of its type
    tell, so that no optional package is imported to find out that it is not in use."""
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    if isinstance(X, np.memmap):
        return "memmap" if X.ndim == 2 and X.dtype.kind in "fiub" and X.filename is not None else None
    if package in ("h5py", "zarr"):
        return {"Dataset": "hdf5", "Array": "zarr"}.get(name)
    if package == "anndata":
        return "anndata" if hasattr(X, "var_names") else "backed sparse" if hasattr(X, "group") else None
    if package in ("dask", "dask_expr") and hasattr(X, "__dask_graph__"):
        return "dask"
    return None


def _source_of(X: MatrixLike, kind: str, memory: int) -> sources.Source | None:
    """Return the source behind an open handle; None for a memory map that must be used as an array."""
    if kind == "memmap":
        return memmap_source(X)
    if kind != "backed sparse":
        return sources.hdf5_source(X, memory) if kind == "hdf5" else sources.zarr_source(X, memory)
    path = X.group.file.filename
    return sources.sparse_source(X.group, f"{path}:{X.group.name}", path)


def streamed(source: sources.Source, max_memory: int) -> DataMatrix:
    """Read a source along the axis that its layout favours."""
    from eigensieve.data.disk.rows import RowStreamedData, SparseRowData
    from eigensieve.data.disk.stream import StreamedData

    if min(source.shape) == 0:
        raise ValueError(f"{source.name} must hold at least one sample and one feature. Got shape {source.shape}.")
    if not source.by_samples:
        return StreamedData(source, max_memory)
    return (SparseRowData if source.sparse else RowStreamedData)(source, max_memory)


def open_data(
    source: Any, *, max_memory: float | str = sources.DEFAULT_MEMORY, dataset: str | None = None
) -> DataMatrix:
    """Open data that stays where it is, for the `fit` of any selector.

    Parameters
    ----------
    source : path or object
        A path ending in ``.npy``, ``.h5`` / ``.hdf5``, ``.zarr``, ``.h5ad`` or ``.parquet``; or an open
        `numpy.memmap`, `h5py.Dataset`, `zarr.Array`, `AnnData`, Dask array or Dask dataframe. Samples in
        rows, features in columns.
    max_memory : int or str, default="1GB"
        Bytes that data read from disk may take at any time, for example ``"500MB"``. The selectors' arrays per
        feature (a few dozen bytes, see the guide) come on top. Dask manages its own memory and ignores this.
    dataset : str, optional
        Which array of an HDF5 file or Zarr group; needed when there is more than one. For ``.h5ad`` the
        default is ``X``, and ``"layers/counts"`` names a layer.

    Returns
    -------
    data : DataMatrix
        Knows its `shape`, `dtype` and `feature_names`, and is accepted wherever a selector takes X.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from eigensieve import QAlphaSelector
    >>> from eigensieve.data import open_data
    >>> X = np.random.default_rng(0).standard_normal((60, 200))
    >>> X[:30, :8] += 3.0
    >>> path = os.path.join(tempfile.mkdtemp(), "X.npy")
    >>> np.save(path, X)
    >>> QAlphaSelector(8).fit(open_data(path, max_memory="10MB")).get_support(indices=True)
    array([0, 1, 2, 3, 4, 5, 6, 7])
    """
    memory = sources.parse_bytes(max_memory)
    if isinstance(source, str | os.PathLike):
        return streamed(_open_path(Path(source), memory, dataset), memory)
    if dataset is not None:
        got = f"{dataset!r} for {type(source).__name__}"
        raise wrong_parameter("dataset", "open_data", "be None unless a path is given", got)
    return as_data(source, memory)


def _open_path(path: Path, max_memory: int, dataset: str | None) -> sources.Source:
    from eigensieve.tables import format_of

    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}. Check the path.")
    format = format_of(path, in_place=True).name
    if format in ("npy", "parquet") and dataset is not None:
        must = f"be None for {path.suffix} files, which hold one matrix"
        raise wrong_parameter("dataset", "open_data", must, repr(dataset))
    if format == "npy":
        return npy_source(path)
    if format == "parquet":
        return sources.ParquetSource(path)
    if format == "zarr":
        return _open_zarr(path, max_memory, dataset)
    return _open_hdf5(path, max_memory, dataset or ("X" if format == "h5ad" else None))


def _open_hdf5(path: Path, max_memory: int, dataset: str | None) -> sources.Source:
    from eigensieve.tables import DataError, check_hdf5

    h5py = require("h5py", extra="disk")
    try:
        check_hdf5(path, in_place=True)
    except DataError as error:
        raise OSError(f"{path} cannot be opened as HDF5: {error} It may be truncated or not an HDF5 file.") from error
    try:
        file = h5py.File(path, "r")
        matrices: list[str] = []
        if dataset is None:
            file.visititems(lambda name, item: matrices.append(name) if getattr(item, "ndim", 0) == 2 else None)
        found = file[_choose(path, dataset, matrices, file)]
        names = _var_names(file, found)
        if isinstance(found, h5py.Group):
            return sources.sparse_source(found, f"{path}:{found.name}", path, names)
        return sources.hdf5_source(found, max_memory, names)
    except (RuntimeError, KeyError, TypeError, IndexError, UnicodeError) as error:  # h5py's, and parts that are missing
        raise OSError(f"{path} cannot be read as HDF5: {error}. It may be truncated; write it again.") from error


def _open_zarr(path: Path, max_memory: int, dataset: str | None) -> sources.Source:
    zarr = require("zarr", extra="disk")
    try:
        found = zarr.open(path, mode="r")
    except Exception as error:  # damaged metadata raises exceptions of many kinds
        raise OSError(f"{path} cannot be opened as Zarr: {error}. It may be incomplete; write it again.") from error
    if hasattr(found, "shape"):
        return sources.zarr_source(found, max_memory)
    if dataset is None and "X" in found:
        dataset = "X"
    matrices = [name for name, item in found.arrays() if item.ndim == 2]
    member = found[_choose(path, dataset, matrices, found)]
    if not hasattr(member, "shape"):
        return sources.sparse_source(member, f"{path}/{dataset}", path)
    return sources.zarr_source(member, max_memory)


def _choose(path: Path, dataset: str | None, matrices: list[str], holder: Any) -> str:
    """Return the name of the array to read; an error lists those in the file."""
    if dataset is None and len(matrices) == 1:
        return matrices[0]
    if dataset is not None and dataset in holder:
        return dataset
    shown = ", ".join(repr(name) for name in matrices[:8]) or ", ".join(repr(name) for name in list(holder)[:8])
    raise wrong_parameter("dataset", "open_data", f"name one matrix of {path}, which holds {shown}", repr(dataset))


def _var_names(file: Any, found: Any) -> Array | None:
    """Names of the variables where the file is an AnnData file and `found` has one column each."""
    if "var" not in file or "_index" not in getattr(file["var"], "attrs", {}):
        return None
    names = file["var"][file["var"].attrs["_index"]]
    if hasattr(names, "keys"):  # anndata 0.13 on pandas 3: values beside a mask of those that are missing
        names = names["values"]
    names = np.asarray(names.asstr()[:] if hasattr(names, "asstr") else names[:], dtype=object)
    columns = found.shape[1] if hasattr(found, "shape") else found.attrs["shape"][1]
    return names if len(names) == columns else None
