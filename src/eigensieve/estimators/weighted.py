"""WeightedFeatures: data whose features are scaled by the weights of a selector."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from eigensieve._sklearn import HasMethods, Interval, whole_fit
from eigensieve._types import MatrixLike, OneEach
from eigensieve.data import is_stored
from eigensieve.estimators.base import NOT_NEGATIVE, Estimator, check_stored
from eigensieve.estimators.sieve_selector import SieveSelector


@dataclass(eq=False, repr=False)
class WeightedFeatures(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Scale every feature by its weight, in place of choosing some.

    Feature i is multiplied by

        (floor + (1 - floor) max(alpha_i, 0) / max_j alpha_j)^power,

    with alpha the weights of the selector. With the power 1/2 the inner products of the samples are their affinity
    A = sum_i alpha_i m_i m_i' (Wolf and Shashua 2005, section 2). Without a floor, features of weight 0 vanish.

    Weights are about standardised features. Put a StandardScaler in front if features differ in their units, and
    k-means, or whatever looks at distances, behind.

    Parameters
    ----------
    selector : estimator or None, default=None
        A selector that learns `weights_`: :class:`SieveSelector` or :class:`QAlphaSelector`. None stands for
        ``SieveSelector(1.0)``: how many features it selects does not matter. It is cloned.
    power : float, default=0.5
        1 scales by the weights, 0.5 by their roots.
    floor : float, default=0.0
        The share, from 0 to 1, that a feature of weight 0 keeps before the power is taken.

    Attributes
    ----------
    selector_ : estimator
        The fitted selector.
    scale_ : ndarray of shape (n_features,)
        What features are multiplied by; 1 for the largest weight.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from eigensieve import QAlphaSelector, WeightedFeatures
    >>> rng = np.random.default_rng(0)
    >>> kind = np.arange(60) % 3
    >>> X = rng.standard_normal((60, 200))
    >>> X[:, :8] += rng.normal(0, 3, (3, 8))[kind]
    >>> model = make_pipeline(StandardScaler(), WeightedFeatures(QAlphaSelector(1.0)), KMeans(3, n_init=10)).fit(X)
    >>> new = rng.standard_normal((4, 200))
    >>> model.predict(new).shape
    (4,)
    """

    selector: BaseEstimator | None = None
    _: KW_ONLY
    power: float = 0.5
    floor: float = 0.0

    _parameter_constraints = {
        "selector": [HasMethods(["fit", "get_support"]), None],
        "power": [NOT_NEGATIVE],
        "floor": [Interval(Real, 0, 1, closed="both")],
    }

    @whole_fit
    def fit(self, X: MatrixLike, y: OneEach = None, **fit_params: Any) -> Self:
        """Fit the selector.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
            Passed to the selector.
        y : array-like, optional
            Passed to the selector.
        **fit_params : dict
            Passed to the selector, for example `batches`.
        """
        selector = SieveSelector(1.0) if self.selector is None else clone(self.selector)
        self.selector_ = selector.fit(X, y, **fit_params)
        self.n_features_in_ = selector.n_features_in_
        if hasattr(selector, "feature_names_in_"):
            self.feature_names_in_ = selector.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        weights = np.asarray(getattr(selector, "weights_", 0.0))
        if weights.ndim != 1:
            must, fix = "learn one weight per feature (weights_)", "use SieveSelector or QAlphaSelector"
            raise self._wrong("selector", must, type(selector).__name__, fix)
        alpha = np.maximum(weights, 0.0).astype(np.float64)
        share = alpha / (alpha.max() or 1.0)
        self.scale_ = (self.floor + (1.0 - self.floor) * share) ** self.power
        return self

    def transform(self, X: MatrixLike) -> Any:
        """Return X with its features scaled; sparse stays sparse, stored data becomes an array in memory.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
            Samples with the features of `fit`.
        """
        check_is_fitted(self)
        if is_stored(X):
            X = check_stored(self, X, reset=False).take(slice(None))
        else:
            finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
            kinds = [np.float64, np.float32]
            formats = ("csr", "csc")
            with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds the values up
                X = validate_data(self, X, reset=False, accept_sparse=formats, dtype=kinds, ensure_all_finite=finite)
        scale = self.scale_.astype(X.dtype)
        return type(X)(X.multiply(scale)) if hasattr(X, "multiply") else X * scale

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(SieveSelector() if self.selector is None else self.selector)
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.input_tags.sparse, inner.input_tags.allow_nan
        return tags
