"""What a selector knows about weights without structure, whichever way it tells."""

from typing import Any

import numpy as np

from eigensieve._types import Array


def null_quantiles(model: Any) -> Array | None:
    """For each feature, the fraction of features with broken dependence that it stands above; None if unknown."""
    p_values = getattr(model, "p_values_", None)
    if p_values is not None:
        return 1.0 - np.asarray(p_values, dtype=np.float64)
    return None


def null_weight(model: Any) -> float | None:
    """The weight that features with broken dependence hardly reach; None if unknown."""
    level = getattr(model, "null_quantile_", None)
    return float(level) if level is not None and np.ndim(level) == 0 and np.isfinite(level) else None
