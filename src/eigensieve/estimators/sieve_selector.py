"""SieveSelector: the recommended selector. It needs no labels and nothing to tune, and uses what the user knows."""

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Literal, Self, cast

import numpy as np

from eigensieve._sklearn import Interval, StrOptions, whole_fit
from eigensieve._types import BoolArray, IntArray, MatrixLike, OneEach, RandomState
from eigensieve.data import DataMatrix
from eigensieve.estimators import base
from eigensieve.estimators.constraints import check_room, read_constraints
from eigensieve.estimators.knowledge import Known, read_batches, read_donors, read_side, read_weights
from eigensieve.estimators.target import Kind, check_confounding, read_target
from eigensieve.qalpha import check_pairs_against_labels, read_pairs
from eigensieve.sieve import Found, Nodes, Problem, Unwanted, Use, distinct_samples, pose


@dataclass(eq=False, repr=False)
class SieveSelector(base.BaseSelector):
    """Select the features that matter, with or without labels, and few near-copies.

    Without labels, samples are placed by their weighted features and joined to their nearest neighbours. Random walks
    along this graph give V: V V' says how far two samples belong together. The score of feature i is
    u_i = m_i'(VV' - diag(VV'))m_i, its agreement with V over pairs of different samples. The scores are the weights of
    a second round. Features are then picked one by one, so that the similarities of the samples on the picked features
    agree best with V V'.

    With labels or targets, y takes the place of V. Labels that are missing are guessed from the others. Each pick has
    the largest score times agreement with the part of y that a ridge regression on the picked features leaves. Classes
    may show only in several features together (an exclusive or). Then features are scored by their products, if these
    classify left-out samples clearly better; see `scored_by_`. Products are not tried for more than about 1,000
    features, or more than 4 per sample.

    Known unwanted variation is removed first: differences between batches, the directions in which side data varies,
    and differences between samples that must be linked. Time is linear in the number of features. Sparse input is never
    densified. The result does not depend on the order of samples and features, up to ties, and is the same on every
    run.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or "fewest", default="auto"
        How many features to keep: a number, a fraction of all features, or a word. ``"auto"`` keeps all features that
        follow a structure shown by the other features, at a false discovery rate of `fdr`. ``"fewest"`` picks from
        these the smallest set that shows the structure nearly as well as up to 300 picks do. On data without structure
        both select nothing, and a warning says so.
    supervision : {"auto", "classes", "numbers", "ignore"}, default="auto"
        How y is used. ``"auto"`` takes numbers with fractions, and whole numbers of many values, as numbers to be
        predicted, and everything else as classes. ``"classes"`` and ``"numbers"`` say which it is. ``"ignore"`` selects
        without y, for example inside a Pipeline that passes y on.
    keep : array-like or None, default=None
        Names, indices or a mask of features that are in the selection from the start. The others complement them. They
        count in `n_features_to_select`.
    exclude : array-like or None, default=None
        Names, indices or a mask of features that are never selected. They still help to find the structure. Drop them
        from X if they should not.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label per feature, for example the pathway of a gene or the cluster of a probe. None and NaN mark a feature
        without group. A Series whose index holds the column names of X is read by these.
    max_per_group : int, default=1
        Most selected features with the same label in `feature_groups`.
    feature_costs : array-like of shape (n_features,) or None, default=None
        What each feature costs; positive. Features are then picked by gain per cost. A Series whose index holds the
        column names of X is read by these.
    max_cost : float or None, default=None
        Most that the selected features may cost together. It needs `feature_costs`. With a number of features, both
        limits hold. ``"auto"`` spends it on features that follow the structure, 1.0 spends it to the end.
    n_directions : int or "auto", default="auto"
        How many directions of the side data, and of the differences between samples that must be linked, are projected
        out: so many of each, or all there are. ``"auto"`` takes those that stand out over the noise edge of independent
        features, at most 20.
    use_scale : bool or "auto", default="auto"
        Whether features that vary more count more: the variance, up to its 99 % quantile, is the first weight of a
        feature in the search for structure, and with labels its root counts in the pick. ``"auto"`` does so from 10
        features per sample on. Set it to False if units differ. Every feature is scored at the same scale in any case.
    use_profiles : bool or "auto", default="auto"
        Whether samples are compared by their profiles: logarithms of the values, rare features counting more, at length
        1. This suits counts and texts. ``"auto"`` does so if nothing is negative, at least half of the values are zero
        and all features are in one unit. It does not go with `batches`, `side` and `must_link`. With labels nothing
        changes.
    fdr : float, default=0.1
        Expected fraction of false selections to allow when `n_features_to_select` is a word; also the tail
        probability of `null_quantile_`.
    random_state : int, RandomState, Generator or None, default=0
        For the permuted copies and the folds behind the automatic number. With a fixed `n_features_to_select` the
        selection does not depend on it.
    verbose : int, default=0
        1 prints progress, at most twice a second; 2 prints every step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        u: the share of a feature's variance that the structure explains over pairs of different samples. About 0 for
        noise, and 0 for constant features. It is below 1, unless `scored_by_` is ``"products"`` (then it is a sum over
        the products of the feature with others) or pairs cannot be linked (then how far it separates them is added).
    ranking_ : ndarray of int of shape (n_features,)
        Rank of every feature, 1 for the best, as in scikit-learn's RFE: the selected ones in the
        order of the pick, then the others by weight, then the constant ones.
    selection_order_ : ndarray of shape (n_selected,)
        Indices of the selected features in the order in which they were picked, those of `keep` first.
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    embedding_ : ndarray of shape (n_samples, n_columns)
        V, the structure: samples that belong together have rows in the same direction. With labels, an orthonormal
        basis of y.
    null_quantile_ : float
        Weight that a permuted copy of a feature exceeds with probability `fdr`.
    p_values_ : ndarray of shape (n_features,) or None
        If `n_features_to_select` is a word: the chance that a permuted copy of the feature reaches its score against
        the structure of other features. 1 for features in `keep` and `exclude`. Otherwise None.
    structure_shown_ : ndarray of shape (n_sizes, 2) or None
        For ``n_features_to_select="fewest"``: numbers of picks m, and R2, how well m picks show the structure. For R2,
        `embedding_` is predicted for every sample by the mean over its 5 nearest others on the first m picks. The
        smallest m with at least 0.95 of the largest R2 is taken. Otherwise None.
    scored_by_ : {"features", "profiles", "labels", "products"}
        What the structure comes from: weighted features or profiles of the samples. With labels, whether features were
        scored by themselves or by their products.
    scale_used_ : bool
        Whether features that vary more counted more (`use_scale`).
    supervised_ : bool
        Whether features were scored by y, not by the structure of the samples.
    n_directions_ : int
        How many unwanted directions were projected out.
    n_passes_ : int
        Times the data was read.
    n_features_in_, feature_names_in_ : as in scikit-learn

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
    >>> selector = SieveSelector(n_features_to_select=10).fit(X)
    >>> bool((selector.selection_order_ < 12).all())
    True
    """

    n_features_to_select: int | float | Literal["auto", "fewest"] = "auto"
    _: KW_ONLY
    supervision: Kind = "auto"
    keep: OneEach = None
    exclude: OneEach = None
    feature_groups: OneEach = None
    max_per_group: int = 1
    feature_costs: OneEach = None
    max_cost: float | None = None
    n_directions: int | Literal["auto"] = "auto"
    use_scale: Use = "auto"
    use_profiles: Use = "auto"
    fdr: float = 0.1
    random_state: RandomState = 0
    verbose: int = 0

    _fills_gaps = True
    _parameter_constraints = {
        "n_features_to_select": [StrOptions({"fewest"}), *base.COUNT],
        "supervision": [StrOptions({"auto", "classes", "numbers", "ignore"})],
        "keep": ["array-like", None],
        "exclude": ["array-like", None],
        "feature_groups": ["array-like", None],
        "max_per_group": [base.AT_LEAST_ONE],
        "feature_costs": ["array-like", None],
        "max_cost": [Interval(Real, 0, None, closed="left"), None],
        "n_directions": [base.AUTO, Interval(Integral, 0, None, closed="left")],
        "use_scale": [base.AUTO, "boolean"],
        "use_profiles": [base.AUTO, "boolean"],
        "fdr": [base.INSIDE_0_1],
    }

    @whole_fit
    def fit(
        self,
        X: MatrixLike,
        y: OneEach = None,
        *,
        batches: OneEach = None,
        groups: OneEach = None,
        sample_weight: OneEach = None,
        side: MatrixLike = None,
        must_link: OneEach = None,
        cannot_link: OneEach = None,
    ) -> Self:
        """Learn which features to keep.

        Parameters
        ----------
        X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
            At least 4 samples. NaN in a dense array or data frame in memory marks a missing value. It is no evidence: a
            feature is standardised over the values that are there, and counts zero where there is none.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Classes of any type, or numbers. None, NaN and, among whole numbers, -1 mark a sample without label. -1 and
            1 alone are two values, and among numbers below -1 it is a number like the others. A structured array of
            (event, time), as in scikit-survival, holds times to an event, and so does a data frame with the columns
            "event" and "time".
        batches : array-like of shape (n_samples,), optional
            The batch of each sample. Differences between batches are not structure.
        groups : array-like of shape (n_samples,), optional
            The donor of each sample, where donors give several. Samples of one donor are not independent: neighbours
            and agreement are then over samples of different donors, each donor counts once, however many samples it
            gave, and permuted copies move whole donors.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, not negative. Whole numbers are the same as samples that are repeated as often; 0
            leaves a sample out. Only their ratios count: samples in memory that coincide count as one with the sum of
            their weights, and are no evidence for one another.
        side : array-like or sparse matrix of shape (n_side_samples, n_features), optional
            Samples that vary in unwanted ways. The directions in which they vary are projected out.
        must_link : array-like of shape (n_pairs, 2), optional
            Pairs of samples that belong together: the directions in which they differ are projected out.
        cannot_link : array-like of shape (n_pairs, 2), optional
            Pairs of samples that belong apart: features that set them apart score higher.
        """
        known = Known(y, side, cannot_link, must_link, batches, groups=groups, sample_weight=sample_weight)
        self._fit_known(X, known)
        return self

    def _fit_known(self, X: MatrixLike, known: Known) -> None:
        progress = base.progress_of(self)
        raw = base.check_data(self, X, known.y, min_samples=4)
        self._check_some_vary(raw)
        problem, nodes, usable = self._problem(raw, known)
        count, kept = self._count(usable), len(problem.constraints.keep)
        check_room(self, count, problem.constraints, usable)
        rng = base.generator(self.random_state)
        found = problem.found(progress)
        candidates, self.p_values_ = problem.usable, None
        if count is None:
            discoveries = problem.discoveries(self.fdr, rng, progress)
            candidates, self.p_values_ = discoveries.selected, discoveries.p_values
            count = discoveries.count + kept
        self.null_quantile_ = float(np.quantile(problem.null_scores(found, rng), 1.0 - self.fdr))
        self.structure_shown_ = None
        if self.n_features_to_select == "fewest":
            progress("looking for the fewest features that show the structure")
            order, sizes, shown = problem.fewest(found, np.flatnonzero(candidates))
            self.structure_shown_ = np.column_stack([sizes, shown])
        else:
            progress(f"picking {count} features")
            order = problem.pick(found, np.flatnonzero(candidates), count)
        self.n_passes_ = problem.n_passes
        if not nodes.trivial:
            found = replace(found, embedding=nodes.spread(found.embedding))
        self._learn(problem, found, order, usable)

    def _problem(self, raw: DataMatrix, known: Known, *, merged: bool = True) -> tuple[Problem, Nodes, BoolArray]:
        """Read everything the user knows, and build the search problem: of the samples that differ, or of all."""
        name = type(self).__name__
        target, weights = None, None
        if known.sample_weight is not None:
            weights = read_weights(self, raw, known.sample_weight)
        if known.y is not None and self.supervision != "ignore":
            target = read_target(known.y, raw.n_samples, name, cast(Kind, self.supervision), weights)
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
        if _switch(self.use_profiles) is True and unwanted.anything:
            raise ValueError(
                "use_profiles=True does not go with batches, side or must_link: these are removed from standardised "
                "features. Leave use_profiles out."
            )
        donors = None if known.groups is None else read_donors(self, raw, known.groups, weights)
        if donors is not None and merged:  # each counts once, however many samples it gave
            weights = np.ones(raw.n_samples) if weights is None else weights
            weights = weights / np.maximum(np.bincount(donors, weights), np.finfo(np.float64).tiny)[donors]
        nodes = distinct_samples(raw, target, unwanted, donors, weights, search=merged)
        cannot = None if pairs is None else pairs.cannot
        if not nodes.trivial:
            base.check_samples(self, (len(nodes.kept), raw.n_features), 4)
            raw, unwanted = nodes.of_data(raw), nodes.of_unwanted(unwanted)
            target = None if target is None else target.among(nodes.kept)
            cannot, donors = nodes.of_pairs(cannot), None if donors is None else donors[nodes.kept]
        if target is not None and len(np.unique(target.columns[target.known], axis=0)) < 2:
            raise ValueError(f"y of {name} must vary on the samples with a positive sample_weight. Raise some weights.")
        usable = self._check_some_vary(raw)
        problem = pose(
            raw,
            usable,
            target,
            unwanted,
            cannot,
            use_scale=_switch(self.use_scale),
            use_profiles=_switch(self.use_profiles),
            constraints=read_constraints(self, usable),
            donors=donors,
            weights=nodes.weights,
        )
        if target is not None and unwanted.batches is not None:
            roots = problem.cleaned.data.roots
            check_confounding(target, problem.cleaned.batches / (1.0 if roots is None else roots[:, None]))
        return problem, nodes, usable

    def _learn(self, problem: Problem, found: Found, order: IntArray, usable: BoolArray) -> None:
        rest = base.features_by_weight(found.scores, usable)
        self._learn_selection(np.concatenate([order, rest[~np.isin(rest, order)]]), order)
        self.weights_ = found.scores
        self.embedding_ = found.embedding
        self.scored_by_ = found.source
        self.scale_used_ = problem.rounds.variances is not None
        self.n_directions_ = problem.cleaned.directions.shape[1]
        self.supervised_ = problem.target is not None
        if len(order) == 0:
            self._warn_nothing_selected("the labels" if self.supervised_ else "the others' structure")


def _switch(value: Use) -> Use:
    """Read a numpy bool as one of Python's."""
    return "auto" if value == "auto" else bool(value)
