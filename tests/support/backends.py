"""THE table of data backends: every contract test runs on each line.

A line is a name and a function that turns a float64 array (samples x features) into that backend's input. Files are
small, so the memory allowed is smaller still: every pass reads several pieces.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigensieve import open_data

_numbers = count()


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="eigensieve-backends-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _path(suffix: str) -> Path:
    return _folder() / f"{next(_numbers)}{suffix}"


def _npy(X: np.ndarray) -> Any:
    path = _path(".npy")
    np.save(path, X)
    return open_data(path, max_memory=max(X.nbytes, 4 * len(X) * X.itemsize))


def _memmap(X: np.ndarray) -> Any:
    path = _path(".npy")
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def _hdf5(X: np.ndarray, chunks: tuple[int, int]) -> Any:
    import h5py

    path = _path(".h5")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=X, chunks=chunks, compression="gzip")
    return open_data(path, max_memory=max(X.nbytes, 4 * min(len(X) * chunks[1], chunks[0] * X.shape[1]) * 8))


def _zarr(X: np.ndarray) -> Any:
    import zarr

    path = _path(".zarr")
    zarr.create_array(path, data=X, chunks=(max(1, len(X) // 2), max(1, X.shape[1] // 7)))
    return open_data(path, max_memory=max(X.nbytes, 4 * len(X) * 8))


def _parquet(X: np.ndarray) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = _path(".parquet")
    pq.write_table(
        pa.table({f"g{i}": column for i, column in enumerate(X.T)}), path, row_group_size=max(1, len(X) // 2)
    )
    return open_data(path, max_memory=max(X.nbytes, 4 * len(X) * 8))


def h5ad(X: Any) -> Any:
    import anndata

    path = _path(".h5ad")
    anndata.AnnData(X).write_h5ad(path)
    return open_data(path, max_memory=2 * X.shape[0] * X.shape[1] * 8)


def dask_array(X: Any, rows: int, columns: int) -> Any:
    import dask.array as da

    chunks = (max(1, -(-X.shape[0] // rows)), max(1, -(-X.shape[1] // columns)))
    return da.from_array(X, chunks=chunks, asarray=False)


def _dask_frame(X: np.ndarray) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(X, columns=[f"g{i}" for i in range(X.shape[1])]), npartitions=2)


def repeated(X: Any) -> Any:
    """Return a matrix in compressed rows or columns with every entry stored in two halves."""
    arrays = (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr)
    return type(X)(arrays, shape=X.shape)


IN_MEMORY: dict[str, Callable[[np.ndarray], Any]] = {
    "dense": np.ascontiguousarray,
    "dense-fortran": np.asfortranarray,
    "dense-float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "csr-array": sp.csr_array,
    "csr-repeated": lambda X: repeated(sp.csr_matrix(X)),
    "csc-array-float32": lambda X: sp.csc_array(X.astype(np.float32)),
}

ON_DISK: dict[str, Callable[[np.ndarray], Any]] = {
    "npy": lambda X: _npy(np.ascontiguousarray(X)),
    "npy-fortran": lambda X: _npy(np.asfortranarray(X)),
    "npy-float32": lambda X: _npy(X.astype(np.float32)),
    "memmap": _memmap,
    "hdf5-columns": lambda X: _hdf5(X, (len(X), max(1, X.shape[1] // 6))),
    "hdf5-rows": lambda X: _hdf5(X, (1, X.shape[1])),
    "zarr": _zarr,
    "parquet": _parquet,
    "h5ad": lambda X: h5ad(np.ascontiguousarray(X)),
    "h5ad-csr-rows": lambda X: h5ad(sp.csr_matrix(X)),
    "h5ad-csc": lambda X: h5ad(sp.csc_matrix(X)),
}

DASK: dict[str, Callable[[np.ndarray], Any]] = {
    "dask-columns": lambda X: dask_array(X, 1, 3),
    "dask-rows": lambda X: dask_array(X, 2, 1),
    "dask-both": lambda X: dask_array(X, 2, 2),
    "dask-float32": lambda X: dask_array(X.astype(np.float32), 1, 2),
    "dask-csr": lambda X: dask_array(sp.csr_matrix(X), 2, 2),
    "dask-frame": _dask_frame,
}

BACKENDS = {**IN_MEMORY, **ON_DISK, **DASK}

FEW = {**IN_MEMORY, "npy": ON_DISK["npy"], "dask-columns": DASK["dask-columns"]}
"""For tests that make hundreds of passes: every kind of block, one file, one Dask array."""


def tolerance(name: str, *, double: float = 1e-8, single: float = 2e-4) -> float:
    """Return the tolerance that fits a backend's precision."""
    return single if "float32" in name else double


def passes_of_a_sweep(name: str) -> int:
    """How often one fused pass reads the data: twice where it is stored by samples."""
    return 2 if name in ("hdf5-rows", "h5ad-csr-rows") else 1
