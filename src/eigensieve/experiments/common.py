"""What several experiments share."""

from collections.abc import Callable

import numpy as np

from eigensieve._types import Array
from eigensieve.datasets import load_real


def largest(scores: Array, count: int) -> Array:
    """Return the indices of the largest scores, largest first; of equal scores the first come first."""
    return np.argsort(-scores, kind="stable")[:count]


def complete_set(name: str, fill: Callable[..., Array]) -> tuple[Array, Array]:
    """Return the features and the classes (0, 1, ...) of a real set.

    Parameters
    ----------
    name : str
    fill : callable
        Gives the value that replaces the missing ones, per column; `numpy.nanmean` or `numpy.nanmedian`.
    """
    bunch = load_real(name)
    X = np.asarray(bunch.data, dtype=np.float64)
    missing = np.isnan(X)
    if missing.any():
        X = np.where(missing, fill(X, axis=0), X)
    return X, np.unique(bunch.target, return_inverse=True)[1]
