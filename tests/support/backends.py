"""THE table of data backends: every contract test runs on each line.

A line is a name and a function that turns a float64 array (samples x features) into that backend's input.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

BACKENDS: dict[str, Callable[[np.ndarray], Any]] = {
    "dense": np.ascontiguousarray,
    "dense-fortran": np.asfortranarray,
    "dense-float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "csr-array": sp.csr_array,
    "csc-array-float32": lambda X: sp.csc_array(X.astype(np.float32)),
}


def tolerance(name: str, *, double: float = 1e-8, single: float = 2e-4) -> float:
    """Return the tolerance that fits a backend's precision."""
    return single if "float32" in name else double
