"""What a data matrix can do: products, column statistics, feature blocks, for every kind of storage."""

from typing import Any

from eigensieve.data._blocks import BackwardSum, Block
from eigensieve.data._matrix import NORMALIZATIONS, DataMatrix, Sweep
from eigensieve.data._open import open_data
from eigensieve.data._raw_block import StoredColumns
from eigensieve.data._stats import ColumnStats
from eigensieve.data._threads import one_blas_thread, ordered_map, thread_count

__all__ = [
    "NORMALIZATIONS",
    "BackwardSum",
    "Block",
    "ColumnStats",
    "DataMatrix",
    "StoredColumns",
    "Sweep",
    "as_data",
    "is_stored",
    "one_blas_thread",
    "open_data",
    "ordered_map",
    "thread_count",
]


def as_data(X: Any) -> DataMatrix:
    """Return the data matrix for whatever the user holds: the one place that knows the backends."""
    import numpy as np
    from scipy.sparse import issparse

    if isinstance(X, DataMatrix):
        return X
    if issparse(X):
        from eigensieve.data._sparse import SparseData

        return SparseData(X)
    if is_stored(X):
        from eigensieve.data._open import open_stored

        return open_stored(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        from eigensieve.data._dense import DenseData

        return DenseData(X)
    raise TypeError(
        "Data must be a 2-dimensional numeric numpy array or a scipy sparse matrix. "
        f"Got {type(X).__name__} instead; convert it first, for example with numpy.asarray(X, dtype=float)."
    )


def is_stored(X: Any) -> bool:
    """True for data that is not, or not only, an array in memory: memory maps, HDF5, Zarr, AnnData, Dask."""
    if isinstance(X, DataMatrix):
        return True
    from eigensieve.data._open import stored_kind

    return stored_kind(X) is not None
