"""Side data and batches, checked against X. Labels and pairs are checked in ``qalpha``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from eigensieve._sklearn import get_feature_names
from eigensieve._types import Array, FloatArray, IntArray
from eigensieve.data import DataMatrix, as_data, is_stored
from eigensieve.estimators.base import check_columns, check_finite
from eigensieve.qalpha import as_values, missing_labels, side_variances

_FEWEST_GROUPS = 3


@dataclass(frozen=True, eq=False)
class Known:
    """The arguments of `fit` besides X, as the user gave them."""

    y: Any = None
    side: Any = None
    cannot_link: Any = None
    must_link: Any = None
    batches: Any = None
    covariates: FloatArray | None = None
    groups: Any = None
    sample_weight: Any = None


def read_batches(estimator: BaseEstimator, main: DataMatrix, batches: Any) -> IntArray:
    """Return the number of each sample's batch, from names of any type."""
    return _read_groups(type(estimator).__name__, main, batches, "batch", "batches")


def read_donors(estimator: BaseEstimator, main: DataMatrix, groups: Any, weights: Any = None) -> IntArray | None:
    """Return the number of each sample's group; None where every sample is a group of its own."""
    name = type(estimator).__name__
    numbers = _read_groups(name, main, groups, "group", "groups")
    count = len(np.unique(numbers if weights is None else numbers[weights > 0]))
    if count < _FEWEST_GROUPS:
        raise ValueError(
            f"The 'groups' parameter of {name}.fit must name at least {_FEWEST_GROUPS} groups, such as donors: what "
            f"one of them shows is no evidence. Got {count} instead. Leave it out to compare single samples."
        )
    return None if numbers.max() + 1 == len(numbers) else numbers


def read_weights(estimator: BaseEstimator, main: DataMatrix, sample_weight: Any) -> FloatArray:
    """Return the weight of every sample, not negative and some positive."""
    name = type(estimator).__name__
    values = _per_sample(name, main, sample_weight, "sample_weight")
    try:
        weights = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The 'sample_weight' parameter of {name}.fit must hold numbers: {error}.") from None
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        given = f"values from {weights.min():g} to {weights.max():g}" if weights.any() else "only zeros"
        raise ValueError(
            f"The 'sample_weight' parameter of {name}.fit must hold finite numbers that are not negative, and not all "
            f"weights may be zero. Got {given} instead; a weight of 0 leaves a sample out."
        )
    return weights


def _per_sample(name: str, main: DataMatrix, values: Any, parameter: str) -> Array:
    given = np.asarray(as_values(values))
    if given.shape not in ((main.n_samples,), (main.n_samples, 1)):
        raise ValueError(
            f"The '{parameter}' parameter of {name}.fit must hold one value per sample ({main.n_samples}). Got shape "
            f"{given.shape} instead. Join several columns to one first."
        )
    return given.reshape(-1)


def _read_groups(name: str, main: DataMatrix, values: Any, one: str, parameter: str) -> IntArray:
    words = _per_sample(name, main, values, parameter).astype(object)
    if missing_labels(words).any():
        raise ValueError(
            f"The '{parameter}' parameter of {name}.fit must name the {one} of every sample. Got missing values: give "
            f"those samples a {one} of their own, or leave them out."
        )
    return np.unique([str(value) for value in words], return_inverse=True)[1].reshape(-1)


def read_side_variances(estimator: BaseEstimator, main: DataMatrix, side: Any) -> FloatArray:
    """Return D_i, the variance of each feature of the side data in units of its variance in the main data."""
    exponents = main.shared.exponents
    return side_variances(main.stats(), read_side(estimator, main, side).stats(), exponents)


def read_side(estimator: BaseEstimator, main: DataMatrix, side: Any) -> DataMatrix:
    name = type(estimator).__name__
    if is_stored(side):
        side = as_data(side)
        _check_names(estimator, side.feature_names, name)
    else:
        check_columns(side, "side")
        _check_names(estimator, get_feature_names(side), name)
        side = check_array(
            side,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name="side",
        )
    if side.shape[1] != main.n_features:
        raise ValueError(
            f"The 'side' parameter of {name}.fit must have the same columns as X. X has {main.n_features} features, "
            f"side has {side.shape[1]}."
        )
    if side.shape[0] < 2:
        raise ValueError(
            f"The 'side' parameter of {name}.fit must hold at least 2 samples, so that its features have a variance. "
            f"Got {side.shape[0]} instead. Without side data, leave it out."
        )
    data = as_data(side)
    check_finite(estimator, data, "side")
    return data


def _check_names(estimator: BaseEstimator, given: Array | None, name: str) -> None:
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or given is None or np.array_equal(known, given):
        return
    if sorted(known) == sorted(given):
        problem = "the same names in another order. Reorder it, for example with side[X.columns]"
    else:
        strange = [str(column) for column in given if column not in set(known)][:3]
        missing = [str(column) for column in known if column not in set(given)][:3]
        problem = f"other names (only in side: {strange}; only in X: {missing})"
    raise ValueError(f"The 'side' parameter of {name}.fit must have the columns of X. Got {problem}.")
