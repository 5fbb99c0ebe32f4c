"""Which backend serves which data: the one place that knows them all."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigensieve.data.matrix import DataMatrix


def as_data(X: Any) -> DataMatrix:
    """Return the data matrix for whatever the user holds: the one place that knows the backends."""
    if isinstance(X, DataMatrix):
        return X
    if issparse(X):
        from eigensieve.data.sparse import SparseData

        return SparseData(X)
    if is_stored(X):
        from eigensieve.data.disk.opening import open_stored

        return open_stored(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        from eigensieve.data.dense import DenseData

        return DenseData(X)
    raise TypeError(
        "Data must be a 2-dimensional numeric numpy array or a scipy sparse matrix. "
        f"Got {type(X).__name__} instead; convert it first, for example with numpy.asarray(X, dtype=float)."
    )


def is_stored(X: Any) -> bool:
    """True for data that is not, or not only, an array in memory: memory maps, HDF5, Zarr, AnnData, Dask."""
    if isinstance(X, DataMatrix):
        return True
    from eigensieve.data.disk.opening import stored_kind

    return stored_kind(X) is not None
