"""KernelQAlphaSelector: Q-alpha on features mapped by a kernel."""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from eigensieve._progress import Progress
from eigensieve._sklearn import StrOptions, fit_context
from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data
from eigensieve.estimators.base import (
    AT_LEAST_ONE,
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    STEPS,
    BaseSelector,
    all_or_nothing,
    features_by_weight,
    generator,
    progress_of,
    warn_user,
)
from eigensieve.estimators.knowledge import Known, side_scale
from eigensieve.evidence import two_level_cut
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha import (
    KERNELS,
    TAU,
    ComputedKernel,
    Factor,
    FeatureKernel,
    GivenKernel,
    KernelSettings,
    Knowledge,
    Labels,
    PairPenalty,
    Pairs,
    Problem,
    Request,
    Result,
    SolveSettings,
    UnitKernel,
    check_combination,
    check_likeness,
    exact_factor,
    kernel_function,
    nystroem_factor,
    read_labels,
    read_pairs,
    solve_steered,
)

_MUCH = 0.2  # the ranking cannot be trusted when a larger share of the kernel's trace is left out


class KernelQAlphaSelector(BaseSelector):
    """Select features that are related, but not correlated: Q-alpha with a kernel between features.

    Q-alpha compares features by their inner products m_i'm_j. Relevant features can be related in other ways: by their
    squares, or up to a sign that changes from session to session. A kernel k(m_i, m_j) over features captures such
    relations. The affinity is then A = sum_i alpha_i phi(m_i) phi(m_i)' in the space of the kernel.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep: a number, a fraction of all features, or ``"auto"``. ``"auto"`` splits the sorted
        weights into two groups with the least variance within, and keeps the upper group.
    n_clusters : int, default=3
        k, the number of leading eigenvectors whose energy is maximised.
    kernel : {"linear", "poly", "rbf", "sections", "precomputed"} or callable, default="poly"
        With features a, b as vectors over the samples: ``"linear"`` a'b; ``"poly"`` (gamma a'b + coef0)^degree;
        ``"rbf"`` ``exp(-gamma |a - b|^2)``; ``"sections"`` the sum over sections of `section_size` consecutive samples
        of (inner product within the section)^degree. ``"precomputed"``: X is the kernel matrix, features x features. A
        callable gets two arrays with features in rows and returns the matrix of kernel values.
    degree : int, default=2
        For ``"poly"`` and ``"sections"``.
    coef0 : float, default=0.0
        For ``"poly"``.
    gamma : float, default=1.0
        For ``"poly"`` and ``"rbf"``.
    section_size : int, default=8
        For ``"sections"``.
    normalize : {"center", "unit", "none"}, default="center"
        ``"center"``: centred columns of unit norm. ``"unit"``: unit norm, not centred. Both also scale the mapped
        features to unit norm, V_ij / sqrt(V_ii V_jj). ``"none"``: neither. A precomputed kernel is not centred.
    n_components : int or None, default=None
        None: the whole kernel matrix, n_features x n_features. A number: Nystroem's approximation from this many of its
        columns, with memory n_features x n_components. `approximation_error_` bounds what it leaves out. The
        features of the columns drawn are favoured; above 0.2 a warning says so.
    criterion : {"energy", "gap"}, default="energy"
        Maximise the sum of the k largest squared eigenvalues of the affinity, or that minus the sum of all others.
    supervision : {"auto", "span", "ignore"}, default="auto"
        What labels are used for. ``"span"``: the kernel maps the centred class indicators like features, Q is the span
        of their images, and only the weights are sought. ``"ignore"``: y is not used. ``"auto"``: ``"span"`` when y is
        given.
    side_strength : float, default=0.1
        lambda in (D + lambda I)^-1 G, where D holds the variances of the side data's features in units of those of X.
        The smaller, the more the side data counts.
    pair_strength : float, default=2.0
        lambda in G - lambda B. B is that of `QAlphaSelector`: it is made of the samples, whatever the kernel.
    max_iter : int, default=200
        Largest number of steps of the solver.
    tol : float, default=5e-3
        Precision of the weights.
    random_state : int, RandomState or None, default=None
        For the columns that Nystroem's approximation draws.
    verbose : int, default=0
        1 prints progress, at most twice a second; 2 prints every step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        alpha: unit norm, positive sum; 0 for constant features.
    ranking_ : ndarray of int of shape (n_features,)
        Rank of every feature, 1 for the best, as in scikit-learn's RFE: by weight,
        constant features last.
    selection_order_ : ndarray of int of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    projections_ : ndarray of shape (n_features, n_clusters)
        phi(m_i)'Q: the mapped features along the leading eigenvectors of the affinity.
    mapped_features_ : ndarray of shape (n_features, n_dimensions)
        phi(m_i), in coordinates: their inner products are the kernel matrix V as normalised.
    G_ : ndarray of shape (n_features, n_features)
        The matrix of which the weights are the leading eigenvector: V * (P P') with the `projections_` P, or V * (2 P
        P' - V) for ``criterion="gap"``. With side data the weights are the leading eigenvector of (D + lambda I)^-1 G,
        with pairs that of G - lambda B. It is computed from `mapped_features_` whenever it is asked for.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Leading eigenvalues of the affinity.
    approximation_error_ : float
        trace(V - V~) / trace(V) for the kernel as normalised, 0.0 for the whole matrix. V - V~ is positive
        semidefinite, so no eigenvalue of V is off by more than this share of V's trace.
    n_components_ : int
        Dimensions of the space the features were mapped to.
    objective_ : float
        The criterion reached.
    n_iter_ : int
        Steps of the solver.
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
    Weight-Based Approach", Journal of Machine Learning Research 6, 2005, section 5. The last step printed there,
    E <- E R^-1, would never move the column space; it is E <- D_alpha V E R^-1.

    Examples
    --------
    >>> from eigensieve import KernelQAlphaSelector
    >>> from eigensieve.datasets import make_hidden_signs
    >>> X, _, relevant = make_hidden_signs(0.005, random_state=0)
    >>> selector = KernelQAlphaSelector(12, kernel="sections", normalize="unit").fit(X)
    >>> int(relevant[selector.get_support()].sum())
    12
    """

    _parameter_constraints: dict = {
        "n_features_to_select": COUNT,
        "n_clusters": [AT_LEAST_ONE],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "degree": [AT_LEAST_ONE],
        "coef0": [NOT_NEGATIVE],
        "gamma": [POSITIVE],
        "section_size": [AT_LEAST_ONE],
        "normalize": [StrOptions({"center", "unit", "none"})],
        "n_components": [None, AT_LEAST_ONE],
        "criterion": [StrOptions(set(TAU))],
        "supervision": [StrOptions({"auto", "span", "ignore"})],
        "side_strength": [NOT_NEGATIVE],
        "pair_strength": [NOT_NEGATIVE],
        **STEPS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] = "auto",
        n_clusters: int = 3,
        *,
        kernel: Callable[[Array, Array], Array] | Literal["linear", "poly", "rbf", "sections", "precomputed"] = "poly",
        degree: int = 2,
        coef0: float = 0.0,
        gamma: float = 1.0,
        section_size: int = 8,
        normalize: Literal["center", "unit", "none"] = "center",
        n_components: int | None = None,
        criterion: Literal["energy", "gap"] = "energy",
        supervision: Literal["auto", "span", "ignore"] = "auto",
        side_strength: float = 0.1,
        pair_strength: float = 2.0,
        max_iter: int = 200,
        tol: float = 5e-3,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.section_size = section_size
        self.normalize = normalize
        self.n_components = n_components
        self.criterion = criterion
        self.supervision = supervision
        self.side_strength = side_strength
        self.pair_strength = pair_strength
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @property
    def G_(self) -> Array:
        V = self.mapped_features_ @ self.mapped_features_.T
        PP = self.projections_ @ self.projections_.T
        return V * (2 * PP - V) if self.criterion == "gap" else V * PP

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, side: Any = None, cannot_link: Any = None, must_link: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"`` the kernel matrix, (n_features, n_features).
        y : array-like of shape (n_samples,), optional
            Class labels of all samples, numbers or strings. Used as `supervision` says.
        side : array-like or sparse matrix of shape (n_side_samples, n_features), optional
            Samples that vary only in unwanted ways. Features that vary among them get less weight.
        cannot_link, must_link : array-like of int of shape (n_pairs, 2) or (n_samples,), optional
            Pairs of samples that belong to different clusters, or to the same, as in `QAlphaSelector.fit`.

        Returns
        -------
        self : KernelQAlphaSelector

        Notes
        -----
        Labels, side data and pairs need the samples, so they cannot be used with ``kernel="precomputed"``.
        """
        with all_or_nothing(self):
            known = Known(y, side=side, cannot_link=cannot_link, must_link=must_link)
            self._fit(X, known, progress_of(self))
        return self

    def _fit(self, X: Any, known: Known, progress: Progress) -> None:
        raw = self._check_data(X, known.y)
        self._check_samples_are_known(known)
        labels, pairs = self._labels_and_pairs(raw, known)
        indicators = None if labels is None else _indicators(labels)
        kernel, usable = self._feature_kernel(raw, indicators)
        scale = None if known.side is None else side_scale(self, raw, known.side, self.side_strength)
        count = self._count(usable)
        progress(f"kernel of {raw.n_features} features")
        with np.errstate(over="ignore", invalid="ignore"):
            factor = self._factor(kernel if self.normalize == "none" else UnitKernel(kernel))
        phi = np.where(usable[:, None], factor.phi[: raw.n_features], 0.0)
        self._check_kernel_range(phi)
        span = None if labels is None else _orthonormal(factor.phi[raw.n_features :].T)
        if span is not None:
            check_likeness(phi, span, type(self).__name__)
        k = min(int(self.n_clusters), phi.shape[1]) if span is None else span.shape[1]
        penalty = None
        if pairs is not None and self.pair_strength > 0:
            penalty = PairPenalty(raw.standardized(self.normalize), pairs, self.pair_strength, scale)
        affinity = StandardAffinity(as_data(np.ascontiguousarray(phi.T)))
        problem = Problem(affinity, k, TAU[self.criterion], usable, fixed_embedding=span, penalty=penalty)
        settings = SolveSettings(max_iter=self.max_iter, tol=self.tol, progress=progress)
        result = solve_steered(problem, Knowledge(scale=scale), settings)
        self._learn(result, usable, phi, factor, count)

    def _check_samples_are_known(self, known: Known) -> None:
        """Refuse what is said about samples when X is a kernel matrix and has none."""
        if not (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            return
        said = {"y": known.y if self._uses(known.y) else None, "side": known.side}
        said |= {"cannot_link": known.cannot_link, "must_link": known.must_link}
        for name, given in said.items():
            if given is not None:
                fix = "Use another kernel" + (", or supervision='ignore'." if name == "y" else ".")
                raise ValueError(
                    f"The '{name}' parameter of KernelQAlphaSelector.fit must be None for kernel='precomputed': X is "
                    f"then the kernel matrix, so the samples that {name} is about are not known. {fix}"
                )

    def _labels_and_pairs(self, raw: DataMatrix, known: Known) -> tuple[Labels | None, Pairs | None]:
        name = type(self).__name__
        labels = read_labels(known.y, raw.n_samples, name) if self._uses(known.y) else None
        if labels is not None and not labels.complete:
            raise ValueError(
                f"{name} needs a label for every sample. Got {np.count_nonzero(labels.codes < 0)} of {raw.n_samples} "
                "samples without one in y. Leave these samples out, use supervision='ignore', or use QAlphaSelector."
            )
        pairs = read_pairs(known.cannot_link, known.must_link, raw.n_samples, name)
        supervision = None if labels is None else "span"
        check_combination(Request(name, "standard", self.criterion, self.normalize, "auto", supervision, labels, pairs))
        return labels, pairs

    def _feature_kernel(self, raw: DataMatrix, indicators: Array | None) -> tuple[FeatureKernel, Array]:
        """The kernel and the features that may be chosen. The class indicators come after the features."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            if raw.n_samples != raw.n_features:
                raise ValueError(
                    "Precomputed kernels must be square, features x features. Got X with shape "
                    f"({raw.n_samples}, {raw.n_features}) for KernelQAlphaSelector(kernel='precomputed') instead."
                )
            if raw.shared.exponents is not None:
                raise ValueError(
                    "Input X has kernel values too large or too small to be multiplied, for "
                    "KernelQAlphaSelector(kernel='precomputed'). Divide X by its largest value."
                )
            V = np.asarray(raw.take(np.arange(raw.n_features)), dtype=np.float64)
            return GivenKernel(V), np.diag(V) > 0
        usable = self._check_some_vary(raw)
        self._check_range(raw, self.normalize)
        settings = KernelSettings(self.degree, self.coef0, self.gamma, self.section_size)
        function = kernel_function(self.kernel, settings)
        return ComputedKernel(raw.standardized(self.normalize), function, indicators), usable

    def _check_kernel_range(self, phi: Array) -> None:
        """Refuse features whose fourth power overflows or vanishes in the kernel's space."""
        largest, limit = float(np.abs(phi).max()), float(np.finfo(np.float64).max) ** 0.2
        if not 1 / limit <= largest <= limit:
            raise ValueError(
                f"The kernel of KernelQAlphaSelector gives features of size {largest:.1e}, beyond the limits of "
                f"{1 / limit:.1e} and {limit:.1e} (the criterion is of fourth power). Use normalize='center' or "
                "rescale X, and check the parameters of the kernel."
            )

    def _factor(self, kernel: FeatureKernel) -> Factor:
        if self.n_components is None:
            return exact_factor(kernel, type(self).__name__)
        return nystroem_factor(kernel, int(self.n_components), generator(self.random_state), type(self).__name__)

    def _learn(self, result: Result, usable: Array, phi: Array, factor: Factor, count: int | None) -> None:
        order = features_by_weight(result.weights, usable)
        self._learn_selection(order, order[: two_level_cut(result.weights[usable]) if count is None else count])
        self._learn_solution(result, usable)
        self.mapped_features_ = phi
        self.projections_ = phi @ result.embedding
        self.approximation_error_ = factor.error
        self.n_components_ = phi.shape[1]
        if factor.error > _MUCH:
            warn_user(
                f"The approximation of the kernel from n_components={self.n_components} columns leaves out "
                f"{factor.error:.0%} of its trace, and favours the features it drew. Increase n_components, or use a "
                "kernel of lower rank."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _indicators(labels: Labels) -> Array:
    """Return the centred class indicators, with unit norm, in columns."""
    indicators = (labels.codes[:, None] == np.arange(len(labels.classes))).astype(np.float64)
    indicators -= indicators.mean(axis=0)
    return indicators / np.linalg.norm(indicators, axis=0)


def _orthonormal(vectors: Array) -> Array:
    """Return an orthonormal basis of the columns' span."""
    basis, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    return basis[:, sizes > 1e-6 * sizes[0]]
