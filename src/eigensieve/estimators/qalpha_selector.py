"""QAlphaSelector: the papers' method as a scikit-learn selector."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from os import PathLike
from typing import Literal, Self

import numpy as np

from eigensieve._sklearn import StrOptions, whole_fit
from eigensieve._types import MatrixLike, OneEach
from eigensieve.estimators.base import AT_LEAST_ONE, AUTO, INSIDE_0_1, check_data, features_by_weight, progress_of
from eigensieve.estimators.knowledge import Known
from eigensieve.estimators.qalpha_base import BaseQAlpha
from eigensieve.evidence import Discoveries
from eigensieve.qalpha import SOLVERS, TAU, Knowledge, Result, Search, SolveSettings, check_start


@dataclass(eq=False, repr=False)
class QAlphaSelector(BaseQAlpha):
    """Select the features that together cluster the samples best, by Q-alpha.

    Finds unit weights alpha and orthonormal Q (n_samples, n_clusters) that maximise trace(Q' A A Q), where
    A = sum_i alpha_i m_i m_i' is the affinity of the samples and m_i is feature i over the samples. No label is needed.
    Relevant features come out with large weights, irrelevant ones near zero, although neither sparsity nor positivity
    is imposed. Time and memory are linear in the number of features; sparse input is never densified.

    Data often has several valid answers. What the user knows steers towards one: labels for all or some samples (`y`),
    samples that vary in unwanted ways only (`side`), pairs of samples that belong apart or together.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep: a number, a fraction of all features, or ``"auto"``. ``"auto"`` keeps all features
        that follow a structure shown by the other features, at a false discovery rate of `fdr`; if all samples have
        labels, all features that follow the labels. On data without structure nothing is selected, and a warning says
        so.
    n_clusters : int or "auto", default="auto"
        k, the number of leading eigenvectors whose energy is maximised. ``"auto"`` counts the eigenvalues of the
        equally weighted affinity above those of permuted features (at most 10). With labels, k is the
        number of classes minus 1.
    spectrum : {"standard", "laplacian"}, default="standard"
        Use the affinity A, or its Laplacian A - diag(A1) + dI.
    criterion : {"energy", "gap", "blocks"}, default="energy"
        ``"energy"``: the sum of the k largest squared eigenvalues. ``"gap"``: that minus the sum of all others. It is
        more robust with many noise features, may give negative weights, and costs O(n_features * n_samples^2) per step.
        With labels for all samples Q is the span of the centred class indicators, with some labels on the labelled
        samples only. ``"blocks"`` is the papers' criterion for labels: the energy of two eigenvalues within each class
        minus half the energy of one across every two classes (2005, section 3.1). It alone sees features whose
        covariance differs from class to class, and it is worse for classes that differ in their means.
    normalize : {"auto", "center", "unit", "none"}, default="auto"
        ``"center"``: centred columns of unit norm. ``"unit"``: unit norm, not centred. ``"none"``: as they are.
        ``"auto"``: ``"center"`` for the standard spectrum, ``"unit"`` for the Laplacian (which centring would undo) and
        for the blocks.
    supervision : {"auto", "classes", "ignore"}, default="auto"
        How y is used, as in :class:`SieveSelector`. ``"classes"`` takes it as classes. ``"auto"`` does so, too, and
        refuses y that looks like numbers. ``"ignore"`` selects without y, for example inside a Pipeline that passes y
        on. Numbers need a SieveSelector.
    strength : float, default=1.0
        How much side data and pairs count. The papers' lambda is 0.1 / strength in (D + lambda I)^-1 G, where D holds
        the variances of the side data in units of the variances of X, and 2 * strength in G - lambda B. The paper's B
        is the sum of (x*y)(x*y)' over the cannot-link pairs. Here B is q^2 / 2 times (its mean over the cannot-link
        pairs minus its mean over the must-link pairs), q the number of samples: so lambda does not depend on the number
        of pairs. One pair of 40 samples counts 800 times as much as printed.
    solver : {"auto", "basic", "power", "ritz"}, default="auto"
        ``"auto"`` improves weights and embedding together, with one pass over the data per step. The others are the
        papers' algorithms. They find the same maximum with many more passes.
    solver_options : dict or None, default=None
        Where the search starts and ends. ``"init"``: the starting embedding, ``"eigen"`` for leading eigenvectors of
        the equally weighted affinity (the default), ``"random"``, or an ndarray of shape (n_samples, n_clusters); one
        random start often ends in a poor local maximum. ``"n_init"`` (1): number of starts, `init` and random ones
        after it; the best criterion is kept, and `start_objectives_` shows how far the others fall short. Ten starts
        cost about two fits: the random ones climb together, and only the best of them is followed to the end. With
        labels there is one start. ``"max_iter"`` (200): most steps of a start. ``"tol"`` (5e-3): a start ends when the
        residual ``|G alpha - rho alpha| / rho`` of the weights is below it and the last step gains less than its
        square. ``"shift"``, for ``spectrum="laplacian"`` with ``solver="power"``: d, ``"fixed"``, or ``"moving"`` in
        every step; ``"printed"`` also takes it from diag(A) in place of diag(A1) (2005, Definition 5).
    fdr : float, default=0.1
        Expected fraction of false selections to allow when `n_features_to_select` is ``"auto"``.
    random_state : int, RandomState, Generator or None, default=None
        For random starts, and for the folds and the permuted copies of the automatic choice.
    verbose : int, default=0
        1 prints progress, at most twice a second; 2 prints every step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        alpha: unit norm, positive sum; 0 for constant features.
    ranking_ : ndarray of int of shape (n_features,)
        Rank of every feature, 1 for the best, as in scikit-learn's RFE: the selected ones
        first, each group by weight; constant features last.
    selection_order_ : ndarray of int of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool of shape (n_features,)
        The selected features: those of largest weight when their number was given, else those with small p-values.
    p_values_ : ndarray of shape (n_features,) or None
        For ``n_features_to_select="auto"``: the chance that a permuted copy of the feature agrees as well with an
        embedding of other features; if all samples have labels, with the labels. Otherwise None.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Q: leading eigenvectors of the weighted affinity of the samples; with labels, the span of the class indicators.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Their eigenvalues, largest magnitude first.
    n_clusters_ : int
        k as used; with labels, the number of classes minus 1.
    objective_ : float
        The criterion reached; with side data, divided by alpha'(D + lambda I)alpha.
    start_objectives_ : ndarray of shape (n_init,)
        The criterion reached from every start: their spread shows how much the start decides. NaN where it vanished.
    starts_finished_ : ndarray of bool of shape (n_init,)
        Starts that were followed to a maximum, or whose weights and embedding came near those of one that was: they
        have its criterion. The others were given up while better ones went on, and have a lower bound of theirs.
    objective_history_ : ndarray
        The criterion after each accepted step; never decreases (except for ``criterion="blocks"``).
    n_iter_ : int
        Steps of the solver.
    n_passes_ : int
        Times the data was read, statistics and start included.
    converged_ : bool
        False when `max_iter` ended the search (a ConvergenceWarning says so too).
    sparsity_gap_ : float
        Mean weight of the selected features over the mean weight of the others.
    negative_weight_fraction_ : float
        Fraction of the varying features with a negative weight.
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    L. Wolf and A. Shashua, "Feature Selection for Unsupervised and Supervised Inference: The Emergence of Sparsity in a
    Weight-Based Approach", Journal of Machine Learning Research 6, 2005.

    A. Shashua and L. Wolf, "Kernel Feature Selection with Side Data using a Spectral Approach", ECCV 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import QAlphaSelector
    >>> rng = np.random.default_rng(1)
    >>> X = rng.standard_normal((60, 200))
    >>> X[:30, :8] += 3.0
    >>> QAlphaSelector(random_state=0).fit(X).get_support(indices=True)
    array([0, 1, 2, 3, 4, 5, 6, 7])
    """

    n_clusters: int | Literal["auto"] = "auto"
    _: KW_ONLY
    spectrum: Literal["standard", "laplacian"] = "standard"
    criterion: Literal["energy", "gap", "blocks"] = "energy"
    solver: Literal["auto", "basic", "power", "ritz"] = "auto"
    fdr: float = 0.1

    _parameter_constraints = {
        **BaseQAlpha._parameter_constraints,
        "n_clusters": [AUTO, AT_LEAST_ONE],
        "spectrum": [StrOptions({"standard", "laplacian"})],
        "criterion": [StrOptions(set(TAU))],
        "solver": [StrOptions(set(SOLVERS))],
        "fdr": [INSIDE_0_1],
    }
    _search_rules = {
        **BaseQAlpha._search_rules,
        "init": [StrOptions({"eigen", "random"}), np.ndarray],
        "shift": [StrOptions({"fixed", "moving", "printed"})],
    }

    @whole_fit
    def fit(
        self,
        X: MatrixLike,
        y: OneEach = None,
        *,
        side: MatrixLike = None,
        cannot_link: OneEach = None,
        must_link: OneEach = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float32 and float64 are used as they are. Other numeric types are converted block by block.
        y : array-like of shape (n_samples,), optional
            Class labels, numbers or strings. None, NaN and -1 mark samples without label; if -1 and 1 are the only
            values, they are two classes. Used as `supervision` says.
        side : array-like or sparse matrix of shape (n_side_samples, n_features), optional
            Samples that vary only in unwanted ways. Features that vary among them get less weight.
        cannot_link, must_link : array-like of int of shape (n_pairs, 2) or (n_samples,), optional
            Pairs of samples that belong to different clusters, or to the same: indices of two samples per row; or one
            group number per sample, -1 for none. Samples of one group belong together in `must_link`, samples of
            different groups belong apart in `cannot_link`. A cross-validation can slice group numbers only.
        checkpoint : path-like, optional
            Folder in which the last completed step is kept. If a fit was interrupted, call it again with the same data
            and settings: it continues from there and ends with the same result. The folder of a finished fit gives that
            fit's weights again at once. If anything that the weights depend on differs (a value in the data, labels,
            side data, pairs, a setting), or if the folder is damaged, a `CheckpointError` says so; `max_iter` may be
            raised. This check reads the data once. Not possible with labels for some samples only, nor with
            ``criterion="blocks"``. The folds of the automatic choice are fitted anew.
        """
        known = Known(y, side=side, cannot_link=cannot_link, must_link=must_link)
        progress = progress_of(self)
        raw = check_data(self, X, known.y)
        usable = self._check_some_vary(raw)
        count = self._count(usable)
        self._check_range(raw)
        knowledge = self._read_knowledge(raw, known)
        settings = self._settings(progress, solver=self.solver, checkpoint=checkpoint)
        self._check_checkpoint(settings, knowledge)
        check_start(type(self).__name__, self.n_clusters, settings.init, raw.n_samples)
        search = Search(
            raw, usable, self._normalization, knowledge, settings, self.n_clusters, self.spectrum, self.criterion
        )
        result = search.solve(usable)
        found = search.discover(self.fdr, progress) if count is None else None
        self._learn(result, search, count, found)
        return self

    def _check_checkpoint(self, settings: SolveSettings, knowledge: Knowledge) -> None:
        if settings.checkpoint is None:
            return
        labels = knowledge.labels
        if labels is not None and (knowledge.blocks or not labels.complete):
            must = "be None with labels for some samples only and with criterion='blocks': their steps are not kept"
            raise self._wrong("fit.checkpoint", must, repr(settings.checkpoint))
        drawn = settings.n_init > 1 or (isinstance(settings.init, str) and settings.init == "random")
        if drawn and not isinstance(self.random_state, Integral):
            must = "be a number with random starts and a checkpoint, or another call would start elsewhere"
            raise self._wrong("random_state", must, repr(self.random_state))

    def _learn(self, result: Result, search: Search, count: int | None, found: Discoveries | None) -> None:
        order = features_by_weight(result.weights, search.usable)
        self._learn_selection(order, order[:count] if found is None else found.selected)
        self._learn_solution(result, search.usable)
        self.p_values_ = None if found is None else found.p_values
        self.embedding_ = result.embedding
        self.n_clusters_ = result.embedding.shape[1]
        self.objective_history_ = result.history
        self.n_passes_ = search.raw.n_passes
        if not self.support_.any():
            self._warn_nothing_selected("the labels" if search.follows_labels else "the others' structure")
