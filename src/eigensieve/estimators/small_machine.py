"""What every rewritten kernel machine does once it is fitted: decide, predict, and have its threshold set."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from eigensieve.elements import rejection_threshold
from eigensieve.estimators.calibration import calibration_scores

FLOATS = [np.float64, np.float32]


class SmallMachine(ClassifierMixin, BaseEstimator):
    """A classifier with decision values f(x); `fit` sets `classes_` and `threshold_`."""

    classes_: NDArray
    threshold_: float

    @abstractmethod
    def _decisions(self, X: NDArray) -> NDArray:
        """Return f (samples x outputs)."""

    def decision_function(self, X: Any) -> NDArray:
        """Return the decision values of the small machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        decisions = self._decisions(validate_data(self, X, dtype=FLOATS, reset=False))
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Any) -> NDArray:
        """Return the predicted classes; with two classes, the second where the decision value exceeds `threshold_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        decisions = self.decision_function(X)
        if decisions.ndim == 1:
            return np.asarray(self.classes_[(decisions > self.threshold_).astype(np.intp)])
        return np.asarray(self.classes_[decisions.argmax(axis=1)])

    def calibrate(
        self, X: Any, y: Any, *, max_false_negative_rate: float = 0.02, confidence: float | None = None
    ) -> Self:
        """Set `threshold_` on held-out data so that at most the given share of the second class is lost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples that `fit` has not seen.
        y : array-like of shape (n_samples,)
            Their classes; both must occur.
        max_false_negative_rate : float, default=0.02
        confidence : float, default=None
            Probability with which the rate holds for this very threshold. None: it holds on average.

        Returns
        -------
        self : object
        """
        scores, positive = calibration_scores(self, X, y, max_false_negative_rate, confidence)
        # `predict` takes what exceeds the threshold, a rejector what is not below it.
        threshold = rejection_threshold(scores[positive], max_false_negative_rate, confidence)
        self.threshold_ = float(np.nextafter(threshold, -np.inf))
        return self
