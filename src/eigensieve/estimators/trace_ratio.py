"""Trace ratio for scikit-learn: the selector."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from types import MethodType
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

import eigensieve.traceratio as traceratio
from eigensieve._progress import Progress, silent
from eigensieve._sklearn import Interval, StrOptions, whole_fit
from eigensieve._types import FloatArray, JsonDict, MatrixLike, OneEach, RandomState
from eigensieve.data import DataMatrix, as_data, is_stored
from eigensieve.estimators import base
from eigensieve.estimators.trace_ratio_scores import ARRAY_RULES, class_codes, filled, in_range
from eigensieve.graphs import check_graph, knn_graph
from eigensieve.operators import StandardAffinity, leading_eigenvectors

_ALL, _COORDINATES = 1_000, 100  # most samples whose coordinates are all used, and how many of more samples
_UNLIKE = 10.0  # largest standard deviation over the median one, above which a warning is due


class _OptionAndMethod:
    """Let `score` be an option of the constructor and also the method that scikit-learn expects on the instance.

    The option is kept in the instance's dictionary, so it is cloned, pickled and printed as usual.
    """

    def __init__(self, method: Callable[..., float]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set__(self, instance: Any, option: Any) -> None:
        vars(instance)["score"] = option

    def __get__(self, instance: Any, owner: type) -> Callable[..., float]:
        return self.method if instance is None else MethodType(self.method, instance)


@dataclass(eq=False, repr=False)
class TraceRatioSelector(base.BaseSelector):
    """Select the subset of features with the largest trace ratio, exactly.

    The score of a subset I is sum_{i in I} b_i / sum_{i in I} e_i, where b_i is the scatter of feature i
    between samples that should differ and e_i the scatter within samples that should be alike (Nie et al., 2008).
    The best subset of a given size is found by Dinkelbach's iteration. It costs no more than ranking single features.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=10
        Size of the subset: a number, a fraction of all features, or "auto" for the knee of the path (see :meth:`path`).
        When fewer features are usable, all of them are selected, with a warning.
    score : {"fisher", "laplacian", "semi-supervised"}, default="fisher"
        "fisher" uses the labels in y, "laplacian" the nearest-neighbour graph of the samples and no labels.
        "semi-supervised" adds both: Fisher on the labelled samples, Laplacian on all. There None, NaN and -1 in y mark
        a sample without label. On the instance, :meth:`score` is a method; ``get_params()["score"]`` is this option.
    level : {"subset", "feature"}, default="subset"
        "subset" finds the best subset, "feature" ranks features one at a time by b_i / e_i.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found: "exact" compares all samples, "approximate" uses pynndescent; "auto" is exact up to
        20,000 samples.
    bandwidth : float, "auto" or None, default="auto"
        t of the heat weights exp(-distance^2 / t) of the edges. "auto" is the mean squared distance between neighbours.
        None gives all edges the weight 1.
    scale : bool, default=False
        Divide every feature by its standard deviation in the data of `fit`. A subset's score adds up scatters, so
        features in large units decide it; a warning says so where units differ much. The papers' data is not scaled.
    laplacian_weight : float, default=0.5
        Share of the Laplacian part in the semi-supervised score, from 0 to 1.
    within : sparse matrix of shape (n_samples, n_samples), default=None
        Your own graph of samples that should be alike: symmetric, non-negative. It is used instead of the labels or the
        neighbour graph. In the semi-supervised score it is used instead of the neighbour graph.
    between : sparse matrix of shape (n_samples, n_samples), default=None
        Your own graph of samples that should differ. It needs `within`. Its weights may be negative, as those of the
        Fisher score are within classes (equation 11), if no feature's scatter is. Without it, every pair of samples
        counts in proportion to the degrees of the two samples in `within`, as in the Laplacian score.
    random_state : int, RandomState, Generator or None, default=0
        Used by the approximate neighbour search only.
    verbose : int, default=0
        Print progress.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Feature-level scores b_i / e_i: infinite where only e_i is zero, NaN where both are.
    subset_score_ : float
        Score of the selected subset.
    ranking_ : ndarray of int of shape (n_features,)
        Rank of every feature, 1 for the best, as in scikit-learn's RFE: by
        ``b_i - subset_score_ * e_i``, or by `scores_` when ``level="feature"``.
    selection_order_ : ndarray of int of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool of shape (n_features,)
    n_iter_ : int
        Steps of the iteration; 0 when none was needed.
    history_ : list of float
        The subset score after each step. It never falls.
    between_scatter_, within_scatter_ : ndarray of shape (n_features,)
        b and e. If squares of the values would overflow or vanish, X is first multiplied by a power of two.
    scale_ : ndarray of shape (n_features,) or None
        What features were divided by, if `scale` is set.
    graph_ : scipy.sparse.csr_array or None
        The within graph that was used; pass it as `within` to another selector to build it only once.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Features without any scatter (b_i = e_i = 0, such as constants) are never selected. Features with
    e_i = 0 < b_i are selected first, those of largest b_i before the others. Equal features are taken in
    column order.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigensieve import TraceRatioSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> TraceRatioSelector(3, scale=True).fit(X, y).get_support(indices=True)
    array([ 6, 11, 12])
    """

    n_features_to_select: int | float | Literal["auto"] = 10
    _: KW_ONLY
    score: Literal["fisher", "laplacian", "semi-supervised"] = "fisher"
    level: Literal["subset", "feature"] = "subset"
    n_neighbors: int = 5
    neighbor_search: Literal["auto", "exact", "approximate"] = "auto"
    bandwidth: float | Literal["auto"] | None = "auto"
    scale: bool = False
    laplacian_weight: float = 0.5
    within: MatrixLike = None
    between: MatrixLike = None
    random_state: RandomState = 0
    verbose: int = 0

    _fills_gaps = True
    _parameter_constraints = {
        "n_features_to_select": base.COUNT,
        "score": [StrOptions({"fisher", "laplacian", "semi-supervised"})],
        "level": [StrOptions({"subset", "feature"})],
        "n_neighbors": [base.AT_LEAST_ONE],
        "neighbor_search": [StrOptions({"auto", "exact", "approximate"})],
        "bandwidth": [base.POSITIVE, base.AUTO, None],
        "scale": ["boolean"],
        "laplacian_weight": [Interval(Real, 0, 1, closed="both")],
        "within": ["array-like", "sparse matrix", None],
        "between": ["array-like", "sparse matrix", None],
    }

    @whole_fit
    def fit(self, X: MatrixLike, y: OneEach = None) -> Self:
        """Find the best subset.

        Parameters
        ----------
        X : array-like, sparse matrix, or data on disk or on Dask, of shape (n_samples, n_features)
            NaN in a dense array marks a missing value; it counts as the mean of its feature. If the data is not in
            memory, neighbours are found by its principal coordinates: all of them up to 1,000 samples, the 100 leading
            ones beyond.
        y : array-like of shape (n_samples,), default=None
            Class labels; None, NaN and -1 mean unlabelled when ``score="semi-supervised"``. Ignored by the Laplacian
            score and when `within` is used instead of the labels.
        """
        progress = base.progress_of(self)
        X, present = self._checked(X, reset=True)
        self.scale_ = self._spread(as_data(X), present)
        pair, graph = self._graph_pair(X, y, progress)
        b, e = self._scatters(X, pair, progress)
        m = self._size(b, e)
        result = (traceratio.best_subset if self.level == "subset" else traceratio.feature_subset)(b, e, m)
        self._learn_selection(result.ranking, result.subset)
        self.between_scatter_ = b
        self.within_scatter_ = e
        self.graph_ = graph
        self.scores_ = traceratio.feature_scores(b, e)
        self.subset_score_ = result.score
        self.n_iter_ = result.n_iter
        self.history_ = list(result.history)
        return self

    def _score(self, X: MatrixLike, y: OneEach = None) -> float:
        """Trace ratio of the selected features on other data, as a search over parameters needs it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples in rows.
        y : array-like of shape (n_samples,), default=None
            As in :meth:`fit`.

        Returns
        -------
        score : float
            Infinite when the selected features have no within scatter in X.
        """
        check_is_fitted(self, "support_")
        X, _ = self._checked(X, reset=False)
        pair, _ = self._graph_pair(X, y, silent)
        b, e = self._scatters(X, pair)
        return traceratio.subset_ratio(b, e, np.flatnonzero(self.support_))

    def get_params(self, deep: bool = True) -> JsonDict:
        return {**super().get_params(deep=deep), "score": vars(self)["score"]}

    def path(self) -> traceratio.TraceRatioPath:
        """Return the best subset and its score for every size, from the scatters found by `fit`.

        Returns
        -------
        path : TraceRatioPath
            ``path.scores[m - 1]`` is the score of the best subset of m features, ``path.subset(m)`` the
            subset, ``path.choose()`` a size read off the curve.
        """
        check_is_fitted(self, "support_")
        return traceratio.trace_ratio_path(self.between_scatter_, self.within_scatter_)

    def _checked(self, X: MatrixLike, *, reset: bool) -> tuple[Any, FloatArray | None]:
        if is_stored(X):
            X = base.check_stored(self, X, reset=reset, min_samples=2)
        else:
            base.check_columns(X)
            with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds the values up
                X = validate_data(self, X, reset=reset, **ARRAY_RULES)
            base.check_samples(self, X.shape, 2)
        X, present = filled(X)
        if isinstance(X, DataMatrix):
            base.check_finite(self, X)
        return in_range(X, type(self).__name__), present

    def _spread(self, data: DataMatrix, present: FloatArray | None) -> FloatArray | None:
        """Return the standard deviations that features are divided by. Warn if they are not, and one outweighs all."""
        spread = np.sqrt(data.stats().variance)
        if present is not None:  # over the values that are there
            spread = spread / np.sqrt(np.where(present > 0, present, 1.0))
        varying = spread[~data.stats().constant]
        if self.scale:
            return np.where(data.stats().constant, 1.0, spread)
        own_graph = self.within is not None or vars(self)["score"] == "fisher"
        if (self.level == "subset" or not own_graph) and len(varying):
            ratio = float(varying.max() / np.median(varying))
            if ratio > _UNLIKE:
                largest = base.name_columns(self, np.flatnonzero(spread == varying.max()))
                base.warn_user(
                    f"The features of X have unlike scales: column {largest} varies {ratio:.3g} times as much as the "
                    f"median feature, and such features decide the score. Use {type(self).__name__}(scale=True), or "
                    "scale X first, unless all features have the same unit."
                )
        return None

    def _scatters(
        self, X: MatrixLike, pair: traceratio.GraphPair, progress: Progress = silent
    ) -> tuple[FloatArray, FloatArray]:
        """Return b and e of the features, scaled where `scale` says so: both are of second order in a feature."""
        b, e = traceratio.diagonals(as_data(X), pair, progress)
        return (b, e) if self.scale_ is None else (b / self.scale_**2, e / self.scale_**2)

    def _points(self, X: MatrixLike) -> Any:
        """Return what neighbours are looked for in: X itself, scaled where `scale` says so.

        Data that is not in memory gives a thin array whose rows lie as far apart as the samples do: the principal
        coordinates of the centred data, all of them up to 1,000 samples, the 100 leading ones beyond.
        """
        if isinstance(X, DataMatrix):
            affinity = StandardAffinity(X.rescaled(X.stats().mean, None if self.scale_ is None else 1.0 / self.scale_))
            count = X.n_samples if X.n_samples <= _ALL else _COORDINATES
            values, vectors = leading_eigenvectors(affinity, np.ones(X.n_features), count, max_blocks=6)
            return vectors * np.sqrt(np.maximum(values, 0.0))
        if self.scale_ is None:
            return X
        return X.multiply(1.0 / self.scale_).tocsr() if hasattr(X, "multiply") else X / self.scale_

    def _size(self, b: FloatArray, e: FloatArray) -> int:
        """Return the number of features to select. Warn if the data allows fewer than asked for."""
        usable = traceratio.usable_features(b, e)
        if not usable.any():
            raise ValueError(
                f"X has no feature that varies between samples, so {type(self).__name__} cannot select any. "
                f"Check that X has features that are not constant."
            )
        if not e.any():
            base.warn_user(
                "No feature has any within scatter: none varies within classes or between neighbours. All scores are "
                "infinite, and features are ordered by their between scatter. Check that classes or neighbourhoods "
                "hold more than one sample."
            )
        count = self._count(usable)
        return traceratio.trace_ratio_path(b, e).choose() if count is None else count

    def _graph_pair(self, X: MatrixLike, y: Any, progress: Progress) -> tuple[traceratio.GraphPair, csr_array | None]:
        """Return the graph pair that the parameters ask for, and the within graph unless it comes from labels."""
        name, score = type(self).__name__, vars(self)["score"]
        semi = score == "semi-supervised"
        if self.between is not None and (self.within is None or semi):
            must = "be None unless 'within' is given and score is not 'semi-supervised'"
            raise self._wrong("between", must, "a graph", "pass both graphs, or leave 'between' out")
        if score == "fisher" and self.within is None:
            return traceratio.FisherPair(class_codes(y, X.shape[0], score, name)), None
        # Labels first: they are cheap to refuse, the graph is not cheap to build.
        codes = class_codes(y, X.shape[0], score, name) if semi else None
        if self.within is None:
            progress(f"neighbours of {X.shape[0]} samples")
            search: Any = {"method": self.neighbor_search, "random_state": base.scikit_state(self.random_state)}
            graph = knn_graph(self._points(X), self.n_neighbors, bandwidth=self.bandwidth, **search, name=name)
        else:
            graph = check_graph(self.within, X.shape[0], name="within")
        if codes is not None:
            return traceratio.semi_supervised_pair(codes, graph, self.laplacian_weight), graph
        if self.between is not None:
            return traceratio.GivenPair(
                graph, check_graph(self.between, X.shape[0], name="between", signed=True)
            ), graph
        return traceratio.LaplacianPair(graph), graph

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        score = vars(self)["score"]
        fisher_needs_y = score == "fisher" and self.within is None
        tags.target_tags.required = fisher_needs_y or score == "semi-supervised"
        return tags


TraceRatioSelector.score = _OptionAndMethod(TraceRatioSelector._score)  # type: ignore[assignment]  # the field and the method
