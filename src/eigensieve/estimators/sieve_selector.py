"""SieveSelector: the recommended selector, which needs no labels and nothing to tune."""

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import _fit_context

from eigensieve._progress import Progress
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import (
    AT_LEAST_ONE,
    AUTO,
    INSIDE_0_1,
    BaseSelector,
    all_or_nothing,
    generator,
    progress_of,
    rank_features,
)
from eigensieve.evidence import Discoveries, NullSample, discover
from eigensieve.sieve import (
    SieveResult,
    marginal_excess,
    pick,
    representatives,
    sieve,
    sieve_embedding,
    zero_is_meaningful,
)


class SieveSelector(BaseSelector):
    """Select features that follow the clusters of the samples, without near-copies among them.

    The method works in three rounds. Each round builds a nearest-neighbour graph of the samples under the current
    feature weights, takes its leading eigenvectors Q, and computes new weights u_i = m_i'(QQ' - diag(QQ'))m_i: the
    agreement of feature i with Q over pairs of different samples. The rounds start from equal weights, or from
    Q-alpha's weights on a screened part of the features; the start that leads to higher scores is kept. Features are
    then picked one by one, by their score times the part of them that the picked features do not explain.

    No label is needed. Time is linear in the number of features. Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep: a number, a fraction of all features, or ``"auto"``. ``"auto"`` keeps all features
        that follow a structure shown by the other features, at a false discovery rate of `fdr`. On data without
        structure nothing is selected, and a warning says so.
    n_clusters : int or "auto", default="auto"
        k, the expected number of clusters. The features are judged by k eigenvectors of the graph, or by k - 1 when the
        last one does not stand out. ``"auto"`` takes the eigenvectors that stand out over those of normal clouds of the
        same shape. If all of them stand out, k is one more than the number of eigenvalues of the weighted affinity
        above the noise edge.
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
        u: the share of a feature's variance that the embedding explains over pairs of different samples. Below 1,
        about 0 for noise, and 0 for constant features.
    ranking_ : ndarray of shape (n_features,)
        Indices of all features, best first: the selected ones in the order of the pick, then the others by weight, then
        the constant ones.
    selection_order_ : ndarray of shape (n_selected,)
        Indices of the selected features in the order in which they were picked.
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    embedding_ : ndarray of shape (n_samples, n_columns)
        Q: centred orthonormal eigenvectors of the last graph. There are `n_clusters_` of them or one fewer.
    eigenvalues_ : ndarray
        Leading eigenvalues of the affinity under the last weights.
    n_clusters_ : int
        k: as given, or the number of clusters found.
    null_quantile_ : float
        Weight that a permuted copy of a feature exceeds with probability `fdr`.
    p_values_ : ndarray of shape (n_features,) or None
        For ``n_features_to_select="auto"``: the chance that a permuted copy of the feature reaches its score against an
        embedding of other features. Otherwise None.
    start_ : {"equal", "qalpha"}
        The start that led to the higher scores.
    centered_ : bool
        Whether features were centred. If the number of features is given and most features lie evenly about zero,
        they are not centred: a mean that differs from zero by more than chance then counts as structure.
    objective_ : float
        Mean weight of the best 5 features.
    n_iter_ : int
        Number of rounds that led to the result.
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
        "n_features_to_select": [AUTO, AT_LEAST_ONE, INSIDE_0_1],
        "n_clusters": [AUTO, AT_LEAST_ONE],
        "fdr": [INSIDE_0_1],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] = "auto",
        n_clusters: int | Literal["auto"] = "auto",
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
    def fit(self, X: Any, y: Any = None) -> Self:
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
            self._fit(X, y, progress_of(self))
        return self

    def _fit(self, X: Any, y: Any, progress: Progress) -> None:
        raw = self._check_data(X, y, min_samples=4)
        usable = self._check_some_vary(raw)
        count = self._count(usable)
        if self.n_clusters != "auto" and self.n_clusters > raw.n_samples - 2:
            raise ValueError(
                "The 'n_clusters' parameter of SieveSelector must be at most the number of samples minus 2. "
                f"Got n_clusters={self.n_clusters} with n_samples={raw.n_samples} instead."
            )
        raw.report_to(progress)
        # The automatic choice compares features with permuted copies. These keep their means, so means must not count.
        centered = count is None or not zero_is_meaningful(raw.stats())
        data = raw.standardized("center" if centered else "unit")
        rng = generator(self.random_state)
        # It depends on the marginals alone, and permuting does not change these: the folds may share it.
        excess = marginal_excess(raw.standardized("center"), usable) if self.n_clusters == "auto" else 1.0
        result = sieve(data, usable, self.n_clusters, centered=centered, excess=excess, progress=progress)
        candidates, self.p_values_ = usable, None
        if count is None:
            found = self._discover(data, usable, excess, rng, progress)
            candidates, count, self.p_values_ = found.selected, found.count, found.p_values
        null = NullSample(data, [rng.permutation(np.flatnonzero(usable))]).scores(result.embedding, 0, rng)
        self.null_quantile_ = float(np.quantile(null, 1.0 - self.fdr))
        scores = np.where(usable, result.scores, 0.0)
        progress(f"picking {count} features")
        order = pick(representatives(data, centered=centered), scores, np.flatnonzero(candidates), count)
        self.n_passes_ = data.n_passes
        self._learn(result, scores, order, usable)

    def _discover(
        self, data: DataMatrix, usable: Array, excess: float, rng: np.random.Generator, progress: Progress
    ) -> Discoveries:
        """Find the features that follow a structure shown by the others."""

        def embed(active: Array) -> Array:
            return sieve_embedding(data.restricted(active), active, self.n_clusters, excess=excess, progress=progress)

        return discover(data, usable, embed, fdr=self.fdr, rng=rng, progress=progress)

    def _learn(self, result: SieveResult, scores: Array, order: Array, usable: Array) -> None:
        rest = rank_features(scores, usable)
        self._learn_selection(np.concatenate([order, rest[~np.isin(rest, order)]]), order)
        self.weights_ = scores
        self.selection_order_ = order
        self.embedding_ = result.embedding
        self.eigenvalues_ = result.eigenvalues
        self.n_clusters_ = result.n_clusters
        self.start_ = result.start
        self.centered_ = result.centered
        self.objective_ = result.strength
        self.n_iter_ = result.n_rounds
        self.converged_ = True
        self.sparsity_gap_ = _gap(scores, self.support_, usable)
        self.negative_weight_fraction_ = float(np.mean(scores[usable] < 0))
        if len(order) == 0:
            self._warn_nothing_selected()


def _gap(scores: Array, support: Array, usable: Array) -> float:
    """Mean weight of the selected over the mean absolute weight of the others; 1 when one side is empty."""
    others = usable & ~support
    if not support.any() or not others.any():
        return 1.0
    below = float(np.abs(scores[others]).mean())
    return float(scores[support].mean()) / below if below > 0 else float("inf")
