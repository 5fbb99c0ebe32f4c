"""Open stored data: one function that knows files by their suffix and open handles by their type."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array
from eigensieve.data.disk.memory import parse_bytes
from eigensieve.data.disk.sources import Source
from eigensieve.data.matrix import DataMatrix

DEFAULT_MEMORY = "1GB"


def open_data(source: Any, *, max_memory: float | str = DEFAULT_MEMORY, dataset: str | None = None) -> DataMatrix:
    """Open data that stays where it is, for the `fit` of any selector.

    Parameters
    ----------
    source : path or object
        A path ending in ``.npy``, ``.h5`` / ``.hdf5``, ``.zarr``, ``.h5ad`` or ``.parquet``; or an open
        `numpy.memmap`, `h5py.Dataset`, `zarr.Array`, `AnnData`, Dask array or Dask dataframe. Samples in
        rows, features in columns.
    max_memory : int or str, default="1GB"
        Bytes that data read from disk may take at any time, for example ``"500MB"``. What the selectors keep
        for each feature (a few dozen bytes, see the guide) comes on top. Dask manages its own memory and
        ignores this.
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
    memory = parse_bytes(max_memory)
    if isinstance(source, str | os.PathLike):
        return stream(_open_path(Path(source), memory, dataset), memory)
    if dataset is not None:
        raise ValueError(
            "The 'dataset' parameter of open_data must be None unless a path is given. "
            f"Got {dataset!r} for {type(source).__name__} instead."
        )
    if stored_kind(source) is not None:
        return open_stored(source, memory)
    from eigensieve.data.backends import as_data

    return as_data(source)


def stored_kind(X: Any) -> str | None:
    """Which kind of stored or distributed data an object is; None for everything else.

    Told from the names of its type, so that no optional package is imported to find out that it is not in
    use.
    """
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    if isinstance(X, np.memmap):
        return "memmap" if X.ndim == 2 and X.dtype.kind in "fiub" and X.filename is not None else None
    if package in ("h5py", "zarr"):
        return {"Dataset": "hdf5", "Array": "zarr"}.get(name)
    if package == "anndata":
        return "anndata" if hasattr(X, "var_names") else "backed sparse"
    if package in ("dask", "dask_expr") and hasattr(X, "__dask_graph__"):
        return "dask"
    return None


def open_stored(X: Any, max_memory: int | None = None) -> DataMatrix:
    """The data matrix for an open handle on stored or distributed data."""
    memory = parse_bytes(DEFAULT_MEMORY) if max_memory is None else max_memory
    kind = stored_kind(X)
    if kind == "dask":
        from eigensieve.data.dask.matrix import dask_data

        return dask_data(X)
    if kind == "anndata":
        data = _open_matrix(X.X, memory)
        data._shared["names"] = np.asarray(X.var_names, dtype=object)
        return data
    return _open_matrix(X, memory)


def _open_matrix(X: Any, max_memory: int) -> DataMatrix:
    source: Source | None = None
    kind = stored_kind(X)
    if kind == "memmap":
        from eigensieve.data.disk.npy import memmap_source

        source = memmap_source(X)
        if source is None:
            from eigensieve.data.dense import DenseData

            return DenseData(np.asarray(X))
    elif kind == "hdf5":
        from eigensieve.data.disk.chunked import hdf5_source

        source = hdf5_source(X, max_memory)
    elif kind == "zarr":
        from eigensieve.data.disk.chunked import zarr_source

        source = zarr_source(X, max_memory)
    elif kind == "backed sparse":
        from eigensieve.data.disk.backed_sparse import sparse_source

        path = X.group.file.filename
        source = sparse_source(X.group, f"{path}:{X.group.name}", path)
    if source is not None:
        return stream(source, max_memory)
    from eigensieve.data.backends import as_data

    return as_data(np.asarray(X) if kind is None and isinstance(X, np.ndarray) else X)


def stream(source: Source, max_memory: int) -> DataMatrix:
    """Read a source along the axis its layout favours."""
    from eigensieve.data.disk.rows import RowStreamedData
    from eigensieve.data.disk.stream import StreamedData

    if min(source.shape) == 0:
        raise ValueError(f"{source.name} must hold at least one sample and one feature. Got shape {source.shape}.")
    return (RowStreamedData if source.by_samples else StreamedData)(source, max_memory)


def _open_path(path: Path, max_memory: int, dataset: str | None) -> Source:
    from eigensieve.tables import format_of

    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    format = format_of(path, in_place=True).name
    if format in ("npy", "parquet") and dataset is not None:
        raise ValueError(
            f"The 'dataset' parameter of open_data must be None for {path.suffix} files, which hold one matrix. "
            f"Got {dataset!r} instead."
        )
    if format == "npy":
        from eigensieve.data.disk.npy import npy_source

        return npy_source(path)
    if format == "parquet":
        from eigensieve.data.disk.parquet import ParquetSource

        return ParquetSource(path)
    if format == "zarr":
        return _open_zarr(path, max_memory, dataset)
    return _open_hdf5(path, max_memory, dataset or ("X" if format == "h5ad" else None))


def _open_hdf5(path: Path, max_memory: int, dataset: str | None) -> Source:
    from eigensieve.data.disk.backed_sparse import sparse_source
    from eigensieve.data.disk.chunked import hdf5_source

    h5py = require("h5py", extra="disk")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise OSError(f"{path} cannot be opened as HDF5: {error}. It may be truncated or not an HDF5 file.") from error
    matrices: list[str] = []
    if dataset is None:
        file.visititems(lambda name, item: matrices.append(name) if getattr(item, "ndim", 0) == 2 else None)
    found = file[_choose(path, dataset, matrices, file)]
    names = _var_names(file, found)
    if isinstance(found, h5py.Group):
        return sparse_source(found, f"{path}:{found.name}", path, names)
    return hdf5_source(found, max_memory, names)


def _open_zarr(path: Path, max_memory: int, dataset: str | None) -> Source:
    from eigensieve.data.disk.backed_sparse import sparse_source
    from eigensieve.data.disk.chunked import zarr_source

    zarr = require("zarr", extra="disk")
    found = zarr.open(path, mode="r")
    if hasattr(found, "shape"):
        return zarr_source(found, max_memory)
    if dataset is None and "X" in found:
        dataset = "X"
    matrices = [name for name, item in found.arrays() if item.ndim == 2]
    member = found[_choose(path, dataset, matrices, found)]
    if not hasattr(member, "shape"):
        return sparse_source(member, f"{path}/{dataset}")
    return zarr_source(member, max_memory)


def _choose(path: Path, dataset: str | None, matrices: list[str], holder: Any) -> str:
    """The name of the array to read, or an error that lists what there is."""
    if dataset is None and len(matrices) == 1:
        return matrices[0]
    if dataset is not None and dataset in holder:
        return dataset
    shown = ", ".join(repr(name) for name in matrices[:8]) or ", ".join(repr(name) for name in list(holder)[:8])
    raise ValueError(
        f"The 'dataset' parameter of open_data must name one matrix of {path}, which holds {shown}. "
        f"Got {dataset!r} instead."
    )


def _var_names(file: Any, found: Any) -> Array | None:
    """Names of the variables where the file is an AnnData file and `found` has one column each."""
    if "var" not in file or "_index" not in getattr(file["var"], "attrs", {}):
        return None
    names = file["var"][file["var"].attrs["_index"]]
    names = np.asarray(names.asstr()[:] if hasattr(names, "asstr") else names[:], dtype=object)
    columns = found.shape[1] if hasattr(found, "shape") else found.attrs["shape"][1]
    return names if len(names) == columns else None
