"""What a fitted selector says about its features, whichever selector it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigensieve._types import Array


@dataclass(frozen=True)
class Findings:
    """What a fitted selector found, for reports, pictures and tables.

    Attributes
    ----------
    support : ndarray of bool of shape (n_features,)
    order : ndarray of int of shape (n_features,)
        All features, best first; the selected ones lead.
    ranks : ndarray of int of shape (n_features,)
        Place of every feature in `order`, from 1.
    weights : ndarray of float64 of shape (n_features,)
        Weights, or scores where the selector has no weights. A score may be infinite.
    weight_name : {"weight", "score"}
    null_quantiles : ndarray of shape (n_features,) or None
        Per feature, the fraction of permuted copies (same values, broken dependence) that it stands above.
    null_weight : float or None
        The weight that permuted copies hardly reach.
    """

    support: Array
    order: Array
    ranks: Array
    weights: Array
    weight_name: str
    null_quantiles: Array | None
    null_weight: float | None

    @classmethod
    def of(cls, model: Any) -> "Findings":
        """Return what a fitted selector found.

        Parameters
        ----------
        model : estimator
            A fitted selector with `ranking_` and `weights_` or `scores_`.
        """
        check_is_fitted(model)
        by_weight = getattr(getattr(model, "weights_", None), "ndim", 0) == 1
        if not by_weight and not hasattr(model, "scores_"):
            raise TypeError(
                f"The model must be a fitted selector with 'weights_' or 'scores_'. Got {type(model).__name__} instead."
            )
        p_values = getattr(model, "p_values_", None)
        level: Any = getattr(model, "null_quantile_", None)
        known = by_weight and level is not None and np.ndim(level) == 0 and np.isfinite(level)
        return cls(
            support=np.asarray(model.get_support(), dtype=bool),
            order=np.argsort(model.ranking_, kind="stable"),
            ranks=np.asarray(model.ranking_),
            weights=np.asarray(model.weights_ if by_weight else model.scores_, dtype=np.float64),
            weight_name="weight" if by_weight else "score",
            null_quantiles=None if p_values is None else 1.0 - np.asarray(p_values, dtype=np.float64),
            null_weight=float(level) if known else None,
        )
