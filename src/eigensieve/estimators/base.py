"""The base of all estimators and of the selectors, checks of the input, warnings."""

import sys
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from eigensieve._errors import wrong_parameter
from eigensieve._progress import Progress, progress_for
from eigensieve._sklearn import Interval, StrOptions
from eigensieve._types import BoolArray, FloatArray, IntArray, MatrixLike, OneEach, RandomState
from eigensieve.data import DataMatrix, as_data, is_stored, rescaled_extremes, without_gaps

AUTO = StrOptions({"auto"})
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
INSIDE_0_1 = Interval(Real, 0, 1, closed="neither")
COUNT = [AUTO, AT_LEAST_ONE, Interval(Real, 0, 1, closed="right")]
"""Constraint of `n_features_to_select`: "auto", a number, or a fraction of all features."""
_EVERYWHERE: dict[str, list[Any]] = {"random_state": ["random_state", np.random.Generator], "verbose": ["verbose"]}
"""Constraints of parameters that mean the same in every estimator."""
_PAGES = "https://eigensieve.github.io/eigensieve/generated/eigensieve.{estimator_name}.html"

_NAMED = 5  # columns that an error names


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line: the nearest caller outside eigensieve and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] in ("eigensieve", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def progress_of(estimator: BaseEstimator) -> Progress:
    """Return the callback that prints progress if the estimator's `verbose` asks for it."""
    return progress_for(type(estimator).__name__, getattr(estimator, "verbose", 0))


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the random numbers of `random_state`: a Generator is used as it is, all else as in scikit-learn."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def scikit_state(random_state: RandomState) -> Any:
    """Return `random_state` for scikit-learn's own functions, which do not take a Generator."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    return random_state


def check_stored(estimator: BaseEstimator, X: MatrixLike, *, reset: bool = True, min_samples: int = 1) -> DataMatrix:
    """Do for stored or distributed data what scikit-learn's ``validate_data`` does for arrays. The values are not read.

    With `reset`, as in `fit`, remember names and number of features; else compare them. Print the progress of every
    pass where the estimator's `verbose` asks for it.
    """
    data = as_data(X)
    check_samples(estimator, data.shape, min_samples)
    if reset:
        estimator.n_features_in_ = data.n_features
        if data.feature_names is not None:
            estimator.feature_names_in_ = data.feature_names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    else:
        _check_same_features(estimator, data)
    data.report_to(progress_of(estimator))
    return data


def check_samples(estimator: BaseEstimator, shape: tuple[int, ...], min_samples: int) -> None:
    """Raise where there are too few samples, in scikit-learn's words and with the fix."""
    if shape[0] < min_samples:
        raise ValueError(
            f"Found array with {shape[0]} sample(s) (shape={tuple(shape)}) while a minimum of {min_samples} is "
            f"required by {type(estimator).__name__}. Rows are samples: give more of them, or transpose X if they "
            "stand in columns."
        )


def _check_same_features(estimator: BaseEstimator, data: DataMatrix) -> None:
    name = type(estimator).__name__
    if data.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {data.n_features} features, but {name} is expecting {estimator.n_features_in_} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and data.feature_names is not None and not np.array_equal(known, data.feature_names):
        raise ValueError(
            "The feature names should match those that were passed during fit. "
            f"{int(np.count_nonzero(known != data.feature_names))} of {len(known)} differ. Give X the "
            "columns of fit, in the same order."
        )


def name_columns(estimator: BaseEstimator, indices: Sequence[int] | IntArray) -> str:
    """List a few columns, by name if the user gave names."""
    names = getattr(estimator, "feature_names_in_", None)
    shown = [str(i) if names is None else repr(str(names[i])) for i in indices[:_NAMED]]
    more = f" and {len(indices) - _NAMED} more" if len(indices) > _NAMED else ""
    return ", ".join(shown) + more


def check_columns(X: MatrixLike, given: str = "X") -> None:
    """Raise when a column of a data frame does not hold numbers. Name the columns and the fix.

    Arrays and lists are left to scikit-learn, stored data to `as_data`.
    """
    if is_stored(X) or not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    kinds = list(zip(X.columns, X.dtypes, strict=True))
    wrong = [f"'{name}' ({kind})" for i, (name, kind) in enumerate(kinds) if not _holds_numbers(X, i, kind)]
    if wrong:
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise ValueError(
            f"Input {given} has {len(wrong)} of {len(kinds)} columns that do not hold numbers: "
            f"{', '.join(wrong[:_NAMED])}{more}. Drop them, or encode them first, for example with "
            "sklearn.preprocessing.OneHotEncoder in a ColumnTransformer."
        )


def _holds_numbers(frame: Any, column: int, kind: Any) -> bool:
    """Tell whether a column of a data frame holds numbers, by its type or, where that is any object, by its values."""
    if hasattr(kind, "is_numeric"):  # of polars
        return bool(kind.is_numeric()) or str(kind) in ("Boolean", "Null")
    if kind.kind in "fiubcmM":  # complex numbers are refused by scikit-learn
        return kind.kind not in "mM"
    try:
        np.asarray(frame.iloc[:, column], dtype=np.float64)  # by place: names may be repeated
    except (TypeError, ValueError):
        return False
    return True


def check_finite(estimator: BaseEstimator, data: DataMatrix, given: str = "X") -> None:
    """Raise when a column holds NaN or infinity. Name the columns and the fix."""
    bad = np.flatnonzero(~data.stats().finite)
    if len(bad):
        raise ValueError(
            f"Input {given} contains NaN or infinity in {len(bad)} of {data.n_features} columns: "
            f"{name_columns(estimator, bad)}. {type(estimator).__name__} does not accept {_refused(estimator, given)} "
            "fill them in first, for example with sklearn.impute.SimpleImputer in a Pipeline, or drop those columns."
        )


def _refused(estimator: BaseEstimator, given: str) -> str:
    if given != "X":
        return f"missing values or infinity in {given}:"
    if getattr(estimator, "_fills_gaps", False):
        return "infinity at all, and missing values only in a dense array or data frame in memory; load stored data, or"
    return "missing values (SieveSelector and TraceRatioSelector do):"


def check_data(
    estimator: BaseEstimator, X: MatrixLike, y: OneEach = None, *, min_samples: int = 2, reset: bool = True
) -> DataMatrix:
    """Validate X as scikit-learn does and return its data matrix. Nothing is copied that need not be.

    Floating, integer and boolean types are kept. Infinite values, columns of a data frame that do not hold numbers, and
    missing values where the estimator takes none, raise an error that names the columns.
    With ``reset=False`` the features are compared with those of `fit`.
    """
    if is_stored(X):
        data = check_stored(estimator, X, reset=reset, min_samples=min_samples)
    else:
        check_columns(X)
        X = validate_data(
            estimator, X, reset=reset, accept_sparse=("csr", "csc"), dtype="numeric", ensure_all_finite=False
        )
        check_samples(estimator, X.shape, min_samples)
        data = as_data(X)
    if y is not None:  # Dask knows its lengths, of X and of y, only once they are computed
        check_consistent_length(np.empty((data.n_samples, 0)), np.asarray(y))
    if getattr(estimator, "_fills_gaps", False):
        data = without_gaps(data)
    check_finite(estimator, data)
    return check_scale(estimator, data)


def check_scale(estimator: BaseEstimator, data: DataMatrix) -> DataMatrix:
    """Return data that can be computed with: columns of extreme scale are multiplied by powers of two."""
    extreme = data.extreme()
    if not extreme.any():
        return data
    found = rescaled_extremes(data, extreme)
    if found is None:
        columns = np.flatnonzero(extreme)
        raise ValueError(
            f"Input X has {len(columns)} of {data.n_features} columns whose values are too large or vary too "
            f"little for products in {data.dtype}: {name_columns(estimator, columns)}. Rescale them where they are "
            "stored, or load X into memory."
        )
    return found


class Estimator(BaseEstimator):
    """Base of all estimators: `random_state` may be a Generator, and the HTML representation links to our pages."""

    _doc_link_module = "eigensieve"
    _doc_link_template = _PAGES
    _parameter_constraints: dict[str, list[Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_parameter_constraints" in vars(cls):
            names = {*cls._get_param_names(), *vars(cls)}  # parameters are attributes until they are made an __init__
            shared = {name: rule for name, rule in _EVERYWHERE.items() if name in names}
            cls._parameter_constraints = {**cls._parameter_constraints, **shared}

    def _wrong(self, parameter: str, must: str, got: object, fix: str = "") -> ValueError:
        """Return the error for a parameter of the constructor, or of a method such as "fit", as in "fit.y"."""
        method, _, name = parameter.rpartition(".")
        return wrong_parameter(name, type(self).__name__ + f".{method}" * bool(method), must, got, fix)


class BaseSelector(SelectorMixin, Estimator):
    """Base of all selectors. `fit` of a subclass sets `support_`."""

    _fills_gaps = False
    """Whether missing values are accepted, in dense arrays in memory."""
    n_features_to_select: Any
    fdr: float
    support_: BoolArray
    ranking_: IntArray
    selection_order_: IntArray

    def transform(self, X: MatrixLike) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
            Samples in rows.

        Returns
        -------
        X_selected : of shape (n_samples, n_selected_features)
            Dask for Dask, AnnData for AnnData; for data on disk an array in memory.
        """
        if not is_stored(X):
            return super().transform(X)
        check_is_fitted(self, "support_")
        data = check_stored(self, X, reset=False)
        chosen = self.get_support(indices=True)
        if hasattr(X, "__dask_graph__"):
            return X[list(X.columns[chosen])] if hasattr(X, "columns") else X[:, chosen]
        if hasattr(X, "var_names"):
            return X[:, chosen]
        return data.take(chosen)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._fills_gaps
        return tags

    def _check_some_vary(self, data: DataMatrix) -> BoolArray:
        """Return the mask of the features that vary. Raise when none does."""
        usable = ~data.stats().constant
        if not usable.any():
            raise ValueError(
                f"No feature varies: all {data.n_features} columns of X are constant over the {data.n_samples} "
                f"samples, so {type(self).__name__} has nothing to choose from. Check that X holds samples in rows."
            )
        return usable

    def _count(self, usable: BoolArray) -> int | None:
        """Return `n_features_to_select` as a number of features, or None for a word, such as "auto".

        A number above what varies is no error: a fold of a cross-validation may hold constant columns, and a search
        over sizes must not stop there.
        """
        wanted = self.n_features_to_select
        if isinstance(wanted, str):
            return None
        n_features, n_usable = len(usable), int(np.count_nonzero(usable))
        count = int(wanted) if isinstance(wanted, Integral) else max(1, round(float(wanted) * n_features))
        if count > n_usable:
            warn_user(
                f"{type(self).__name__}(n_features_to_select={wanted}) asks for {count} features, and only {n_usable} "
                f"of {n_features} vary. All that vary are selected."
            )
        return min(count, n_usable)

    def _learn_selection(self, order: IntArray, chosen: IntArray | BoolArray) -> None:
        """Set `support_`, `selection_order_` and `ranking_`; `order` has all features, and the chosen rank first."""
        self.support_ = np.zeros(len(order), dtype=bool)
        self.support_[chosen] = True
        selected = self.support_[order]
        self.selection_order_ = order[selected]
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[np.concatenate([self.selection_order_, order[~selected]])] = np.arange(1, len(order) + 1)

    def _warn_nothing_selected(self, followed: str = "the others' structure") -> None:
        """Say that the automatic choice selects no feature, and what to do about it."""
        warn_user(
            f"{type(self).__name__} found no feature that follows {followed} at fdr={self.fdr}: the data may be "
            "without structure, or hold too few samples to show it. Nothing is selected; set n_features_to_select to a "
            "number to take the best features all the same."
        )


def features_by_weight(weights: FloatArray, usable: BoolArray) -> IntArray:
    """Return the indices of all features, best first: by weight, equal weights in column order, constant ones last."""
    return np.lexsort((-weights, ~usable))
