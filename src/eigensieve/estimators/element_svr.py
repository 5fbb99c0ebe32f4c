"""A kernel SVM for numbers (support vector regression) rewritten with a few (feature, support vector) elements."""

from typing import Any

from sklearn.base import RegressorMixin

from eigensieve._types import Array
from eigensieve.elements import SQUARED, Goal
from eigensieve.estimators.element_machine import ElementMachine, Matched
from eigensieve.estimators.kernel_machine import KernelMachine, resolve_regressor


class ElementSelectedSVR(RegressorMixin, ElementMachine):
    """A support vector regression rewritten with few elements of its (features x support vectors) mask.

    The counterpart of :class:`ElementSelectedSVC` for numbers. Predictions are

        f(x) = intercept + sum_j beta_j k(x * m_j, b_j * m_j)

    Parameters
    ----------
    estimator : SVR, default=None
        The machine to rewrite, with kernel "rbf", "poly" or "linear". A fitted one is used as it is; an unfitted one is
        fitted first. None means ``SVR()``.
    match : {"decision", "kernel", "labels"}, default="decision"
        What the masked columns reproduce: the predictions of the machine, its kernel matrix, or the targets y
        themselves. With "labels", columns are added and all weights refitted to lower the squared error. Only for the
        rbf kernel, shape "element" and search "guided".
    n_elements, shape, search, widths, tol, refine, ridge, table_size, warm_start, random_state, verbose
        As in :class:`ElementSelectedSVC`.
    n_candidates, sample_fraction, chunk_size, n_tries, n_prototypes, prototype_size
        As in :class:`ElementSelectedSVC`.

    Attributes
    ----------
    mask_, support_vectors_, dual_coef_, widths_, intercept_, n_elements_, table_error_bound_, prototypes_
        As in :class:`ElementSelectedSVC`.
    path_ : ndarray
        Relative squared error of what is matched, after each addition.
    estimator_ : SVR
        The fitted machine.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.svm import SVR
    >>> from eigensieve import ElementSelectedSVR
    >>> X, y = make_friedman1(n_samples=300, random_state=0)
    >>> model = ElementSelectedSVR(SVR(C=10), n_elements=40, match="labels", random_state=0).fit(X, y)
    >>> model.n_elements_
    40
    """

    def _check_targets(self, y: Array) -> None:
        self._check_scale(y, "y")

    def _resolve(self, X: Any, X_valid: Array, y: Array) -> KernelMachine:
        return resolve_regressor(self.estimator, type(self).__name__, X, X_valid, y, decisions=self._reads_decisions)

    def _goal(self, machine: KernelMachine, y: Array, ridge: float) -> Goal:
        return Goal(SQUARED, y[:, None], ridge)

    def _match_labels(self, machine: KernelMachine, X: Array, y: Array) -> Matched:
        # In units of their spread: the ridge term then means the same for all targets.
        middle, unit = float(y.mean()), float(y.std()) or 1.0
        basis, selection, expansion = super()._match_labels(machine, X, (y - middle) / unit)
        return basis, selection, expansion.rescaled(unit, middle)

    def predict(self, X: Any) -> Array:
        """Return the predicted numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
        """
        return self._values(X)[:, 0]
