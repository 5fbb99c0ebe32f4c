"""What every estimator's fit shares: input checks with messages that name the fix, and all-or-nothing fitting."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data, is_stored
from eigensieve.estimators.sources import check_stored

_NAMED = 5


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Leave the estimator as it was when fitting is interrupted or fails."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def check_data(estimator: BaseEstimator, X: Any, *, min_samples: int = 2) -> DataMatrix:
    """Validate X as scikit-learn does and return the data matrix for it; nothing is copied that need not be.

    Floating, integer and boolean types are kept; missing and infinite values raise an error that names the columns.
    """
    if is_stored(X):
        data = check_stored(estimator, X, min_samples=min_samples)
    else:
        X = validate_data(
            estimator,
            X,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=min_samples,
        )
        data = as_data(X)
    check_finite(estimator, data)
    return data


def check_finite(estimator: BaseEstimator, data: DataMatrix) -> None:
    """Raise when a column holds NaN or an infinity, naming the columns and the fix."""
    bad = np.flatnonzero(~data.stats().finite)
    if len(bad):
        raise ValueError(
            f"Input X contains NaN or infinity in {len(bad)} of {data.n_features} columns: "
            f"{name_columns(estimator, bad)}. {type(estimator).__name__} does not accept missing values: fill them in "
            "first, for example with sklearn.impute.SimpleImputer in a Pipeline, or drop those columns."
        )


def name_columns(estimator: BaseEstimator, indices: Sequence[int] | Array) -> str:
    """Name a few columns, by their names where the user gave some."""
    names = getattr(estimator, "feature_names_in_", None)
    shown = [str(i) if names is None else repr(str(names[i])) for i in indices[:_NAMED]]
    more = f" and {len(indices) - _NAMED} more" if len(indices) > _NAMED else ""
    return ", ".join(shown) + more


def check_some_vary(estimator: BaseEstimator, data: DataMatrix) -> Array:
    """Return the mask of features that vary; raise when none does."""
    usable = ~data.stats().constant
    if not usable.any():
        raise ValueError(
            f"No feature varies: all {data.n_features} columns of X are constant over the {data.n_samples} samples, so "
            f"{type(estimator).__name__} has nothing to choose from. Check that X holds samples in rows."
        )
    return usable


def resolve_count(estimator: BaseEstimator, wanted: Any, usable: Array) -> int:
    """Turn an int or a fraction of all features into a number of features that can be chosen."""
    name = type(estimator).__name__
    n_features, n_usable = len(usable), int(np.count_nonzero(usable))
    count = int(wanted) if isinstance(wanted, Integral) else max(1, round(float(wanted) * n_features))
    if count > n_features:
        raise ValueError(
            f"The 'n_features_to_select' parameter of {name} must be at most the number of features in X "
            f"({n_features}). Got {wanted} instead."
        )
    if count > n_usable:
        raise ValueError(
            f"The 'n_features_to_select' parameter of {name} must be at most {n_usable}, the number of features that "
            f"vary ({n_features - n_usable} of {n_features} columns are constant). Got {wanted} instead."
        )
    return count


def rank_features(weights: Array, usable: Array) -> Array:
    """Indices of all features, best first: by weight, equal weights in column order, constant columns last."""
    return np.lexsort((-weights, ~usable))


def warn_of_nothing(estimator: Any, followed: str = "the others' structure", *, stacklevel: int) -> None:
    """Say that the automatic choice selects no feature, and what to do about it."""
    warnings.warn(
        f"{type(estimator).__name__} found no feature that follows {followed} at fdr={estimator.fdr}: the data may be "
        "without structure, or hold too few samples to show it. Nothing is selected; set n_features_to_select to a "
        "number to take the best features all the same.",
        UserWarning,
        stacklevel=stacklevel,
    )
