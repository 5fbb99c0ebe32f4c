"""Numbers in few bytes."""

import base64

import numpy as np

from eigensieve._types import Array


def numbers(values: Array, digits: int = 5) -> list[float | None]:
    """Return floats with so many significant digits; NaN and infinities become null."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=np.float64)]


def bytes_of(values: Array) -> str:
    """Return uint8 values as base64 text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.uint8).tobytes()).decode("ascii")
