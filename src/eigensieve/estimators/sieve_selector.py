"""SieveSelector: the recommended selector, which needs no labels and nothing to tune."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from eigensieve._progress import Progress, progress_for
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.estimators.fitting import all_or_nothing, check_data, check_some_vary, resolve_count, warn_of_nothing
from eigensieve.estimators.sources import AnySizeSelectorMixin
from eigensieve.evidence import NullSample, discover, permuted_excess, restricted
from eigensieve.sieve import SieveResult, pick, sieve, sieve_embedding, zero_is_meaningful


class SieveSelector(AnySizeSelectorMixin, BaseEstimator):
    """Select features that agree with the neighbourhoods of the samples, and not with each other's echo.

    Three rounds of: a nearest-neighbour graph of the samples under the current feature weights, its leading
    eigenvectors Q, and new weights u_i = m_i'(QQ' - diag(QQ'))m_i, the agreement of feature i with Q over pairs of
    different samples. The rounds start from equal weights or from Q-alpha's weights on a screened part of the features,
    whichever leads to higher scores. Features are then picked one by one by score and by what the picked ones do not
    yet say. No label is needed; time is linear in the number of features; sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep: a number, a fraction of all features, or ``"auto"``: all features that follow a
        structure shown by the other features, at a false discovery rate of `fdr`. On data without structure that is
        none, and a warning says so.
    n_clusters : int or "auto", default="auto"
        k, the expected number of clusters: the features are judged by k eigenvectors of the graph, or k - 1 when the
        last one does not stand out. ``"auto"`` takes the eigenvectors that stand out over those of normal clouds of the
        same shape; where these have no end, as many as there are eigenvalues of the weighted affinity above the noise
        edge, and one more.
    fdr : float, default=0.1
        Expected fraction of false selections to allow when `n_features_to_select` is ``"auto"``; also the tail
        probability of `null_quantile_`.
    random_state : int, RandomState or None, default=None
        For the permuted copies and the folds of the automatic choice. With a fixed `n_features_to_select` the selection
        does not depend on it.
    verbose : int, default=0
        1 prints progress, at most twice a second; 2 prints every step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        u: how much of a feature's variance the embedding explains over pairs of different samples; about 0 for noise,
        below 1, and 0 for constant features.
    ranking_ : ndarray of shape (n_features,)
        Indices of all features, best first: those selected in the order of the pick, then the others by weight, then
        constant ones.
    selection_order_ : ndarray of shape (n_selected,)
        Indices of the selected features in the order in which they were picked.
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    embedding_ : ndarray of shape (n_samples, n_columns)
        Q: centred orthonormal eigenvectors of the last graph, `n_clusters_` of them or one fewer.
    eigenvalues_ : ndarray
        Leading eigenvalues of the affinity under the last weights.
    n_clusters_ : int
        k: as given, or the number of clusters found.
    null_quantile_ : float
        Weight that a permuted copy of a feature exceeds with probability `fdr`.
    p_values_ : ndarray of shape (n_features,) or None
        For ``n_features_to_select="auto"``: chance of a permuted copy reaching the feature's score against an embedding
        of other features; else None.
    start_ : {"equal", "qalpha"}
        The start that led to the higher scores.
    centered_ : bool
        Whether features were centred. With a given number of features, data that lie mostly evenly about zero are not:
        a mean other than zero, beyond chance, counts as structure there.
    objective_ : float
        Mean weight of the best 5 features.
    n_iter_ : int
        Rounds behind the result.
    n_passes_ : int
        Times the data was read.
    converged_ : bool
        Always True: the number of rounds is fixed.
    sparsity_gap_ : float
        Mean weight of the selected features over the mean absolute weight of the others.
    negative_weight_fraction_ : float
        Fraction of the varying features with a negative weight.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        When X had column names.

    See Also
    --------
    QAlphaSelector : The papers' method.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import SieveSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((90, 300))
    >>> X[:, :12] += rng.normal(0, 3, (3, 12))[np.arange(90) % 3]
    >>> selector = SieveSelector(n_features_to_select=10, n_clusters=3).fit(X)
    >>> bool((selector.selection_order_ < 12).all())
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
        "n_clusters": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        n_clusters: Any = "auto",
        *,
        fdr: float = 0.1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.fdr = fdr
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> "SieveSelector":
        """Learn which features to keep.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            At least 4 samples.
        y : ignored
            Only its length is checked.

        Returns
        -------
        self : SieveSelector
        """
        with all_or_nothing(self):
            self._fit(X, y, progress_for(type(self).__name__, self.verbose))
        return self

    def _fit(self, X: Any, y: Any, progress: Progress) -> None:
        if y is not None:
            check_consistent_length(X, y)
        raw = check_data(self, X, min_samples=4)
        usable = check_some_vary(self, raw)
        count = None
        if self.n_features_to_select != "auto":
            count = resolve_count(self, self.n_features_to_select, usable)
        if self.n_clusters != "auto" and self.n_clusters > raw.n_samples - 2:
            raise ValueError(
                "The 'n_clusters' parameter of SieveSelector must be at most the number of samples minus 2. "
                f"Got n_clusters={self.n_clusters} with n_samples={raw.n_samples} instead."
            )
        raw.report_to(progress)
        # Permuted copies keep their means: what a mean shows has no null to calibrate the automatic choice against.
        centered = count is None or not zero_is_meaningful(raw.stats())
        data = raw.standardized("center" if centered else "unit")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        # Of the marginals alone, which permuting leaves as they are: the folds of the automatic choice may share it.
        excess = permuted_excess(raw.standardized("center"), usable) if self.n_clusters == "auto" else 1.0
        result = sieve(data, usable, self.n_clusters, centered=centered, excess=excess, progress=progress)
        self._learn(data, result, usable, count, excess, rng, progress)

    def _learn(
        self,
        data: DataMatrix,
        result: SieveResult,
        usable: Array,
        count: int | None,
        excess: float,
        rng: np.random.Generator,
        progress: Progress,
    ) -> None:
        candidates = usable
        p_values = None
        if count is None:
            found = discover(
                data,
                usable,
                lambda active: sieve_embedding(restricted(data, active), active, self.n_clusters, excess=excess),
                fdr=self.fdr,
                rng=rng,
                progress=progress,
            )
            candidates, p_values, count = found.selected, found.p_values, found.count
        null = NullSample(data, [rng.permutation(np.flatnonzero(usable))]).scores(result.embedding, 0, rng)
        progress(f"picking {count} features")
        scores = np.where(usable, result.scores, 0.0)
        order = pick(data, scores, np.flatnonzero(candidates), count)
        support = np.zeros(data.n_features, dtype=bool)
        support[order] = True
        rest = np.lexsort((-scores, ~usable))
        self.weights_ = scores
        self.selection_order_ = order
        self.ranking_ = np.concatenate([order, rest[~support[rest]]])
        self.support_ = support
        self.embedding_ = result.embedding
        self.eigenvalues_ = result.eigenvalues
        self.n_clusters_ = result.n_clusters
        self.null_quantile_ = float(np.quantile(null, 1.0 - self.fdr))
        self.p_values_ = p_values
        self.start_ = result.start
        self.centered_ = result.centered
        self.objective_ = result.strength
        self.n_iter_ = result.n_rounds
        self.n_passes_ = data.n_passes
        self.converged_ = True
        self.sparsity_gap_ = _gap(scores, support, usable)
        self.negative_weight_fraction_ = float(np.mean(scores[usable] < 0))
        if count == 0:
            warn_of_nothing(self, stacklevel=6)

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _gap(scores: Array, support: Array, usable: Array) -> float:
    """Mean weight of the selected over the mean absolute weight of the others; 1 when one side is empty."""
    others = usable & ~support
    if not support.any() or not others.any():
        return 1.0
    below = float(np.abs(scores[others]).mean())
    return float(scores[support].mean()) / below if below > 0 else float("inf")
