"""Which kind of data an object is, and the data matrix for it. No other code asks."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigensieve.data.dense import DenseData
from eigensieve.data.disk.formats import hdf5_source, sparse_source, zarr_source
from eigensieve.data.disk.npy import memmap_source
from eigensieve.data.disk.sources import DEFAULT_MEMORY, Source, parse_bytes
from eigensieve.data.matrix import DataMatrix
from eigensieve.data.sparse import SparseData


def as_data(X: Any, max_memory: int | None = None) -> DataMatrix:
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
        memory = parse_bytes(DEFAULT_MEMORY) if max_memory is None else max_memory
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


def is_stored(X: Any) -> bool:
    """Return whether data is not only an array in memory: memory maps, HDF5, Zarr, AnnData, Dask."""
    return isinstance(X, DataMatrix) or stored_kind(X) is not None


def stored_kind(X: Any) -> str | None:
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


def _source_of(X: Any, kind: str, memory: int) -> Source | None:
    """Return the source behind an open handle; None for a memory map that must be used as an array."""
    if kind == "memmap":
        return memmap_source(X)
    if kind != "backed sparse":
        return hdf5_source(X, memory) if kind == "hdf5" else zarr_source(X, memory)
    path = X.group.file.filename
    return sparse_source(X.group, f"{path}:{X.group.name}", path)


def streamed(source: Source, max_memory: int) -> DataMatrix:
    """Read a source along the axis that its layout favours."""
    from eigensieve.data.disk.rows import RowStreamedData, SparseRowData
    from eigensieve.data.disk.stream import StreamedData

    if min(source.shape) == 0:
        raise ValueError(f"{source.name} must hold at least one sample and one feature. Got shape {source.shape}.")
    if not source.by_samples:
        return StreamedData(source, max_memory)
    return (SparseRowData if source.sparse else RowStreamedData)(source, max_memory)
