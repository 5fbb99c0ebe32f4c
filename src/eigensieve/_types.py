"""The array types that every package uses; docstrings give the shapes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.floating[Any]]
"""Real numbers, in single or double precision."""

IntArray = NDArray[np.integer[Any]]
"""Whole numbers: positions, counts, group codes."""

BoolArray = NDArray[np.bool_]
"""Masks."""

ByteArray = NDArray[np.uint8]
"""Raw memory: the bytes of a text file."""

DType = np.dtype[Any]
"""Type of the numbers in an array."""

RandomState = int | np.random.RandomState | np.random.Generator | None
"""A seed, or a source of random numbers."""

JsonDict = dict[str, Any]
"""A plain dict: JSON values, settings or arguments by name."""

MatrixLike = Any
"""Data as the user gives it, of packages without types: an array, a list, a sparse matrix, a data frame, AnnData, a
Dask collection, an open file, or a data matrix."""

Raw = Any
"""Some of the stored values as they are: an array, or a sparse matrix of one of scipy's kinds."""

OneEach = ArrayLike | None
"""One value per sample, feature or pair, as the user gives it: an array, a list, a Series."""

Array = NDArray[Any]
"""Several kinds are allowed: numbers as the user stores them, labels, names, memory that is read into."""
