"""Open handles on stored data, as data matrices that read them piece by piece."""

from typing import Any

from eigensieve.data.disk.memory import DEFAULT_MEMORY, parse_bytes
from eigensieve.data.disk.sources import Source
from eigensieve.data.matrix import DataMatrix


def open_handle(X: Any, kind: str, max_memory: int | None = None) -> DataMatrix | None:
    """Return the data matrix for an open handle; None for a memory map that must be used as an array.

    Parameters
    ----------
    X : object
        A memory map, HDF5 dataset, Zarr array or a backed sparse matrix of AnnData.
    kind : {"memmap", "hdf5", "zarr", "backed sparse"}
    max_memory : int, optional
        Bytes all pieces together may take.
    """
    memory = parse_bytes(DEFAULT_MEMORY) if max_memory is None else max_memory
    source: Source | None
    if kind == "memmap":
        from eigensieve.data.disk.npy import memmap_source

        source = memmap_source(X)
    elif kind == "hdf5":
        from eigensieve.data.disk.chunked import hdf5_source

        source = hdf5_source(X, memory)
    elif kind == "zarr":
        from eigensieve.data.disk.chunked import zarr_source

        source = zarr_source(X, memory)
    else:
        from eigensieve.data.disk.backed_sparse import sparse_source

        path = X.group.file.filename
        source = sparse_source(X.group, f"{path}:{X.group.name}", path)
    return None if source is None else streamed(source, memory)


def streamed(source: Source, max_memory: int) -> DataMatrix:
    """Read a source along the axis that its layout favours."""
    from eigensieve.data.disk.rows import RowStreamedData
    from eigensieve.data.disk.sparse_rows import SparseRowData
    from eigensieve.data.disk.stream import StreamedData

    if min(source.shape) == 0:
        raise ValueError(f"{source.name} must hold at least one sample and one feature. Got shape {source.shape}.")
    if not source.by_samples:
        return StreamedData(source, max_memory)
    return (SparseRowData if source.sparse else RowStreamedData)(source, max_memory)
