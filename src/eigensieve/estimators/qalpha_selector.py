"""QAlphaSelector: the papers' method as a scikit-learn selector."""

import os
from typing import Any, Literal, Self

import numpy as np

from eigensieve._progress import Progress
from eigensieve._sklearn import StrOptions, fit_context
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import (
    AT_LEAST_ONE,
    AUTO,
    COUNT,
    INSIDE_0_1,
    NOT_NEGATIVE,
    STEPS,
    BaseSelector,
    all_or_nothing,
    features_by_weight,
    generator,
    progress_of,
    warn_user,
)
from eigensieve.estimators.knowledge import Known, side_scale
from eigensieve.estimators.qalpha_search import Search
from eigensieve.evidence import Discoveries
from eigensieve.qalpha import (
    SOLVERS,
    TAU,
    Knowledge,
    Request,
    Result,
    check_combination,
    check_start,
    read_labels,
    read_pairs,
    read_settings,
)


class QAlphaSelector(BaseSelector):
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
    criterion : {"energy", "gap"}, default="energy"
        Maximise the sum of the k largest squared eigenvalues, or that minus the sum of all others. The gap is more
        robust with many noise features, may give negative weights, and costs O(n_features * n_samples^2) per step.
    normalize : {"auto", "center", "unit", "none"}, default="auto"
        ``"center"``: centred columns of unit norm. ``"unit"``: unit norm, not centred. ``"none"``: as they are.
        ``"auto"``: ``"center"`` for the standard spectrum, ``"unit"`` for the Laplacian (which centring would undo) and
        for ``supervision="blocks"``.
    supervision : {"auto", "span", "blocks", "ignore"}, default="auto"
        What labels are used for. ``"span"``: Q is the span of the centred class indicators, and only the weights are
        sought; if some labels are -1, this holds for the labelled samples. ``"blocks"``: the papers' criterion, energy
        within classes minus `block_gamma` times the energy across classes. It is the only form that sees features whose
        covariance differs from class to class. It is worse for classes that differ in their means. ``"ignore"``: y is
        not used, as in a Pipeline whose last step needs it. ``"auto"``: ``"span"`` when y is given.
    solver : {"auto", "basic", "power", "ritz"}, default="auto"
        ``"auto"`` improves weights and embedding together, with one pass over the data per step. The others are the
        papers' algorithms. They find the same maximum with many more passes.
    init : {"eigen", "random"} or ndarray of shape (n_samples, n_clusters), default="eigen"
        Starting embedding: leading eigenvectors of the equally weighted affinity, random directions, or the user's own.
        Random starts often end in poor local maxima; use them with `n_init`. Not used with labels.
    n_init : int, default=1
        Number of random starts, of which the one with the best criterion is kept. Must be 1 for other starts.
    side_strength : float, default=0.1
        lambda in (D + lambda I)^-1 G, where D holds the variances of the side data in units of the variances of X. The
        smaller, the more the side data counts.
    pair_strength : float, default=2.0
        Weight of the pairs against the criterion. The mean of (x'y)^2 over the given pairs is multiplied by this number
        and by the number of all pairs of samples.
    block_gamma : float, default=0.5
        For ``supervision="blocks"``: weight of the energy across classes.
    block_clusters : tuple of 2 ints, default=(2, 1)
        For ``supervision="blocks"``: number of eigenvalues of a block within a class and of one across two classes.
    max_iter : int, default=200
        Largest number of steps of the solver.
    tol : float, default=5e-3
        The solver stops when the residual ``|G alpha - rho alpha| / rho`` of the weights is below `tol` and the
        relative gain of the last step is below tol^2.
    checkpoint : path-like or None, default=None
        Folder in which the last completed step is kept. If a fit was interrupted, call it again with the same data and
        settings: it continues from there and ends with the same result. The folder of a finished fit gives that fit's
        weights again at once. If anything that the weights depend on differs (a value in the data, labels, side data,
        pairs, a setting), or if the folder is damaged, a `CheckpointError` says so; `max_iter` may be raised. This
        check reads the data once. Not possible with labels for some samples only, nor with ``supervision="blocks"``.
        The folds of the automatic choice are fitted anew.
    fdr : float, default=0.1
        Expected fraction of false selections to allow when `n_features_to_select` is ``"auto"``.
    random_state : int, RandomState or None, default=None
        For ``init="random"``, and for the folds and the permuted copies of the automatic choice.
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
    objective_history_ : ndarray
        The criterion after each accepted step; never decreases (except for ``supervision="blocks"``).
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
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        When X had column names.

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

    _parameter_constraints: dict = {
        "n_features_to_select": COUNT,
        "n_clusters": [AUTO, AT_LEAST_ONE],
        "spectrum": [StrOptions({"standard", "laplacian"})],
        "criterion": [StrOptions(set(TAU))],
        "normalize": [StrOptions({"auto", "center", "unit", "none"})],
        "solver": [StrOptions(set(SOLVERS))],
        "supervision": [StrOptions({"auto", "span", "blocks", "ignore"})],
        "init": [StrOptions({"eigen", "random"}), np.ndarray],
        "n_init": [AT_LEAST_ONE],
        "side_strength": [NOT_NEGATIVE],
        "pair_strength": [NOT_NEGATIVE],
        "block_gamma": [NOT_NEGATIVE],
        "block_clusters": [tuple],
        **STEPS,
        "checkpoint": [str, os.PathLike, None],
        "fdr": [INSIDE_0_1],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] = "auto",
        n_clusters: int | Literal["auto"] = "auto",
        *,
        spectrum: Literal["standard", "laplacian"] = "standard",
        criterion: Literal["energy", "gap"] = "energy",
        normalize: Literal["auto", "center", "unit", "none"] = "auto",
        supervision: Literal["auto", "span", "blocks", "ignore"] = "auto",
        solver: Literal["auto", "basic", "power", "ritz"] = "auto",
        init: Array | Literal["eigen", "random"] = "eigen",
        n_init: int = 1,
        side_strength: float = 0.1,
        pair_strength: float = 2.0,
        block_gamma: float = 0.5,
        block_clusters: tuple[int, int] = (2, 1),
        max_iter: int = 200,
        tol: float = 5e-3,
        checkpoint: Any = None,
        fdr: float = 0.1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.spectrum = spectrum
        self.criterion = criterion
        self.normalize = normalize
        self.supervision = supervision
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.side_strength = side_strength
        self.pair_strength = pair_strength
        self.block_gamma = block_gamma
        self.block_clusters = block_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.fdr = fdr
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, side: Any = None, cannot_link: Any = None, must_link: Any = None) -> Self:
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

        Returns
        -------
        self : QAlphaSelector
        """
        with all_or_nothing(self):
            known = Known(y, side=side, cannot_link=cannot_link, must_link=must_link)
            self._fit(X, known, progress_of(self))
        return self

    def _fit(self, X: Any, known: Known, progress: Progress) -> None:
        supervision = self._supervision(known.y)
        normalize = self._normalization(supervision)
        raw = self._check_data(X, known.y)
        usable = self._check_some_vary(raw)
        count = self._count(usable)
        self._check_range(raw, normalize)
        knowledge = self._knowledge(raw, supervision, normalize, known)
        self._check_checkpoint(knowledge)
        check_start(type(self).__name__, self.n_clusters, self.init, self.n_init, raw.n_samples)
        search = Search(self, raw, usable, normalize, knowledge, generator(self.random_state))
        result = search.solve(usable, progress=progress, checkpoint=self.checkpoint)
        found = search.discover(progress) if count is None else None
        self._learn(result, search, count, found)

    def _supervision(self, y: Any) -> str | None:
        """How labels are used: "span", "blocks", or None for not at all."""
        if not self._uses(y):
            return None
        return "span" if self.supervision == "auto" else self.supervision

    def _check_checkpoint(self, knowledge: Knowledge) -> None:
        labels = knowledge.labels
        if self.checkpoint is not None and labels is not None and (knowledge.blocks is not None or not labels.complete):
            raise ValueError(
                "The 'checkpoint' parameter of QAlphaSelector must be None with labels for some samples only and with "
                f"supervision='blocks': their steps cannot be resumed. Got {self.checkpoint!r} instead."
            )
        drawn = isinstance(self.init, str) and self.init == "random" and self.random_state is None
        if self.checkpoint is not None and drawn:
            raise ValueError(
                "The 'random_state' parameter of QAlphaSelector must be a number with init='random' and a "
                "checkpoint: another call would start elsewhere and could not go on. Got None instead."
            )

    def _normalization(self, supervision: str | None) -> str:
        if self.normalize != "auto":
            return self.normalize
        return "unit" if self.spectrum == "laplacian" or supervision == "blocks" else "center"

    def _knowledge(self, raw: DataMatrix, supervision: str | None, normalize: str, known: Known) -> Knowledge:
        """Read all that was given besides X, and refuse what does not go together."""
        name = type(self).__name__
        labels = None if supervision is None else read_labels(known.y, raw.n_samples, name)
        pairs = read_pairs(known.cannot_link, known.must_link, raw.n_samples, name)
        if pairs is None and (known.cannot_link is not None or known.must_link is not None):
            warn_user(f"The group numbers given to {name} pair no two of the {raw.n_samples} samples. It fits without.")
        settings = (self.spectrum, self.criterion, normalize, self.solver)
        check_combination(Request(name, *settings, supervision, labels, pairs))
        scale = None if known.side is None else side_scale(self, raw, known.side, self.side_strength)
        blocks = read_settings(self.block_gamma, self.block_clusters, name) if supervision == "blocks" else None
        return Knowledge(labels, blocks, scale, pairs, self.pair_strength)

    def _learn(self, result: Result, search: Search, count: int | None, found: Discoveries | None) -> None:
        order = features_by_weight(result.weights, search.usable)
        self._learn_selection(order, order[:count] if found is None else found.selected)
        self._learn_solution(result, search.usable)
        self.p_values_ = None if found is None else found.p_values
        self.embedding_ = result.embedding
        self.n_clusters_ = result.embedding.shape[1]
        self.objective_history_ = result.history
        self.n_passes_ = search.n_passes
        if not self.support_.any():
            self._warn_nothing_selected("the labels" if search.follows_labels else "the others' structure")
