"""From a scikit-learn SVC or SVR, fitted or not, to its kernel expansion."""

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils.validation import validate_data

from eigensieve._sklearn import is_fitted
from eigensieve._types import Array
from eigensieve.elements import FullExpansion, MaskedKernel, check_kernel_name


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """A fitted machine f(x) = sum_j alpha_j k(x, b_j) + intercept. Beyond two classes there is one f per class.

    Parameters
    ----------
    source : SVC, NuSVC, OneVsRestClassifier, SVR or NuSVR
        The fitted scikit-learn object.
    classes : ndarray
        Empty for a regression.
    kernel : MaskedKernel
    basis : ndarray of shape (n_basis, n_features)
        Support vectors.
    alpha : ndarray of shape (n_basis, n_outputs)
    decisions : ndarray of shape (n_samples, n_outputs)
        f on the training samples. Empty, as is `alpha` beyond two classes, if nobody asked for it.
    """

    source: Any
    classes: Array
    kernel: MaskedKernel
    basis: Array
    alpha: Array
    decisions: Array

    def matched_on(self, X: Any, n_samples: int) -> "KernelMachine":
        """Return the machine with its decision values on other samples."""
        values = _one_vs_rest(self.source, X) if self.classes.size else self.source.predict(X)
        return replace(self, decisions=values.reshape(n_samples, -1))


def resolve_machine(estimator: Any, owner: str, X: Any, X_valid: Array, y: Array, *, decisions: bool) -> KernelMachine:
    """Return the expansion of a fitted SVC, or of one fitted here on (X, y), with its decision values on request.

    A fitted SVC, plain or inside `FrozenEstimator`, is used as it is. With more than two classes an unfitted SVC is
    fitted one-vs-rest. A fitted one is matched by its own one-vs-rest decision values.
    """
    svc, fitted = _given(estimator, owner, (SVC, NuSVC))
    if fitted:
        return _from_fitted(svc, X, X_valid, decisions)
    if np.unique(y).size <= 2:
        return _from_fitted(clone(svc).fit(X_valid, y), X_valid, X_valid, decisions)
    return _from_one_vs_rest(OneVsRestClassifier(clone(svc)).fit(X_valid, y), X_valid)


def resolve_regressor(
    estimator: Any, owner: str, X: Any, X_valid: Array, y: Array, *, decisions: bool
) -> KernelMachine:
    """Return the expansion of a fitted SVR, or of one fitted here on (X, y), with its predictions on request."""
    svr, fitted = _given(estimator, owner, (SVR, NuSVR))
    if not fitted:
        svr, X = clone(svr).fit(X_valid, y), X_valid
    # X as the user gave it: feature names and counts are compared with those the SVR was fitted on.
    validate_data(svr, X, reset=False, skip_check_array=True)
    return _single_output(svr, np.empty(0), X_valid, decisions)


def _given(estimator: Any, owner: str, kinds: tuple[Any, Any]) -> tuple[Any, bool]:
    """Return the user's machine, or the usual one of its kind, and whether it is fitted."""
    machine: Any = kinds[0]() if estimator is None else estimator
    frozen = isinstance(machine, FrozenEstimator)
    if frozen:
        machine = machine.estimator
    name = kinds[0].__name__
    if not isinstance(machine, kinds):
        raise ValueError(
            f"The 'estimator' parameter of {owner} must be an {name}, fitted or not, or None. "
            f"Got {estimator!r} instead."
        )
    check_kernel_name(machine.kernel)
    fitted = is_fitted(machine)
    if frozen and not fitted:
        raise NotFittedError(f"The {name} inside FrozenEstimator is not fitted. Fit it before handing it to {owner}.")
    return machine, fitted


def _one_vs_rest(source: Any, X: Any) -> Array:
    """Return decision values with one column per class, even if the SVC was asked for one-vs-one."""
    if hasattr(source, "decision_function_shape"):
        source = copy.copy(source)
        source.decision_function_shape = "ovr"
    return source.decision_function(X)


def _dense(vectors: Any) -> Array:
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)


def _from_fitted(svc: Any, X: Any, X_valid: Array, decisions: bool) -> KernelMachine:
    # X as the user gave it: feature names and counts are compared with those the SVC was fitted on.
    validate_data(svc, X, reset=False, skip_check_array=True)
    if len(svc.classes_) == 2:
        return _single_output(svc, svc.classes_, X_valid, decisions)
    kernel = MaskedKernel.from_svc(svc)
    basis = _dense(svc.support_vectors_)
    if not decisions:
        return KernelMachine(svc, svc.classes_, kernel, basis, np.empty((0, 0)), np.empty((0, 0)))
    values = _one_vs_rest(svc, X)
    alpha = _ridge_weights(kernel.full(X_valid.astype(np.float64), basis), values)
    return KernelMachine(svc, svc.classes_, kernel, basis, alpha, values)


def _single_output(machine: Any, classes: Array, X: Array, decisions: bool) -> KernelMachine:
    kernel, basis = MaskedKernel.from_svc(machine), _dense(machine.support_vectors_)
    alpha = _dense(machine.dual_coef_).reshape(1, -1).T
    if not len(basis):  # all targets lie within epsilon of a constant
        basis, alpha = X[:1].astype(np.float64), np.zeros((1, 1))
    values = FullExpansion(kernel, basis, alpha, machine.intercept_).decision(X) if decisions else np.empty((0, 1))
    return KernelMachine(machine, classes, kernel, basis, alpha, values)


def _from_one_vs_rest(machine: Any, X: Array) -> KernelMachine:
    parts = machine.estimators_
    rows = np.unique(np.concatenate([part.support_ for part in parts]))
    alpha = np.zeros((rows.size, len(parts)))
    for k, part in enumerate(parts):
        alpha[np.searchsorted(rows, part.support_), k] = _dense(part.dual_coef_).ravel()
    kernel = MaskedKernel.from_svc(parts[0])
    return KernelMachine(machine, machine.classes_, kernel, X[rows], alpha, machine.decision_function(X))


def _ridge_weights(K: Array, decisions: Array) -> Array:
    """Return weights that come close to one-vs-rest values. No single expansion yields their votes exactly."""
    centred = K - K.mean(axis=0)
    gram = centred.T @ centred
    gram[np.diag_indices_from(gram)] += 1e-6 * K.shape[0]
    return np.linalg.solve(gram, centred.T @ (decisions - decisions.mean(axis=0)))
