"""What must hold of the arrays of a loaded model, whoever wrote the file: their types and lengths fit together."""

from typing import Any

import numpy as np

_FEATURES = {
    "support_": "b",
    "ranking_": "iu",
    "weights_": "f",
    "scores_": "f",
    "p_values_": "f",
    "between_scatter_": "f",
    "within_scatter_": "f",
    "relevance_": "f",
    "coordinates_": "f",
    "rounds_": "iu",
    "projections_": "f",
}
"""Learned arrays with one row per feature, and the kinds of numbers that they hold."""

_NUMBERS = (
    "embedding_",
    "eigenvalues_",
    "intercept_",
    "dual_coef_",
    "vectors_",
    "support_vectors_",
    "path_",
    "structure_shown_",
)
"""Other learned arrays of numbers."""


def misfit(model: Any) -> str | None:
    """Return what is wrong with the learned arrays of a model, or None if they fit together.

    Parameters
    ----------
    model : estimator
        As a file gave it.
    """
    learned = vars(model)
    n_features = learned.get("n_features_in_")
    if n_features is None:
        return None if "support_" not in learned else "it has no n_features_in_"
    if not isinstance(n_features, int | np.integer) or n_features < 1:
        return f"n_features_in_ is {n_features!r}"
    n_features = int(n_features)
    for name, kinds in _FEATURES.items():
        value = learned.get(name)
        if value is not None and not _is_array(value, kinds, n_features):
            return f"{name} is not an array of {n_features} rows of the right type"
    for name in _NUMBERS:
        value = learned.get(name)
        if value is not None and not (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
            return f"{name} is not an array of numbers"
    ranking, support = learned.get("ranking_"), learned.get("support_")
    if ranking is not None and ranking.ndim == 1 and not np.array_equal(np.sort(ranking), np.arange(1, n_features + 1)):
        return "ranking_ does not give every rank once"
    if support is not None and support.ndim != 1:
        return "support_ is not a mask of the features"
    vectors = learned.get("vectors_", learned.get("support_vectors_"))
    if vectors is not None and (vectors.ndim != 2 or vectors.shape[1] != n_features):
        return f"its vectors do not have {n_features} features"
    return None


def _is_array(value: Any, kinds: str, length: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim >= 1 and len(value) == length
