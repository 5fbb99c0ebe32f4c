"""Whether zero means something in the data: then a feature's mean is evidence, and is not to be centred away."""

import numpy as np
from scipy.stats import f

from eigensieve.data import DataMatrix

_MOSTLY = 0.6  # clearly more than half
_CHANCE = 0.01


def zero_is_meaningful(data: DataMatrix) -> bool:
    """Tell whether most features lie evenly about zero and some do not.

    With t_i = mean_i / (deviation_i / sqrt(q)), a feature that lies evenly about zero has a t_i^2 below its null median
    (0.46) half of the time, so twice the share of such features estimates how many lie evenly. When that is at least
    0.6, zero is the place where the data puts a feature that shows nothing (log ratios, differences, noise about
    a baseline), and a mean beyond chance, t_i^2 above the 0.01 / n quantile, is structure. Otherwise (pixels, counts,
    expression levels, data centred already) the means are a matter of units.

    Parameters
    ----------
    data : DataMatrix
        Raw values.
    """
    stats = data.stats()
    vary = ~stats.constant
    q = data.n_samples
    t_squared = q * (q - 1) * (stats.mean[vary] / stats.centered_norm[vary]) ** 2
    even = 2.0 * np.mean(t_squared < f.median(1, q - 1))
    return bool(even >= _MOSTLY and t_squared.max() > f.isf(_CHANCE / len(t_squared), 1, q - 1))
