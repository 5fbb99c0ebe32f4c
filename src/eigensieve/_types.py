"""The types that every room uses."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
"""A numpy array of any type; docstrings give its shape."""
