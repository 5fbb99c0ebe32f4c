"""Input that is not an array in memory: files, open handles, AnnData and Dask, checked without being read."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from eigensieve._progress import progress_for
from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data, is_stored
from eigensieve.sieve import sample_coordinates


def check_stored(estimator: BaseEstimator, X: Any, *, reset: bool = True, min_samples: int = 1) -> DataMatrix:
    """Do for stored or distributed data what scikit-learn's ``validate_data`` does for arrays.

    Sets or compares `n_features_in_` and `feature_names_in_`, checks the number of samples, and sends the
    progress of every pass where the estimator's `verbose` asks for it. The values are not read.

    Parameters
    ----------
    estimator : BaseEstimator
    X : DataMatrix or anything for which ``is_stored(X)`` is true
    reset : bool, default=True
        True in `fit`: remember names and number of features. False: compare them.
    min_samples : int, default=1
    """
    data = as_data(X)
    name = type(estimator).__name__
    if data.n_samples < min_samples:
        raise ValueError(
            f"Found array with {data.n_samples} sample(s) (shape={data.shape}) while a minimum of "
            f"{min_samples} is "
            f"required by {name}."
        )
    if reset:
        estimator.n_features_in_ = data.n_features
        if data.feature_names is not None:
            estimator.feature_names_in_ = data.feature_names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    else:
        _compare(estimator, data)
    data.report_to(progress_for(name, getattr(estimator, "verbose", 0)))
    return data


def _compare(estimator: Any, data: DataMatrix) -> None:
    name = type(estimator).__name__
    if data.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {data.n_features} features, but {name} is expecting {estimator.n_features_in_} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and data.feature_names is not None and not np.array_equal(known, data.feature_names):
        raise ValueError(
            "The feature names should match those that were passed during fit. "
            f"{int(np.count_nonzero(known != data.feature_names))} of {len(known)} differ."
        )


def thin_points(data: DataMatrix) -> Array:
    """Return a thin array whose rows lie as far apart as the samples do, for graphs of samples that are not in memory.

    The principal coordinates of the centred data: exact up to 1,000 samples, the 100 leading ones beyond.
    """
    centered = data.rescaled(data.stats().mean, None)
    return sample_coordinates(centered, np.ones(data.n_features)).points


class AnySizeSelectorMixin(SelectorMixin):
    """A selector whose `transform` takes stored and distributed data too.

    Dask arrays and dataframes stay what they are, an AnnData is sliced, everything else on disk comes back
    as an array in memory that holds the selected columns.
    """

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)

        Returns
        -------
        X_selected : of shape (n_samples, n_selected_features)
            Dask for Dask, AnnData for AnnData; for data on disk an array in memory.
        """
        if not is_stored(X):
            return super().transform(X)
        check_is_fitted(self)
        data = check_stored(self, X, reset=False)
        chosen = self.get_support(indices=True)
        if hasattr(X, "__dask_graph__"):
            return X[list(X.columns[chosen])] if hasattr(X, "columns") else X[:, chosen]
        if hasattr(X, "var_names"):
            return X[:, chosen]
        return data.take(chosen)
