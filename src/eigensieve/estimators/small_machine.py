"""Kernel machines written with few numbers: their common base, and thresholds set on held-out samples."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.svm import SVC, NuSVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from eigensieve._errors import wrong_parameter
from eigensieve._types import Array, BoolArray, FloatArray, JsonDict, MatrixLike
from eigensieve.elements import rejection_threshold
from eigensieve.estimators.base import Estimator, check_columns
from eigensieve.estimators.kernel_machine import KernelMachine, given_machine, resolve_classifier

_LARGEST = 1e12
FLOATS = [np.float64, np.float32]


class SmallMachine(Estimator):
    """A machine with values f(x). `fit` of a subclass begins with `_read` and ends with `_learn_machine`."""

    estimator: BaseEstimator
    _kinds: tuple[Any, Any]  # the scikit-learn classes of the machine
    _usual: Any  # the machine that ``estimator=None`` stands for

    def _given(self) -> tuple[Any, bool]:
        return given_machine(
            self._usual if self.estimator is None else self.estimator, type(self).__name__, self._kinds
        )

    def _read(self, X: MatrixLike, y: Any) -> tuple[FloatArray, Array]:
        check_columns(X)
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds the values up
            X, y = validate_data(self, X, y, dtype=FLOATS, y_numeric=is_regressor(self))
        self._check_targets(y)
        self._check_scale(X, "X")
        return X, y

    @abstractmethod
    def fit(self, X: MatrixLike, y: Any) -> Self:
        """Fit the small machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows; if a machine is matched, best those it was fitted on.
        y : array-like of shape (n_samples,)
            Labels of the samples, or numbers for a regression.
        """

    @abstractmethod
    def _check_targets(self, y: Array) -> None:
        """Raise a ValueError for labels that do not fit the machine."""

    def _check_scale(self, values: FloatArray, what: str) -> None:
        """Refuse values whose squares and reciprocals a kernel in single precision cannot be computed with."""
        largest = float(np.abs(values).max(initial=0.0))
        if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
            raise ValueError(
                f"Input {what} has values of magnitude up to {largest:.1e}. {type(self).__name__} needs this to be "
                f"between {1 / _LARGEST:.0e} and {_LARGEST:.0e}: it computes in single precision. Scale {what} first, "
                "for example with sklearn.preprocessing.StandardScaler."
            )

    @abstractmethod
    def _resolve(self, X: MatrixLike, X_valid: FloatArray, y: Array) -> KernelMachine:
        """Return the machine to rewrite, fitted here if it was not."""

    def _learn_machine(self, machine: KernelMachine | None, intercept: FloatArray, y: Array) -> None:
        """Set the learned attributes that all small machines have. Without a machine, the labels y say the classes."""
        if machine is not None:
            self.estimator_ = machine.source
        self.intercept_ = intercept

    def __setstate__(self, state: JsonDict) -> None:
        super().__setstate__(state)
        expansion = getattr(self, "_expansion", None)
        if expansion is not None and expansion.n_features != self.n_features_in_:
            raise ValueError("The machine does not have as many features as n_features_in_ says.")

    @abstractmethod
    def _decisions(self, X: FloatArray) -> FloatArray:
        """Return f (samples x outputs)."""

    @abstractmethod
    def _predicted(self, values: FloatArray) -> Array:
        """Return the predictions for f (samples x outputs)."""

    def predict(self, X: MatrixLike) -> Array:
        """Return the predicted numbers, or classes; of two classes the second where f exceeds `threshold_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.
        """
        return self._predicted(self._values(X))

    def _values(self, X: MatrixLike) -> FloatArray:
        """Return f (samples x outputs) of data as the user gives them."""
        check_is_fitted(self)
        check_columns(X)
        with np.errstate(over="ignore", invalid="ignore"):
            X = validate_data(self, X, dtype=FLOATS, reset=False)
        return self._decisions(X)


class SmallClassifier(ClassifierMixin, SmallMachine):
    """A small machine for classes."""

    _kinds, _usual = (SVC, NuSVC), SVC(C=10)
    classes_: Array
    threshold_: float

    def _check_targets(self, y: Array) -> None:
        check_classification_targets(y)

    def _resolve(self, X: MatrixLike, X_valid: FloatArray, y: Array) -> KernelMachine:
        return resolve_classifier(*self._given(), X, X_valid, y)

    def _learn_machine(self, machine: KernelMachine | None, intercept: FloatArray, y: Array) -> None:
        super()._learn_machine(machine, intercept, y)
        self.classes_ = np.unique(y) if machine is None else machine.classes
        self.threshold_ = 0.0

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return the decision values of the small machine; of more than two classes one column per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.
        """
        decisions = self._values(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def _predicted(self, values: FloatArray) -> Array:
        second = (values[:, 0] > self.threshold_).astype(np.intp)
        return np.asarray(self.classes_[second if values.shape[1] == 1 else values.argmax(axis=1)])

    def calibrate(
        self, X: MatrixLike, y: ArrayLike, *, max_false_negative_rate: float = 0.02, confidence: float | None = None
    ) -> Self:
        """Set `threshold_` on held-out data so that at most the given share of the second class is lost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples that `fit` has not seen.
        y : array-like of shape (n_samples,)
            Their classes; both must occur.
        max_false_negative_rate : float, default=0.02
            The share of positive samples that may be lost.
        confidence : float, default=None
            Probability with which the rate holds for this very threshold. None: it holds on average.
        """
        scores, positive = calibration_scores(self, X, y, max_false_negative_rate, confidence)
        # `predict` takes values above the threshold, a rejector also those at it.
        threshold = rejection_threshold(scores[positive], max_false_negative_rate, confidence)
        self.threshold_ = float(np.nextafter(threshold, -np.inf))
        return self


def positive_scores(estimator: BaseEstimator, X: MatrixLike) -> FloatArray:
    """Return one score per sample, larger for the second class."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X)[:, 1], dtype=np.float64)
    raise ValueError(
        f"The 'rejector' must have decision_function or predict_proba. Got {type(estimator).__name__} instead."
    )


def calibration_scores(
    estimator: BaseEstimator, X: MatrixLike, y: ArrayLike, max_false_negative_rate: float, confidence: float | None
) -> tuple[FloatArray, BoolArray]:
    """Return the scores, and which samples are of the second class. Raise when a class is missing."""
    check_is_fitted(estimator)
    classes = estimator.classes_
    owner, must = f"{type(estimator).__name__}.calibrate", "be a float in the range (0, 1)"
    if not 0 < max_false_negative_rate < 1:
        raise wrong_parameter("max_false_negative_rate", owner, must, repr(max_false_negative_rate))
    if confidence is not None and not 0 < confidence < 1:
        raise wrong_parameter("confidence", owner, f"be None or {must[3:]}", repr(confidence))
    if len(classes) != 2:
        raise ValueError(f"A threshold can be calibrated for two classes only. Got {len(classes)} classes instead.")
    y = column_or_1d(y)
    names = classes.tolist()
    for label in names:
        if not np.any(y == label):
            raise ValueError(
                f"Class {label!r} is missing from the calibration data. Calibrate on held-out samples of both classes, "
                f"{names[0]!r} and {names[1]!r}."
            )
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(
            f"The calibration data hold labels that were not seen in fit: {unknown.tolist()}. Leave these samples "
            "out, or fit again with them."
        )
    return positive_scores(estimator, X), y == classes[1]
