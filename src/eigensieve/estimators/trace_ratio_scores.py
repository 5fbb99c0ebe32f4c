"""Fisher and Laplacian scores of single features for ``SelectKBest``, and the trace ratio of kernels."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from eigensieve._errors import wrong_parameter
from eigensieve._types import FloatArray, IntArray, JsonDict, MatrixLike, OneEach
from eigensieve.data import DataMatrix, as_data, share_present, without_gaps
from eigensieve.estimators.base import check_columns
from eigensieve.graphs import check_graph, knn_graph
from eigensieve.qalpha import read_labels
from eigensieve.traceratio import FisherPair, LaplacianPair, SubsetResult, best_subset, diagonals, feature_scores

ARRAY_RULES: JsonDict = {
    "accept_sparse": ("csc", "csr"),
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": "allow-nan",
}


def _checked(X: MatrixLike) -> Any:
    check_columns(X)
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds the values up
        return filled(check_array(X, ensure_min_samples=2, **ARRAY_RULES))[0]


def filled(X: MatrixLike) -> tuple[Any, FloatArray | None]:
    """Return X with the mean of the feature in every gap, and the share of each feature that is there.

    The scatters then add up over the values that are there, about their mean. The share is None where nothing is
    missing.
    """
    if isinstance(X, DataMatrix):
        X = without_gaps(X)
        return X, None if X.shared.gaps is None else share_present(X)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isnan(X.sum()):
            return X, None
    if not isinstance(X, np.ndarray):
        raise ValueError("Input X is sparse and contains NaN. Leave such values out, or give X as a dense array.")
    data = without_gaps(as_data(X))
    return data.take(slice(None)), None if data.shared.gaps is None else share_present(data)


def fisher_score(X: MatrixLike, y: ArrayLike) -> FloatArray:
    """Fisher score of every feature: scatter between the class means over scatter within the classes.

    Larger is better; F-test statistic = score * (n_samples - n_classes) / (n_classes - 1). Usable with
    scikit-learn's ``SelectKBest(fisher_score)``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples in rows. NaN in a dense array marks a missing value; it counts as the mean of its feature.
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        Infinite for features constant within every class but not overall, NaN for constant features.
    """
    X = _checked(X)
    pair = FisherPair(class_codes(y, X.shape[0], "fisher", "fisher_score"))
    with np.errstate(over="ignore", invalid="ignore"):
        b, e = diagonals(as_data(X), pair)
    # The scatters tell themselves whether anything overflowed or vanished, which saves a pass over the data.
    limit = _WIDEST[X.dtype] ** 2
    doubtful = np.flatnonzero(~((b + e > 1 / limit) & (b + e < limit)))
    if len(doubtful) and not as_data(X[:, doubtful]).stats().constant.all():
        b, e = diagonals(as_data(in_range(X, "fisher_score")), pair)
    return feature_scores(b, e)


def laplacian_score(
    X: MatrixLike,
    y: OneEach = None,
    *,
    graph: MatrixLike = None,
    n_neighbors: int = 5,
    neighbor_search: Literal["auto", "exact", "approximate"] = "auto",
    bandwidth: float | Literal["auto"] | None = "auto",
) -> FloatArray:
    """Laplacian score of every feature: overall scatter over scatter between neighbours, no labels needed.

    Larger is better: this is the reciprocal of the score of He, Cai and Niyogi (2005), as in Nie et al. (2008). Usable
    with scikit-learn's ``SelectKBest(laplacian_score)``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples in rows. NaN in a dense array marks a missing value; it counts as the mean of its feature.
    y : object, default=None
        Not used.
    graph : sparse matrix of shape (n_samples, n_samples), default=None
        The graph to use: symmetric, non-negative. Without it, the nearest-neighbour graph is built.
    n_neighbors, neighbor_search, bandwidth
        Of the nearest-neighbour graph; see :class:`TraceRatioSelector`.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        Infinite for features constant on every component of the graph but not overall, NaN for constants.
    """
    X = in_range(_checked(X), "laplacian_score")
    if graph is None:
        graph = knn_graph(X, n_neighbors, bandwidth=bandwidth, method=neighbor_search, name="laplacian_score")
    else:
        graph = check_graph(graph, X.shape[0])
    return feature_scores(*diagonals(as_data(X), LaplacianPair(graph)))


def select_kernels(kernels: Sequence[ArrayLike], n_kernels: int, y: ArrayLike) -> SubsetResult:
    """Choose the kernels between samples that together separate the classes best, by the trace ratio.

    A sum of kernels maps the samples to the spaces of all of them. So kernels take the place of features, with the
    scatters between and within classes in their spaces, b_j = trace(L_b K_j) and e_j = trace(L_w K_j), and the best
    subset is found exactly (Nie et al. 2008 name this in their conclusion). Divide kernels by their traces if their
    scale should not count.

    Parameters
    ----------
    kernels : sequence of array-like of shape (n_samples, n_samples)
        Symmetric, positive semidefinite.
    n_kernels : int
        How many to choose.
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    result : SubsetResult
        `subset`: numbers of the chosen kernels. `score`: sum b_j / sum e_j over them. `ranking`: all, best first.
    """
    codes = class_codes(y, np.size(y), "fisher", "select_kernels")
    classes = (codes[:, None] == np.arange(codes.max() + 1)) / np.sqrt(np.bincount(codes))
    b, e = np.zeros((2, len(kernels)))
    for number, kernel in enumerate(kernels):
        K = check_array(kernel, input_name="kernels")
        if K.shape != (len(codes), len(codes)):
            must = f"hold matrices of shape ({len(codes)}, {len(codes)}), as y has {len(codes)} samples"
            raise wrong_parameter("kernels", "select_kernels", must, f"shape {K.shape} at place {number}")
        same = float(np.sum(classes * (K @ classes)))
        b[number], e[number] = same - K.mean() * len(K), np.trace(K) - same
        if min(b[number], e[number]) < -1e-8 * np.trace(K):
            got, fix = f"one with a negative scatter at place {number}", "clip its negative eigenvalues"
            raise wrong_parameter("kernels", "select_kernels", "hold positive semidefinite matrices", got, fix)
    return best_subset(np.maximum(b, 0.0), np.maximum(e, 0.0), n_kernels)


def in_range(X: MatrixLike, name: str) -> Any:
    """Return X, multiplied by a power of two if squares of its values would overflow or vanish otherwise.

    Scores are ratios of scatters, so one factor for all features changes none of them.
    """
    data = as_data(X)
    stats = data.stats()
    limit = _WIDEST[data.dtype]
    extreme = (stats.norm > limit) | (~stats.constant & (stats.centered_norm < 1 / limit))
    if not extreme.any():
        return X
    if stats.constant.all():  # nothing differs, and nothing must overflow until the error that names it
        return X if isinstance(X, DataMatrix) else X * 0.0
    spread = stats.centered_norm[~stats.constant]
    if isinstance(X, DataMatrix) or stats.norm.max() > limit * float(spread.min()):
        raise ValueError(
            f"Input X has features whose deviations range from {spread.min():.1e} to {spread.max():.1e}, around means "
            f"of up to {np.abs(stats.mean).max():.1e}: their squares cannot be compared in {data.dtype} by {name}. "
            "Scale the features first, for example with sklearn.preprocessing.StandardScaler."
        )
    power = -int(np.frexp(spread.max())[1])
    return X * float(2.0 ** np.clip(power, -1000, 1000))


_WIDEST = {np.dtype(np.float32): 1e14, np.dtype(np.float64): 1e120}
"""Largest ratio of norms whose squares can be compared."""


def class_codes(y: Any, n_samples: int, score: str, name: str) -> IntArray:
    """Number the classes from 0. In the semi-supervised score None, NaN and -1 mark a sample without label."""
    if y is None:
        raise ValueError(
            f"{name} with score='{score}' requires y to be passed, but the target y is None. "
            f"Pass class labels, or use score='laplacian', which needs none."
        )
    labels = read_labels(
        y,
        n_samples,
        f"{name} with score='{score}'",
        some_unlabelled=score == "semi-supervised",
        lone_samples=True,
        instead="use score='semi-supervised' or 'laplacian'",
    )
    return labels.codes
