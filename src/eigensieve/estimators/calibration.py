"""Scores of held-out samples, checked for what a threshold needs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d


def positive_scores(estimator: Any, X: Any) -> NDArray:
    """Return one score a sample, larger for the second class."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X)[:, 1], dtype=np.float64)
    raise ValueError(
        f"The 'rejector' must have decision_function or predict_proba. Got {type(estimator).__name__} instead."
    )


def calibration_scores(
    estimator: Any, X: Any, y: Any, max_false_negative_rate: float, confidence: float | None
) -> tuple[NDArray, NDArray]:
    """Return the scores and which samples are of the second class, or say what is missing."""
    check_is_fitted(estimator)
    classes = estimator.classes_
    if not 0 < max_false_negative_rate < 1:
        raise ValueError(
            f"The 'max_false_negative_rate' parameter must be a float in the range (0, 1). "
            f"Got {max_false_negative_rate!r} instead."
        )
    if confidence is not None and not 0 < confidence < 1:
        raise ValueError(
            f"The 'confidence' parameter must be None or a float in the range (0, 1). Got {confidence!r} instead."
        )
    if len(classes) != 2:
        raise ValueError(f"A threshold can be calibrated for two classes only. Got {len(classes)} classes instead.")
    y = column_or_1d(y)
    for label in classes:
        if not np.any(y == label):
            raise ValueError(
                f"Class {label!r} is missing from the calibration data. Calibrate on held-out samples of both classes, "
                f"{classes[0]!r} and {classes[1]!r}."
            )
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(f"The calibration data hold labels that were not seen in fit: {unknown.tolist()}.")
    return positive_scores(estimator, X), y == classes[1]
