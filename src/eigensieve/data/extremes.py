"""Columns of extreme scale, multiplied by powers of two: no digit of a value changes, and products can be computed."""

from copy import copy
from dataclasses import replace

import numpy as np

from eigensieve._types import BoolArray, IntArray
from eigensieve.data.dense import DenseData
from eigensieve.data.matrix import DataMatrix, Shared
from eigensieve.data.sparse import SparseData

_MOST = 1000  # 2^1000 and its reciprocal can be represented


def tamed(data: DataMatrix, extreme: BoolArray) -> DataMatrix | None:
    """Return a copy of raw data in which the extreme columns have a plain scale; None if the data is not in memory. The
    powers of two are ``shared.exponents`` of the copy."""
    stats = data.stats()
    # The power of two follows the larger of mean and spread, so that neither overflows.
    size = np.maximum(np.abs(stats.mean), stats.centered_norm)
    exponents = np.where(extreme, -np.frexp(np.where(extreme, size, 1.0))[1], 0)
    exponents[extreme & ~np.isfinite(size)] = -_MOST
    return multiplied(data, exponents)


def multiplied(data: DataMatrix, exponents: IntArray) -> DataMatrix | None:
    """Return a copy of raw data whose columns are multiplied by powers of two; None if the data is not in memory."""
    found: DataMatrix
    if not isinstance(data, (DenseData, SparseData)):
        return None
    if isinstance(data, DenseData):
        found = DenseData(np.ldexp(data.X, exponents).astype(data.dtype, copy=False))
    else:
        found = copy(data)
        found.values = np.ldexp(data.values.astype(data.dtype), np.repeat(exponents, np.diff(data.indptr)))
    shared, gaps = data.shared, data.shared.gaps
    if gaps is not None:
        gaps = replace(gaps, X=np.ldexp(gaps.X, exponents))
    found.shared = Shared(names=shared.names, progress=shared.progress, exponents=exponents, gaps=gaps)
    return found
