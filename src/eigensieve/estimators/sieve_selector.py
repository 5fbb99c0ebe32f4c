"""SieveSelector: the recommended selector. It needs no labels and nothing to tune, and uses what the user knows."""

from numbers import Integral
from typing import Any, Literal, Self, cast

import numpy as np

from eigensieve._progress import Progress
from eigensieve._sklearn import Interval, StrOptions, fit_context
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import (
    AT_LEAST_ONE,
    AUTO,
    COUNT,
    INSIDE_0_1,
    BaseSelector,
    all_or_nothing,
    features_by_weight,
    generator,
    progress_of,
    warn_user,
)
from eigensieve.estimators.knowledge import Known, read_batches, read_side
from eigensieve.qalpha import check_pairs_against_labels, read_pairs
from eigensieve.sieve import (
    Kind,
    Search,
    SieveResult,
    Target,
    Unwanted,
    UseProfiles,
    UseScale,
    prepare,
    read_target,
    shared_with_batches,
)

_CONFOUNDED = 0.9  # squared canonical correlation of labels and batches from which on a warning is due


class SieveSelector(BaseSelector):
    """Select the features that matter, with or without labels; near-copies of a chosen feature come late.

    Without labels the method works in three rounds. Each round builds a nearest-neighbour graph of the samples under
    the current feature weights, takes its leading eigenvectors Q, and computes new weights
    u_i = m_i'(QQ' - diag(QQ'))m_i: the agreement of feature i with Q over pairs of different samples. The rounds start
    from equal weights, or from Q-alpha's weights on a screened part of the features; the start that leads to higher
    scores is kept. Features are then picked one by one, so that the similarities of the samples on the picked features
    agree best with those in Q. Near-copies of a picked feature come after the others.

    With labels or targets, what y says takes the place of Q. Samples without label are guessed from the others.
    Features are picked one by one, by their score times the part of them that the picked features do not explain. A
    copy of a picked feature counts half: it comes late, unless the others score far less.
    Classes may show only in several features together (an exclusive or), or in the spread of a feature. Features are
    then scored by their products or by the structure they share; see `start_`. This looks at all pairs of features, so
    it is left out for more than about 1,000 features, or more than 4 per sample.

    Known unwanted variation is removed first: differences between batches, the directions in which side data varies,
    and differences between samples that must be linked. Time is linear in the number of features. Sparse input
    is never densified.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or "fewest", default="auto"
        How many features to keep: a number, a fraction of all features, or a word. ``"auto"`` keeps all features that
        follow a structure shown by the other features, at a false discovery rate of `fdr`. ``"fewest"`` picks from
        these the smallest set that shows the structure nearly as well as up to 300 picks do. On data without structure
        both select nothing, and a warning says so.
    n_clusters : int or "auto", default="auto"
        k, the number of clusters, if you know it. The features are judged by k eigenvectors of the graph, or by k - 1
        when the last one does not stand out. ``"auto"`` takes the eigenvectors that stand out over those of normal
        clouds of the same shape. If none or all of them stand out, it takes one more than the number of eigenvalues
        of the weighted affinity above the noise edge. `n_components_` says how many were taken.
    supervision : {"auto", "classes", "numbers", "ignore"}, default="auto"
        How y is used. ``"auto"`` takes numbers with fractions, and whole numbers of many values, as numbers to be
        predicted, and everything else as classes. ``"classes"`` and ``"numbers"`` say which it is. ``"ignore"`` selects
        without y, for example inside a Pipeline that passes y on.
    n_directions : int or "auto", default="auto"
        How many directions of the side data, and of the differences between samples that must be linked, are projected
        out: so many of each, or all there are. ``"auto"`` takes those that stand out over the noise edge of independent
        features, at most 20.
    use_scale : bool or "auto", default="auto"
        Whether features that vary more have more weight when the structure of the samples is looked for. Set it to
        True if all features are in one unit and small variation is noise, and to False if scale means nothing.
        ``"auto"`` uses scale in wide data (at least 10 features per sample, at most 1,000 samples) that is not mostly
        zeros, if the features' deviations lie within a factor of 30 and have to do with what the features share. Every
        feature is scored at the same scale in any case. With labels nothing changes.
    use_profiles : bool or "auto", default="auto"
        Whether samples are compared by their profiles: logarithms of the values, rare features counting more, at the
        same length for every sample. This suits counts and texts. ``"auto"`` does so where nothing is negative, at
        least half of the values are zero and all features are in one unit, unless few features carry the structure.
        True does it in any case. It needs values that are not negative, and does not go with `batches`, `side` and
        `must_link`. With labels nothing changes.
    fdr : float, default=0.1
        Expected fraction of false selections to allow when `n_features_to_select` is a word; also the tail
        probability of `null_quantile_`.
    random_state : int, RandomState or None, default=None
        For the permuted copies and the folds of the automatic choice. With a fixed `n_features_to_select` the selection
        does not depend on it.
    verbose : int, default=0
        1 prints progress, at most twice a second; 2 prints every step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        u: the share of a feature's variance that the embedding explains over pairs of different samples. About 0 for
        noise, and 0 for constant features. It is below 1, unless `start_` is ``"products"`` (then it is a sum over the
        products of the feature with others) or pairs cannot be linked (then how far it sets them apart is added).
    ranking_ : ndarray of int of shape (n_features,)
        Rank of every feature, 1 for the best, as in scikit-learn's RFE: the selected ones in the
        order of the pick, then the others by weight, then the constant ones.
    selection_order_ : ndarray of shape (n_selected,)
        Indices of the selected features in the order in which they were picked.
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    embedding_ : ndarray of shape (n_samples, n_columns)
        Q: centred orthonormal eigenvectors of the last graph, or what y says. If y is known for some samples only, the
        columns are orthogonal, and shorter the less they carry of what was guessed.
    eigenvalues_ : ndarray
        Leading eigenvalues of the affinity under the last weights.
    n_components_ : int
        The number of columns of `embedding_`: directions in which the samples differ by more than chance. It is not a
        number of clusters. On real data it is often larger than the number of classes.
    null_quantile_ : float
        Weight that a permuted copy of a feature exceeds with probability `fdr`.
    p_values_ : ndarray of shape (n_features,) or None
        If `n_features_to_select` is a word: the chance that a permuted copy of the feature reaches its score against an
        embedding of other features. Otherwise None.
    structure_shown_ : ndarray of shape (n_sizes, 2) or None
        For ``n_features_to_select="fewest"``: numbers of picks m, and R2, how well m picks show the structure. For R2,
        `embedding_` is predicted for every sample by the mean over its 5 nearest others on the first m picks. The
        smallest m with at least 0.95 of the largest R2 is taken. Otherwise None.
    start_ : {"equal", "qalpha", "profiles", "labels", "products", "structure"}
        The start that led to the higher scores, or ``"profiles"`` of the samples in its place. With labels, what the
        features were scored by: the ``"labels"``, ``"products"`` of features and their squares, or the ``"structure"``
        that features share. The last two are used only if they classify left-out samples clearly better.
    centered_ : bool
        Whether features were centred. If the number of features is given and most features lie evenly about zero,
        they are not centred: a mean that differs from zero by more than chance then counts as structure.
    scale_used_ : bool
        Whether features that vary more had more weight (`use_scale`).
    profiles_used_ : bool
        Whether samples were compared by their profiles (`use_profiles`).
    supervised_ : bool
        Whether features were scored by y, not by the structure of the samples.
    n_directions_ : int
        How many unwanted directions were projected out.
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
        "n_features_to_select": [StrOptions({"fewest"}), *COUNT],
        "n_clusters": [AUTO, AT_LEAST_ONE],
        "supervision": [StrOptions({"auto", "classes", "numbers", "ignore"})],
        "n_directions": [AUTO, Interval(Integral, 0, None, closed="left")],
        "use_scale": [AUTO, "boolean"],
        "use_profiles": [AUTO, "boolean"],
        "fdr": [INSIDE_0_1],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto", "fewest"] = "auto",
        n_clusters: int | Literal["auto"] = "auto",
        *,
        supervision: Kind = "auto",
        n_directions: int | Literal["auto"] = "auto",
        use_scale: UseScale = "auto",
        use_profiles: UseProfiles = "auto",
        fdr: float = 0.1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.supervision = supervision
        self.n_directions = n_directions
        self.use_scale = use_scale
        self.use_profiles = use_profiles
        self.fdr = fdr
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        batches: Any = None,
        side: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Learn which features to keep.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
            At least 4 samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Classes of any type, or numbers. None, NaN and, among whole numbers, -1 mark a sample without label. -1 and
            1 alone are two values, and among numbers below -1 it is a number like the others.
        batches : array-like of shape (n_samples,), optional
            The batch of each sample. Differences between batches are not structure.
        side : array-like or sparse matrix of shape (n_side_samples, n_features), optional
            Samples that vary in unwanted ways. The directions in which they vary are projected out.
        must_link : array-like of shape (n_pairs, 2), optional
            Pairs of samples that belong together: the directions in which they differ are projected out.
        cannot_link : array-like of shape (n_pairs, 2), optional
            Pairs of samples that belong apart: features that set them apart score higher.

        Returns
        -------
        self : SieveSelector
        """
        return self._fit_known(X, Known(y, side, cannot_link, must_link, batches))

    def _fit_known(self, X: Any, known: Known) -> Self:
        with all_or_nothing(self):
            self._fit(X, known, progress_of(self))
        return self

    def _fit(self, X: Any, known: Known, progress: Progress) -> None:
        raw = self._check_data(X, known.y, min_samples=4)
        usable = self._check_some_vary(raw)
        count = self._count(usable)
        if self.n_clusters != "auto" and self.n_clusters > raw.n_samples - 2:
            raise ValueError(
                "The 'n_clusters' parameter of SieveSelector must be at most the number of samples minus 2. "
                f"Got n_clusters={self.n_clusters} for {raw.n_samples} samples instead."
            )
        raw.report_to(progress)
        search = self._search(raw, usable, known, given_count=count is not None)
        rng = generator(self.random_state)
        result = search.result(progress)
        candidates, self.p_values_ = search.usable, None
        if count is None:
            found = search.discoveries(self.fdr, rng, progress, by_profiles=result.start == "profiles")
            candidates, count, self.p_values_ = found.selected, found.count, found.p_values
        self.null_quantile_ = float(np.quantile(search.null_scores(result.embedding, rng), 1.0 - self.fdr))
        scores = np.where(search.usable, result.scores, 0.0)
        places = np.flatnonzero(candidates)
        self.structure_shown_ = None
        if self.n_features_to_select == "fewest":
            progress("looking for the fewest features that show the structure")
            order, panel = search.fewest(scores, places, result)
            self.structure_shown_ = np.column_stack([panel.sizes, panel.shown])
        else:
            progress(f"picking {count} features")
            order = search.pick(scores, places, min(count, len(places)), result)
        self.n_passes_ = raw.n_passes
        self.n_directions_ = search.cleaned.directions.shape[1]
        self.supervised_ = search.target is not None
        self._learn(result, scores, order, usable)

    def _search(self, raw: DataMatrix, usable: Array, known: Known, *, given_count: bool) -> Search:
        """Read what is known, take off what is unwanted, and return what is to be searched."""
        name = type(self).__name__
        target = None
        if known.y is not None and self.supervision != "ignore":
            target = read_target(known.y, raw.n_samples, name, cast(Kind, self.supervision))
        pairs = None
        if known.cannot_link is not None or known.must_link is not None:
            pairs = read_pairs(known.cannot_link, known.must_link, raw.n_samples, name)
        if pairs is not None and target is not None and target.codes is not None:
            check_pairs_against_labels(target.codes, pairs, name)
        unwanted = Unwanted(
            None if known.batches is None else read_batches(self, raw, known.batches),
            None if known.side is None else read_side(self, raw, known.side),
            None if pairs is None else pairs.must,
            self.n_directions,
            known.covariates,
        )
        cannot = None if pairs is None else pairs.cannot
        if _switch(self.use_profiles) is True and unwanted.anything:
            raise ValueError(
                "use_profiles=True does not go with batches, side or must_link: these are taken off standardised "
                "features. Leave use_profiles out."
            )
        search = prepare(
            raw,
            usable,
            target,
            unwanted,
            cannot,
            self.n_clusters,
            given_count=given_count,
            use_scale=_switch(self.use_scale),
            use_profiles=_switch(self.use_profiles),
        )
        if target is not None and unwanted.batches is not None:
            self._check_confounding(target, search.cleaned.batches)
        return search

    def _check_confounding(self, target: Target, batches: Array) -> None:
        """Refuse labels that the batches determine, and warn about those that they nearly determine."""
        smallest, largest = shared_with_batches(target, batches)
        if smallest > 1.0 - 1e-6:
            raise ValueError(
                "The 'batches' parameter of SieveSelector.fit coincides with y: every difference that y makes is a "
                "difference between batches, so nothing can tell them apart. Leave out batches, or y."
            )
        if largest > _CONFOUNDED:
            warn_user(
                f"y and batches are confounded: the batches explain {largest:.0%} of a difference that y makes. What "
                "is left after the batches are taken off says little about it. Read the selection with care."
            )

    def _learn(self, result: SieveResult, scores: Array, order: Array, usable: Array) -> None:
        rest = features_by_weight(scores, usable)
        self._learn_selection(np.concatenate([order, rest[~np.isin(rest, order)]]), order)
        self.weights_ = scores
        self.embedding_ = result.embedding
        self.eigenvalues_ = result.eigenvalues
        self.n_components_ = result.embedding.shape[1]
        self.start_ = result.start
        self.centered_ = result.centered
        self.scale_used_ = result.scale_used
        self.profiles_used_ = result.start == "profiles"
        self.objective_ = result.strength
        self.n_iter_ = result.n_rounds
        self.converged_ = True
        self.sparsity_gap_ = _gap(scores, self.support_, usable)
        self.negative_weight_fraction_ = float(np.mean(scores[usable] < 0))
        if len(order) == 0:
            self._warn_nothing_selected("the labels" if self.supervised_ else "the others' structure")


def _switch(value: bool | Literal["auto"]) -> bool | Literal["auto"]:
    """Read a numpy bool as one of Python's."""
    return "auto" if value == "auto" else bool(value)


def _gap(scores: Array, support: Array, usable: Array) -> float:
    """Mean weight of the selected over the mean absolute weight of the others; 1 when one side is empty."""
    others = usable & ~support
    if not support.any() or not others.any():
        return 1.0
    below = float(np.abs(scores[others]).mean())
    return float(scores[support].mean()) / below if below > 0 else float("inf")
