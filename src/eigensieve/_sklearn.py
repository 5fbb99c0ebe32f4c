"""The names of scikit-learn that we use and that are not public. No other file imports such names."""

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

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "fit_context",
    "get_feature_names",
    "is_fitted",
    "num_samples",
    "safe_indexing",
    "validate_parameter_constraints",
]
