"""Columns of extreme scale: they are multiplied by powers of two, which changes no digit of a value.

The selectors that use this do not depend on the scale of a feature. They only must be able to compute with it.
"""

from copy import copy

import numpy as np

from eigensieve._types import Array
from eigensieve.data.dense import DenseData
from eigensieve.data.matrix import DataMatrix, Shared
from eigensieve.data.sparse import SparseData

_MOST = 1000  # 2^1000 and its reciprocal can be represented


def tamed(data: DataMatrix) -> DataMatrix | None:
    """Return raw data in which no column is extreme, or None where that is not possible: the data is stored elsewhere.

    In memory, a copy is made if there are extreme columns. Their powers of two are ``shared.exponents`` of the copy.
    """
    stats = data.stats()
    extreme = stats.extreme(data.dtype)
    if not extreme.any():
        return data
    if not isinstance(data, (DenseData, SparseData)):
        return None
    # A column far from zero keeps its digits by its values' size, any other by its spread: they are the same or near.
    size = np.maximum(np.abs(stats.mean), stats.centered_norm)
    exponents = np.where(extreme, -np.frexp(np.where(extreme, size, 1.0))[1], 0)
    exponents[extreme & ~np.isfinite(size)] = -_MOST
    return multiplied(data, exponents)


def multiplied(data: DenseData | SparseData, exponents: Array) -> DataMatrix:
    """Return a copy of raw data in memory whose columns are multiplied by powers of two."""
    found: DataMatrix
    if isinstance(data, DenseData):
        found = DenseData(np.ldexp(data.X, exponents).astype(data.dtype, copy=False))
    else:
        found = copy(data)
        found.values = np.ldexp(data.values.astype(data.dtype), np.repeat(exponents, np.diff(data.indptr)))
    found.shared = Shared(names=data.shared.names, progress=data.shared.progress, exponents=exponents)
    return found
