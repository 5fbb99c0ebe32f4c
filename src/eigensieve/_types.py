"""The array types that every package uses; docstrings give the shapes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Array = NDArray[Any]
"""Several kinds are allowed: numbers as the user stores them, labels, names, memory that is read into."""
