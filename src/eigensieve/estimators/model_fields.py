"""The checks of one value of a saved model: kind of numbers, shape and range.

Sizes have names. The first array that uses a name sets the size, and all others must agree.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

Sizes = dict[str, int]
_MOST = float(np.finfo(np.float64).max)
_MORE = "+1"


class Misfit(ValueError):
    """A part of a model is not as declared."""


def require(condition: object, problem: str) -> None:
    if not condition:
        raise Misfit(problem)


@dataclass(frozen=True)
class Field:
    """A value: ``check(value, sizes, where)`` raises a `Misfit`. An optional one may be None, or missing."""

    check: Callable[[Any, Sizes, str], None]
    optional: bool = False


def optional(field: Field) -> Field:
    return replace(field, optional=True)


def numbers(
    kinds: str, *shape: str | int, low: float = -_MOST, high: float | str = _MOST, container: type | None = None
) -> Field:
    """Return the check of an array, or of a plain number without `shape`. `kinds` are letters of numpy's
    ``dtype.kind``. `high` may be the name of a size: values index an axis of this size."""
    wanted = container or (np.ndarray if shape else (bool, int, float, np.generic))

    def check(value: Any, sizes: Sizes, where: str) -> None:
        require(isinstance(value, wanted), f"{where} is a {type(value).__name__}")
        array = np.asarray(value)
        common = array.dtype.kind != "f" or array.dtype.itemsize in (4, 8)
        require(array.dtype.kind in kinds and common, f"{where} holds {array.dtype}")
        check_shape(array.shape, shape, sizes, where)
        if np.isnan(low) or array.dtype.kind not in "fiu":
            return
        array = array.astype(np.float64) if array.dtype.kind == "f" else array
        most = sizes[high] - 1 if isinstance(high, str) else high
        inside = np.all((array >= low) & (array <= most))  # NaN fails both comparisons
        require(inside, f"{where} holds values outside the range from {low} to {most}")

    return Field(check)


def real(*shape: str | int, low: float = -_MOST, high: float = _MOST) -> Field:
    """Return the check of finite numbers."""
    return numbers("f" if shape else "fiu", *shape, low=low, high=high)


def shown(*shape: str | int, container: type | None = None) -> Field:
    """Return the check of numbers that are shown and not computed with: they may be infinite or NaN."""
    return numbers("f" if shape else "fiu", *shape, low=np.nan, container=container)


def count(low: int = 0, high: float = 2**62) -> Field:
    """Return the check of a whole number."""
    return numbers("iu", low=low, high=high)


def sparse(*shape: str) -> Field:
    """Return the check of a scipy.sparse matrix: all its indices are in bounds."""

    def check(value: Any, sizes: Sizes, where: str) -> None:
        require(issparse(value), f"{where} is not a sparse matrix")
        check_sparse(value, where)
        check_shape(value.shape, shape, sizes, where)

    return Field(check)


TEXT = Field(lambda value, sizes, where: require(isinstance(value, str), f"{where} is not a string"))
FLAG = numbers("b")
IGNORED = Field(lambda value, sizes, where: None, optional=True)
"""An attribute that scikit-learn keeps for itself."""


def check_shape(found: tuple[int, ...], wanted: tuple[str | int, ...], sizes: Sizes, where: str) -> None:
    """Compare a shape with numbers and names of sizes; "columns+1" is one more than the size "columns"."""
    fits = len(found) == len(wanted)
    for n, name in zip(found, wanted, strict=False):
        if isinstance(name, int):
            fits = fits and n == name
        elif name.endswith(_MORE):
            fits = fits and n >= 1 and sizes.setdefault(name.removesuffix(_MORE), n - 1) == n - 1
        else:
            fits = fits and sizes.setdefault(name, n) == n
    require(fits, f"{where} has shape {found}, which does not fit the rest")


def check_sparse(matrix: Any, where: str) -> None:
    if hasattr(matrix, "indptr"):
        matrix.check_format(full_check=True)
    elif hasattr(matrix, "coords"):
        for place, n in zip(matrix.coords, matrix.shape, strict=True):
            require(len(place) == len(matrix.data) and np.all((place >= 0) & (place < n)), f"{where} is out of bounds")
    else:
        require(matrix.data.ndim == 2 and len(matrix.offsets) == len(matrix.data), f"{where} is not a matrix")
