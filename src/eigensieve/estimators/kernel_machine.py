"""From a scikit-learn SVC or SVR, fitted or not, to its kernel expansion."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.validation import validate_data

from eigensieve._errors import wrong_parameter
from eigensieve._sklearn import is_fitted
from eigensieve._types import Array, FloatArray, MatrixLike
from eigensieve.elements import FullExpansion, MaskedKernel, check_kernel_name, solve_weights


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """A fitted machine f(x) = sum_j alpha_j k(x, b_j) + intercept. Beyond two classes there is one f per class."""

    source: Any  # the fitted scikit-learn object
    classes: Array  # empty for a regression
    full: FullExpansion  # f as plain arrays
    on_training: Callable[[], FloatArray]  # f on the training samples, samples x outputs

    @cached_property
    def decisions(self) -> FloatArray:
        """f on the training samples (samples x outputs); nothing computes it if the labels are matched."""
        return self.on_training()


def is_given(estimator: BaseEstimator) -> bool:
    """Return whether a machine is handed over fitted, plain or inside `FrozenEstimator`."""
    return estimator is not None and (isinstance(estimator, FrozenEstimator) or is_fitted(estimator))


def given_machine(estimator: BaseEstimator, owner: str, kinds: tuple[Any, Any]) -> tuple[Any, bool]:
    """Return the user's machine without `FrozenEstimator`, and whether it is fitted."""
    machine = estimator
    frozen = isinstance(machine, FrozenEstimator)
    if frozen:
        machine = machine.estimator
    name = kinds[0].__name__
    if not isinstance(machine, kinds):
        raise wrong_parameter("estimator", owner, f"be an {name}, fitted or not, or None", repr(estimator))
    check_kernel_name(machine.kernel)
    fitted = is_fitted(machine)
    if frozen and not fitted:
        raise NotFittedError(f"The {name} inside FrozenEstimator is not fitted. Fit it before handing it to {owner}.")
    return machine, fitted


def resolve_classifier(svc: Any, fitted: bool, X: MatrixLike, X_valid: FloatArray, y: Array) -> KernelMachine:
    """Return the expansion of a fitted SVC, or of one fitted here on (X, y), with its decision values.

    With more than two classes an unfitted SVC is fitted one-vs-rest. A fitted one is matched by its own one-vs-rest
    decision values.
    """
    if not fitted and np.unique(y).size > 2:
        return _from_one_vs_rest(OneVsRestClassifier(clone(svc)).fit(X_valid, y), X_valid)
    if not fitted:
        svc, X = clone(svc).fit(X_valid, y), X_valid
    # X as the user gave it: feature names and counts are compared with those the SVC was fitted on.
    validate_data(svc, X, reset=False, skip_check_array=True)
    if len(svc.classes_) == 2:
        return _single_output(svc, svc.classes_, X_valid)
    per_class = copy.copy(svc)
    per_class.decision_function_shape = "ovr"  # one column per class, even if it was asked for one-vs-one
    kernel, basis, values = MaskedKernel.from_svc(svc), _dense(svc.support_vectors_), per_class.decision_function(X)
    # No single expansion yields the votes exactly: these weights come close.
    alpha, intercept = solve_weights(kernel.full(X_valid.astype(np.float64), basis), values, 1e-6)
    return KernelMachine(svc, svc.classes_, FullExpansion(kernel, basis, alpha, intercept), lambda: values)


def resolve_regressor(svr: Any, fitted: bool, X: MatrixLike, X_valid: FloatArray, y: Array) -> KernelMachine:
    """Return the expansion of a fitted SVR, or of one fitted here on (X, y), with its predictions."""
    if not fitted:
        svr, X = clone(svr).fit(X_valid, y), X_valid
    validate_data(svr, X, reset=False, skip_check_array=True)
    return _single_output(svr, np.empty(0), X_valid)


def _dense(vectors: Any) -> FloatArray:
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)


def as_expansion(machine: BaseEstimator) -> FullExpansion:
    """Return a fitted machine of one output as plain arrays."""
    basis, alpha = _dense(machine.support_vectors_), _dense(machine.dual_coef_).reshape(1, -1).T
    return FullExpansion(MaskedKernel.from_svc(machine), basis, alpha, np.atleast_1d(machine.intercept_))


def _single_output(machine: BaseEstimator, classes: Array, X: FloatArray) -> KernelMachine:
    full = as_expansion(machine)
    if not len(full.basis):  # all targets lie within epsilon of a constant
        full = replace(full, basis=X[:1].astype(np.float64), alpha=np.zeros((1, 1)))
    return KernelMachine(machine, classes, full, partial(full.decision, X))


def _from_one_vs_rest(machine: BaseEstimator, X: FloatArray) -> KernelMachine:
    parts = machine.estimators_
    rows = np.unique(np.concatenate([part.support_ for part in parts]))
    alpha = np.zeros((rows.size, len(parts)))
    for k, part in enumerate(parts):
        alpha[np.searchsorted(rows, part.support_), k] = _dense(part.dual_coef_).ravel()
    intercept = np.array([part.intercept_[0] for part in parts])
    full = FullExpansion(MaskedKernel.from_svc(parts[0]), X[rows], alpha, intercept)
    return KernelMachine(machine, machine.classes_, full, partial(machine.decision_function, X))
