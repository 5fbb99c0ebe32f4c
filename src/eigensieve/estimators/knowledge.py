"""Side data and batches, checked against X. Labels and pairs are checked in ``qalpha``."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from eigensieve._sklearn import get_feature_names
from eigensieve._types import Array, FloatArray, IntArray, MatrixLike, OneEach
from eigensieve.data import DataMatrix, as_data, is_stored
from eigensieve.estimators.base import check_columns, check_finite
from eigensieve.qalpha import as_values, missing_labels, side_variances

_FEWEST_GROUPS = 3


@dataclass(frozen=True, eq=False)
class Known:
    """The arguments of `fit` besides X, as the user gave them."""

    y: OneEach = None
    side: MatrixLike = None
    cannot_link: OneEach = None
    must_link: OneEach = None
    batches: OneEach = None
    covariates: FloatArray | None = None
    groups: OneEach = None
    sample_weight: OneEach = None


def read_batches(estimator: BaseEstimator, main: DataMatrix, batches: OneEach) -> IntArray:
    """Return the number of each sample's batch, from names of any type."""
    return _read_groups(estimator, main, batches, "batch", "batches")


def read_donors(
    estimator: BaseEstimator, main: DataMatrix, groups: OneEach, weights: FloatArray | None = None
) -> IntArray | None:
    """Return the number of each sample's group; None where every sample is a group of its own."""
    numbers = _read_groups(estimator, main, groups, "group", "groups")
    count = len(np.unique(numbers if weights is None else numbers[weights > 0]))
    if count < _FEWEST_GROUPS:
        must = f"name at least {_FEWEST_GROUPS} groups, such as donors: one or two of them are no evidence"
        raise estimator._wrong("fit.groups", must, count, "leave it out to compare single samples")
    return None if numbers.max() + 1 == len(numbers) else numbers


def read_weights(estimator: BaseEstimator, main: DataMatrix, sample_weight: OneEach) -> FloatArray:
    """Return the weight of every sample, not negative and some positive."""
    values = _per_sample(estimator, main, sample_weight, "sample_weight")
    try:
        weights: FloatArray = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise estimator._wrong("fit.sample_weight", "hold numbers", f"other values ({error})") from None
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        given = f"values from {weights.min():g} to {weights.max():g}" if weights.any() else "only zeros"
        must = "hold finite numbers that are not negative, and not all weights may be zero"
        raise estimator._wrong("fit.sample_weight", must, given, "a weight of 0 leaves a sample out")
    return weights


def _per_sample(estimator: BaseEstimator, main: DataMatrix, values: OneEach, parameter: str) -> Array:
    given = np.asarray(as_values(values))
    if given.shape not in ((main.n_samples,), (main.n_samples, 1)):
        must = f"hold one value per sample ({main.n_samples})"
        raise estimator._wrong(f"fit.{parameter}", must, f"shape {given.shape}", "join several columns to one first")
    return given.reshape(-1)


def _read_groups(estimator: BaseEstimator, main: DataMatrix, values: OneEach, one: str, parameter: str) -> IntArray:
    words = _per_sample(estimator, main, values, parameter).astype(object)
    if missing_labels(words).any():
        fix = f"give those samples a {one} of their own, or leave them out"
        raise estimator._wrong(f"fit.{parameter}", f"name the {one} of every sample", "missing values", fix)
    return np.unique([str(value) for value in words], return_inverse=True)[1].reshape(-1)


def read_side_variances(estimator: BaseEstimator, main: DataMatrix, side: MatrixLike) -> FloatArray:
    """Return D_i, the variance of each feature of the side data in units of its variance in the main data."""
    return side_variances(main.stats(), read_side(estimator, main, side).stats(), main.shared.exponents)


def read_side(estimator: BaseEstimator, main: DataMatrix, side: MatrixLike) -> DataMatrix:
    if is_stored(side):
        side = as_data(side)
        _check_names(estimator, side.feature_names)
    else:
        check_columns(side, "side")
        _check_names(estimator, get_feature_names(side))
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
        must = f"have the same columns as X ({main.n_features} features)"
        raise estimator._wrong("fit.side", must, f"{side.shape[1]} features")
    if side.shape[0] < 2:
        must = "hold at least 2 samples, so that its features have a variance"
        raise estimator._wrong("fit.side", must, side.shape[0], "without side data, leave it out")
    data = as_data(side)
    check_finite(estimator, data, "side")
    return data


def _check_names(estimator: BaseEstimator, given: Array | None) -> None:
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or given is None or np.array_equal(known, given):
        return
    if sorted(known) == sorted(given):
        problem, fix = "the same names in another order", "reorder it, for example with side[X.columns]"
    else:
        strange = [str(column) for column in given if column not in set(known)][:3]
        missing = [str(column) for column in known if column not in set(given)][:3]
        problem, fix = f"other names (only in side: {strange}; only in X: {missing})", ""
    raise estimator._wrong("fit.side", "have the columns of X", problem, fix)
