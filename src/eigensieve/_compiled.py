"""`njit` as the compiled loops use it: numba's own, with a cache on disk only where the source files are installed."""

from typing import Any

import numba


def njit(*, cache: bool = False, **options: Any) -> Any:
    """Return numba's decorator. numba cannot cache functions whose source file is missing; it refuses to start."""
    return numba.njit(cache=cache and __file__.endswith(".py"), **options)
