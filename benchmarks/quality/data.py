"""Labelled data sets by name, ready for selectors: dense float32, missing values filled in by the mean."""

from functools import lru_cache

import numpy as np

from eigensieve.datasets import load_real

DEVELOPMENT = (
    "COIL20",
    "ORL_32x32",
    "Yale_32x32",
    "Isolet",
    "warpPIE10P",
    "USPS",
    "leukemia_golub",
    "colon_alon",
    "GLIOMA",
    "BASEHOCK",
    "yan_embryo",
    "pbmc68k_reduced",
)


@lru_cache(maxsize=2)
def load(name: str, max_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X (samples x features) and labels 0..c-1, at most `max_samples` rows drawn once and for all.

    ``NAME.npz`` paths are read as well, so that sets outside the data folder can be run: they need X and y.
    """
    if name.endswith(".npz"):
        with np.load(name, allow_pickle=False) as stored:
            X, y = stored["X"], stored["y"]
    else:
        bunch = load_real(name)
        X, y = bunch.data, bunch.target
    X = X.toarray() if hasattr(X, "toarray") else X
    y = np.unique(np.asarray(y), return_inverse=True)[1]
    if len(y) > max_samples:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:max_samples])
        X, y = X[rows], y[rows]
    X = np.array(X, dtype=np.float32)
    missing = np.isnan(X)
    if missing.any():
        means = np.nanmean(np.where(missing.all(axis=0), 0.0, X), axis=0)
        X = np.where(missing, means.astype(np.float32), X)
    return X, y


def standardized(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1; constant columns 0."""
    Z = X.astype(np.float64)
    Z -= Z.mean(axis=0)
    deviation = Z.std(axis=0)
    vary = deviation > 1e-9 * max(1e-300, deviation.max())
    return np.where(vary, Z / np.where(vary, deviation, 1.0), 0.0)
