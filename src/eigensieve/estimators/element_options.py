"""What the parameters of machines with elements ask of each other and of the data, and what the user is told."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from eigensieve._types import Array
from eigensieve.elements import MaskedKernel, Plan, Selection
from eigensieve.estimators.base import warn_user

NEEDED = {"shape": "element", "search": "guided", "warm_start": False}


def matches_labels(model: Any) -> bool:
    """Return True, or raise the AttributeError that hides `predict_proba`."""
    if model.match != "labels":
        raise AttributeError(f"predict_proba needs match='labels'. Got match={model.match!r} instead.")
    return True


def check_label_options(model: Any, kernel: MaskedKernel) -> None:
    """Raise a ValueError for options that do not go with ``match="labels"``."""
    for name, value in NEEDED.items():
        if getattr(model, name) != value:
            raise ValueError(
                f"The '{name}' parameter of {type(model).__name__} must be {value!r} for match='labels'. "
                f"Got {getattr(model, name)!r} instead. Set {name}={value!r}, or match='decision'."
            )
    if kernel.name != "rbf":
        raise ValueError(
            f"The machine's kernel must be 'rbf' for match='labels'. Got {kernel.name!r} instead. "
            f"Hand over an 'estimator' with kernel='rbf', or set match='decision'."
        )


def check_warm_start(model: Any) -> None:
    """Raise a ValueError if the elements of the last fit cannot be added to."""
    if "labels" in (model.match, model._matched):
        raise ValueError(
            f"The 'warm_start' parameter of {type(model).__name__} must be False before or after a fit with "
            f"match='labels': its elements have centres of their own and cannot be added to. Got True instead, with "
            f"match={model._matched!r} in the last fit and match={model.match!r} now. Set warm_start=False."
        )


def label_targets(y: Array, classes: Array) -> Array:
    """Return zeros and ones (samples x outputs): one output for two classes, else one per class."""
    ones = (y[:, None] == classes[None, :]).astype(np.float64)
    return ones[:, 1:] if classes.size == 2 else ones


def label_probabilities(decisions: Array) -> Array:
    """Return class probabilities (samples x classes) from the decision values."""
    if decisions.ndim == 1:
        p = expit(decisions)
        return np.column_stack([1.0 - p, p])
    return np.asarray(softmax(decisions, axis=1))


def element_budget(model: Any, n_basis: int, n_features: int) -> int:
    """Return `n_elements`, or all there are, with a warning."""
    if model.n_elements == "auto":
        raise ValueError(
            f"The 'n_elements' parameter of {type(model).__name__} must be an int for match={model.match!r}. "
            f"Got 'auto' instead. Set match='labels' to have the number chosen."
        )
    available = n_basis * n_features
    if model.n_elements > available:
        warn_user(
            f"n_elements={model.n_elements} is more than the {available} elements that exist "
            f"({n_features} features x {n_basis} support vectors): all of them may be used."
        )
    return min(model.n_elements, available)


def warn_if_short(selection: Selection, plan: Plan, n_basis: int) -> None:
    """Warn if the search stopped before the budget was spent, and say why."""
    reason = selection.shortfall(plan, n_basis)
    if reason is not None:
        warn_user(
            f"{selection.n_elements} of n_elements={plan.n_elements} elements were found: {reason}. "
            f"The relative error is {selection.path[-1] if selection.path else 1.0:.3g}."
        )
