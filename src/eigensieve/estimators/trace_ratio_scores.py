"""Fisher and Laplacian scores of single features, as plain functions for ``SelectKBest``."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from eigensieve.data import as_data
from eigensieve.graphs import check_graph, knn_graph
from eigensieve.traceratio import FisherPair, LaplacianPair, diagonals, feature_scores

Vector = NDArray[np.float64]

ARRAY_RULES: dict[str, Any] = {"accept_sparse": ("csc", "csr"), "dtype": (np.float64, np.float32)}


def fisher_score(X: Any, y: Any) -> Vector:
    """Fisher score of every feature: scatter between the class means over scatter within the classes.

    Larger is better; F-test statistic = score * (n_samples - n_classes) / (n_classes - 1). Usable with
    scikit-learn's ``SelectKBest(fisher_score)``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        Infinite for features constant within every class but not overall, NaN for constant features.
    """
    X = check_array(X, ensure_min_samples=2, **ARRAY_RULES)
    codes = class_codes(y, X.shape[0], "fisher", "fisher_score")
    return feature_scores(*diagonals(as_data(X), FisherPair(codes)))


def laplacian_score(
    X: Any,
    y: Any = None,
    *,
    graph: Any = None,
    n_neighbors: int = 5,
    weights: Literal["heat", "binary"] = "heat",
    bandwidth: float | Literal["auto"] = "auto",
    neighbors: Literal["auto", "exact", "approximate"] = "auto",
) -> Vector:
    """Laplacian score of every feature: overall scatter over scatter between neighbours, no labels needed.

    Larger is better: this is the reciprocal of the score of He, Cai and Niyogi (2005), as in nie-2008. Usable
    with scikit-learn's ``SelectKBest(laplacian_score)``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : object, default=None
        Not used.
    graph : sparse matrix of shape (n_samples, n_samples), default=None
        The graph to use: symmetric, non-negative. Without it, the nearest-neighbour graph is built.
    n_neighbors, weights, bandwidth, neighbors
        Of the nearest-neighbour graph; see :class:`TraceRatioSelector`.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        Infinite for features constant on every component of the graph but not overall, NaN for constants.
    """
    X = check_array(X, ensure_min_samples=2, **ARRAY_RULES)
    if graph is None:
        graph = knn_graph(
            X,
            n_neighbors,
            weights=weights,
            bandwidth=bandwidth,
            method=neighbors,
            name="laplacian_score",
        )
    else:
        graph = check_graph(graph, X.shape[0])
    return feature_scores(*diagonals(as_data(X), LaplacianPair(graph)))


def class_codes(y: Any, n_samples: int, score: str, name: str, unlabelled: int | None = None) -> NDArray[np.intp]:
    """Classes numbered from 0, and -1 for samples without label."""
    if y is None:
        raise ValueError(
            f"{name} with score='{score}' requires y to be passed, but the target y is None. "
            f"Pass class labels, or use score='laplacian', which needs none."
        )
    y = column_or_1d(y, warn=True)
    check_consistent_length(np.empty(n_samples), y)
    check_classification_targets(y)
    labelled = np.ones(len(y), dtype=bool) if unlabelled is None else y != unlabelled
    codes = np.full(len(y), -1, dtype=np.intp)
    classes, codes[labelled] = np.unique(y[labelled], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{name} with score='{score}' needs labels of at least 2 classes. Got {len(classes)} class(es) instead."
        )
    return codes
