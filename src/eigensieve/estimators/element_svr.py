"""A kernel SVM for numbers (support vector regression) rewritten with a few (feature, support vector) elements."""

from sklearn.base import RegressorMixin
from sklearn.svm import SVR, NuSVR

from eigensieve._types import FloatArray, MatrixLike
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
        The machine to rewrite, as the SVC of :class:`ElementSelectedSVC`. None means ``SVR()``. If the targets are
        matched, none is trained or used.
    match : {"auto", "labels", "decision", "kernel"}, default="auto"
        What the masked columns reproduce: the targets y themselves ("labels", by the squared error), the predictions of
        the machine, or its kernel matrix. "auto" as in :class:`ElementSelectedSVC`.
    n_elements, shape, search, n_tries, refine, ridge, tol, table_size, random_state, verbose
        As in :class:`ElementSelectedSVC`.

    Attributes
    ----------
    mask_, support_vectors_, dual_coef_, widths_, intercept_, n_elements_, match_, table_error_bound_, prototypes_
        As in :class:`ElementSelectedSVC`.
    path_ : ndarray
        Relative squared error after each addition.
    estimator_ : SVR
        The fitted machine, if there is one.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from eigensieve import ElementSelectedSVR
    >>> X, y = make_friedman1(n_samples=300, random_state=0)
    >>> model = ElementSelectedSVR(n_elements=40, random_state=0).fit(X, y)
    >>> model.n_elements_
    40
    """

    _kinds, _usual = (SVR, NuSVR), SVR()

    def _check_targets(self, y: FloatArray) -> None:
        self._check_scale(y, "y")

    def _resolve(self, X: MatrixLike, X_valid: FloatArray, y: FloatArray) -> KernelMachine:
        return resolve_regressor(*self._given(), X, X_valid, y)

    def _goal(self, y: FloatArray, ridge: float) -> Goal:
        return Goal(SQUARED, y[:, None], ridge)

    def _match_labels(self, machine: KernelMachine | None, X: FloatArray, y: FloatArray) -> Matched:
        # In units of their spread: the ridge term then means the same for all targets.
        middle, unit = float(y.mean()), float(y.std()) or 1.0
        basis, selection, expansion = super()._match_labels(machine, X, (y - middle) / unit)
        return basis, selection, expansion.rescaled(unit, middle)

    def _predicted(self, values: FloatArray) -> FloatArray:
        return values[:, 0]
