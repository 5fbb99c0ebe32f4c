"""The result of the synthetic generators, and their shared checks."""

from typing import NamedTuple

import numpy as np

from eigensieve._errors import wrong_parameter

RandomState = int | np.random.Generator | None


class SyntheticData(NamedTuple):
    """Samples, labels and the truth about the features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples in rows.
    y : ndarray of shape (n_samples,)
        Integer labels. They describe how the data was made; unsupervised methods must not see them.
    relevant : ndarray of bool of shape (n_features,)
        True for the features that carry the structure.
    """

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray


def features_at(positions: np.ndarray, n_features: int) -> np.ndarray:
    """Mask of the features at `positions`."""
    mask = np.zeros(n_features, dtype=bool)
    mask[positions] = True
    return mask


def check_range(generator: str, **values: tuple[float, float] | tuple[float, float, float]) -> None:
    """Raise unless every ``name=(value, smallest)`` and every ``name=(value, smallest, largest)`` is in its range."""
    for name, (value, low, *high) in values.items():
        if not low <= value <= max(high, default=np.inf):
            allowed = f"between {low} and {high[0]}" if high else f"at least {low}"
            raise wrong_parameter(name, generator, f"be {allowed}", repr(value))
