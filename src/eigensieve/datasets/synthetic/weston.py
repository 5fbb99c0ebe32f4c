"""The two-class problems of Weston et al. (2001), used by the 2003 and 2005 papers."""

import numpy as np

from eigensieve.datasets.synthetic.result import RandomState, SyntheticData, check_range

_NOISE = 20.0
"""The papers write N(0, 20): read as a deviation, it makes no difference to methods that standardise the features."""


def make_weston_linear(
    n_samples: int = 100, n_features: int = 202, *, random_state: RandomState = None
) -> SyntheticData:
    """The linear two-class problem of Weston et al. (2001): 6 relevant features of 202.

    The label `y` is -1 or 1 with equal probability. With probability 0.7

    ``x_i = y N(i, 1)`` for i = 1, 2, 3 and ``x_j = N(0, 1)`` for j = 4, 5, 6,

    otherwise ``x_i = N(0, 1)`` for i = 1, 2, 3 and ``x_j = y N(j - 3, 1)`` for j = 4, 5, 6. All other
    features are ``N(0, 20)`` (2003 and 2005 papers, section 6).

    Parameters
    ----------
    n_samples : int
        How many samples.
    n_features : int
        At least 6.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData
        Labels -1 and 1; features 0 to 5 are relevant.
    """
    check_range("make_weston_linear", n_samples=(n_samples, 1), n_features=(n_features, 6))
    rng = np.random.default_rng(random_state)
    y = rng.choice([-1, 1], size=n_samples)
    first = rng.random(n_samples) < 0.7
    means = np.zeros((n_samples, 6))
    means[first, :3] = [1.0, 2.0, 3.0]
    means[~first, 3:] = [1.0, 2.0, 3.0]
    return _among_noise(rng, y, y[:, None] * means, n_features)


def make_weston_nonlinear(
    n_samples: int = 100, n_features: int = 52, *, random_state: RandomState = None
) -> SyntheticData:
    """The non-linear two-class problem of Weston et al. (2001): 2 relevant features of 52.

    Each class is a mixture, with equal weights, of two unit normals in the first two features: centres
    (-3/4, -3) and (3/4, 3) for y = -1, centres (3, -3) and (-3, 3) for y = 1. Neither feature separates the
    classes alone and no line separates them together. All other features are ``N(0, 20)``. The 2003 and
    2005 papers (section 6) refer to Weston et al., "Feature selection for SVMs", NIPS 2000, section 5, for
    this definition.

    Parameters
    ----------
    n_samples : int
        How many samples.
    n_features : int
        At least 2.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData
        Labels -1 and 1; features 0 and 1 are relevant.
    """
    check_range("make_weston_nonlinear", n_samples=(n_samples, 1), n_features=(n_features, 2))
    rng = np.random.default_rng(random_state)
    y = rng.choice([-1, 1], size=n_samples)
    side = rng.choice([-1, 1], size=n_samples)
    center = np.where(y[:, None] == -1, [0.75, 3.0], [-3.0, 3.0])
    return _among_noise(rng, y, side[:, None] * center, n_features)


def _among_noise(rng: np.random.Generator, y: np.ndarray, means: np.ndarray, n_features: int) -> SyntheticData:
    """Draw unit normals about `means` in the first features, and noise in all others."""
    n_relevant = means.shape[1]
    X = rng.normal(scale=_NOISE, size=(len(y), n_features))
    X[:, :n_relevant] = means + rng.normal(size=means.shape)
    return SyntheticData(X, y, np.arange(n_features) < n_relevant)
