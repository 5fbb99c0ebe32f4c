"""UnwantedVariationRemover: data without the directions that are known to be unwanted."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from eigensieve._sklearn import Interval, whole_fit
from eigensieve._types import FloatArray, MatrixLike
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import AUTO, Estimator, check_data, name_columns
from eigensieve.estimators.knowledge import read_batches, read_side
from eigensieve.qalpha import read_pairs
from eigensieve.sieve import Unwanted, unwanted_directions


@dataclass(eq=False, repr=False)
class UnwantedVariationRemover(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Remove known unwanted variation from the data: batches, side data, differences between linked samples.

    Selecting columns cannot remove what every column carries, such as the light on a face. This transformer projects
    the samples off the unwanted directions V: on standardised features, Z becomes Z (I - V V'). The result is in the
    units of X. New samples are cleaned in the same way, and need no batch.

    :class:`SieveSelector` does the same inside, for its own decision. Use this transformer when later steps shall see
    cleaned data, too.

    Parameters
    ----------
    n_directions : int or "auto", default="auto"
        How many directions of the side data, and of the differences between linked samples, are taken out: so many of
        each, or all there are. ``"auto"`` takes those that stand out over the noise edge of independent features, at
        most 20.

    Attributes
    ----------
    directions_ : ndarray of shape (n_features, n_directions)
        V: orthonormal directions in the space of the standardised features.
    n_directions_ : int
        How many there are.
    mean_, scale_ : ndarray of shape (n_features,)
        The standardised feature is (x - mean) * scale.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import UnwantedVariationRemover
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 6))
    >>> batches = np.arange(40) % 2
    >>> X[batches == 1] += [5, 0, 0, 3, 0, 0]
    >>> cleaned = UnwantedVariationRemover().fit_transform(X, batches=batches)
    >>> bool(np.allclose(cleaned[batches == 0].mean(axis=0), cleaned[batches == 1].mean(axis=0)))
    True
    """

    n_directions: int | Literal["auto"] = "auto"

    _parameter_constraints = {"n_directions": [AUTO, Interval(Integral, 0, None, closed="left")]}

    @whole_fit
    def fit(self, X: Any, y: Any = None, *, batches: Any = None, side: Any = None, must_link: Any = None) -> Self:
        """Learn the unwanted directions.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
            Samples in rows.
        y : ignored
            Only there for scikit-learn's convention.
        batches : array-like of shape (n_samples,), optional
            The batch of each sample. Differences between the batch means are taken out.
        side : array-like or sparse matrix of shape (n_side_samples, n_features), optional
            Samples that vary in unwanted ways.
        must_link : array-like of shape (n_pairs, 2), optional
            Pairs of samples that belong together. The directions in which they differ are taken out.
        """
        raw = self._checked(X, reset=True, min_samples=2)
        pairs = read_pairs(None, must_link, raw.n_samples, type(self).__name__)
        unwanted = Unwanted(
            None if batches is None else read_batches(self, raw, batches),
            None if side is None else read_side(self, raw, side),
            None if pairs is None else pairs.must,
            self.n_directions,
        )
        data = raw.standardized("center")
        self.directions_ = unwanted_directions(data, unwanted)
        self.n_directions_ = self.directions_.shape[1]
        self.mean_ = raw.stats().mean
        self.scale_ = np.asarray(data.scale)
        return self

    def transform(self, X: MatrixLike) -> FloatArray:
        """Return X without the unwanted directions, as a dense array in memory.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
            Samples with the features of `fit`.
        """
        check_is_fitted(self)
        raw = self._checked(X, reset=False, min_samples=1)
        # The part taken off is thin: the scores of the samples along the directions, and the directions in X's units.
        scores = raw.rescaled(self.mean_, self.scale_).combine(self.directions_)
        units = np.divide(1.0, self.scale_, out=np.zeros_like(self.scale_), where=self.scale_ > 0)
        taken = scores @ (self.directions_ * units[:, None]).T
        return np.asarray(raw.take(slice(None)) - taken.astype(raw.dtype, copy=False))

    def _checked(self, X: MatrixLike, *, reset: bool, min_samples: int) -> DataMatrix:
        """Check the data. Columns of extreme scale are refused, because cleaned data must be in the units of X."""
        raw = check_data(self, X, reset=reset, min_samples=min_samples)
        if raw.shared.exponents is not None:
            columns = name_columns(self, np.flatnonzero(raw.shared.exponents))
            raise ValueError(
                f"Input X of {type(self).__name__} has values of extreme size in column {columns}: their squares "
                "overflow or vanish. Scale the features first, for example with sklearn.preprocessing.StandardScaler."
            )
        return raw

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
