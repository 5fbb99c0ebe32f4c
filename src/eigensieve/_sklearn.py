"""The names of scikit-learn that we use and that are not public. No other file imports such names."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.base import BaseEstimator
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _get_feature_names as get_feature_names
from sklearn.utils.validation import _is_fitted as is_fitted
from sklearn.utils.validation import _num_samples as num_samples

Fit = TypeVar("Fit", bound=Callable[..., Any])


def whole_fit(fit: Fit) -> Fit:
    """Check the parameters before `fit`, and leave the estimator as it was where `fit` fails or is interrupted."""
    checked = fit_context(prefer_skip_nested_validation=False)(fit)

    @wraps(fit)
    def whole(self: BaseEstimator, *arguments: Any, **options: Any) -> Any:
        before = dict(vars(self))
        try:
            return checked(self, *arguments, **options)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, whole)
