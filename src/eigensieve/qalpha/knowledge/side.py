"""Side data: samples that vary in the ways that are not wanted (2004, section 3)."""

from dataclasses import replace

import numpy as np

from eigensieve._types import Array
from eigensieve.data import ColumnStats
from eigensieve.qalpha.problem import Result


def side_variances(main: ColumnStats, side: ColumnStats) -> Array:
    """D: variance of each feature over the side samples, on the main data's scale; 0 for constant main features."""
    ratio = np.zeros(len(main.mean))
    np.divide(np.sqrt(side.variance), np.sqrt(main.variance), out=ratio, where=~main.constant)
    return ratio**2


def inhibition(variances: Array, strength: float) -> Array:
    """s_i = (D_i + lambda)^-1/2, so that the weights (D + lambda I)^-1 G asks for are S b for the b of S G S."""
    return 1.0 / np.sqrt(variances + strength)


def unscaled(result: Result, scale: Array) -> Result:
    """Turn the solution b of the symmetric form into unit weights w = S b / |S b|."""
    weights = scale * result.weights
    size = float(np.linalg.norm(weights))
    sign = -1.0 if weights.sum() < 0 else 1.0
    return replace(result, weights=sign * weights / size, eigenvalues=sign * result.eigenvalues / size)
