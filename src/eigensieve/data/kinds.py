"""Which kind of stored or distributed data an object is."""

from typing import Any

import numpy as np


def stored_kind(X: Any) -> str | None:
    """Which kind of stored or distributed data an object is; None for everything else.

    The names of its type tell, so that no optional package is imported to find out that it is not in use.
    """
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    if isinstance(X, np.memmap):
        return "memmap" if X.ndim == 2 and X.dtype.kind in "fiub" and X.filename is not None else None
    if package in ("h5py", "zarr"):
        return {"Dataset": "hdf5", "Array": "zarr"}.get(name)
    if package == "anndata":
        return "anndata" if hasattr(X, "var_names") else "backed sparse" if hasattr(X, "group") else None
    if package in ("dask", "dask_expr") and hasattr(X, "__dask_graph__"):
        return "dask"
    return None
