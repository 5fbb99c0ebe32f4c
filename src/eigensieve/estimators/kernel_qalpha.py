"""KernelQAlphaSelector: Q-alpha on features mapped by a kernel."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Literal, Self

import numpy as np

from eigensieve._sklearn import StrOptions, fit_context
from eigensieve._types import Array, BoolArray, FloatArray
from eigensieve.data import DataMatrix, as_data
from eigensieve.estimators.base import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    features_by_weight,
    generator,
    progress_of,
    warn_user,
)
from eigensieve.estimators.knowledge import Known
from eigensieve.estimators.qalpha_base import BaseQAlpha, two_level_cut
from eigensieve.qalpha import (
    KERNELS,
    TAU,
    Factor,
    KernelSettings,
    Knowledge,
    Labels,
    PairPenalty,
    Problem,
    ProblemGram,
    Result,
    check_likeness,
    map_features,
    solve_steered,
    spectrum_affinity,
)

_MUCH = 0.2  # the ranking cannot be trusted when a larger share of the kernel's trace is left out


class KernelQAlphaSelector(BaseQAlpha):
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
    normalize : {"auto", "center", "unit", "none"}, default="auto"
        ``"center"``: centred columns of unit norm. ``"unit"``: unit norm, not centred. Both also scale the mapped
        features to unit norm, V_ij / sqrt(V_ii V_jj). ``"none"``: neither. ``"auto"``: ``"center"``, and ``"unit"`` for
        the Laplacian. A precomputed kernel is not centred.
    n_components : int or None, default=None
        None: the whole kernel matrix, n_features x n_features. A number: Nystroem's approximation from this many of its
        columns, with memory n_features x n_components. `approximation_error_` bounds the part left out. The
        features of the columns drawn are favoured; above 0.2 a warning says so.
    spectrum : {"standard", "laplacian"}, default="standard"
        Use the affinity A, or its Laplacian. A Laplacian needs coordinates. Those of ``"linear"`` are the samples,
        those of ``"poly"`` (with ``coef0=0``) and ``"sections"`` the products of `degree` samples. Other kernels and
        `n_components` have none, and are refused.
    supervision : {"auto", "span", "ignore"}, default="auto"
        How y is used. ``"auto"``: as ``"span"`` if y is given. ``"ignore"``: not at all. ``"span"``: the kernel maps
        the centred class indicators like features, Q is the span of their images, and only the weights are sought.
    pair_strength : float, default=2.0
        lambda in G - lambda B. B is that of `QAlphaSelector`: it is made of the samples, whatever the kernel.
    random_state : int, RandomState, Generator or None, default=None
        For the columns that Nystroem's approximation draws, and for random starts.
    criterion, n_init, side_strength, max_iter, tol, verbose
        As in :class:`QAlphaSelector`.

    Attributes
    ----------
    projections_ : ndarray of shape (n_features, n_clusters)
        phi(m_i)'Q: the mapped features along the leading eigenvectors of the affinity.
    mapped_features_ : ndarray of shape (n_features, n_dimensions)
        phi(m_i), in coordinates: their inner products are the kernel matrix V as normalised.
    embedding_ : ndarray of shape (n_dimensions, n_clusters)
        Q: leading eigenvectors of the affinity in these coordinates; with labels, the span of the mapped classes.
    G_ : ndarray of shape (n_features, n_features)
        The matrix of which the weights are the leading eigenvector: V * (P P') with the `projections_` P, or V * (2 P
        P' - V) for ``criterion="gap"``; for the Laplacian trace(Q' L_i L_j Q). With side data the weights are the
        leading eigenvector of (D + lambda I)^-1 G, with pairs that of G - lambda B. It is computed from
        `mapped_features_` whenever it is asked for.
    approximation_error_ : float
        trace(V - V~) / trace(V) for the kernel as normalised, 0.0 for the whole matrix. V - V~ is positive
        semidefinite, so no eigenvalue of V is off by more than this share of V's trace.
    n_components_ : int
        Dimensions of the space the features were mapped to.
    weights_, ranking_, selection_order_, support_, eigenvalues_, objective_, start_objectives_, n_iter_, converged_
        As in :class:`QAlphaSelector`.
    sparsity_gap_, negative_weight_fraction_, n_features_in_, feature_names_in_
        As in :class:`QAlphaSelector`.

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
        **BaseQAlpha._parameter_constraints,
        "kernel": [StrOptions(set(KERNELS)), callable],
        "degree": [AT_LEAST_ONE],
        "coef0": [NOT_NEGATIVE],
        "gamma": [POSITIVE],
        "section_size": [AT_LEAST_ONE],
        "n_components": [None, AT_LEAST_ONE],
        "pair_strength": [NOT_NEGATIVE],
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
        normalize: Literal["auto", "center", "unit", "none"] = "auto",
        n_components: int | None = None,
        spectrum: Literal["standard", "laplacian"] = "standard",
        criterion: Literal["energy", "gap"] = "energy",
        supervision: Literal["auto", "span", "ignore"] = "auto",
        n_init: int = 1,
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
        self.spectrum = spectrum
        self.criterion = criterion
        self.supervision = supervision
        self.n_init = n_init
        self.side_strength = side_strength
        self.pair_strength = pair_strength
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @property
    def G_(self) -> FloatArray:
        problem = self._problem(self.mapped_features_, self.embedding_.shape[1], np.ones(self.n_features_in_, bool))
        return problem.unit * ProblemGram(problem, self.embedding_).to_dense()

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
        known = Known(y, side=side, cannot_link=cannot_link, must_link=must_link)
        progress = progress_of(self)
        raw = self._check_data(X, known.y)
        self._check_samples_are_known(known)
        knowledge = self._read_knowledge(raw, known)
        labels, pairs, scale = knowledge.labels, knowledge.pairs, knowledge.scale
        usable = self._usable(raw)
        count = self._count(usable)
        progress(f"kernel of {raw.n_features} features")
        given = {field.name: getattr(self, field.name) for field in fields(KernelSettings)}
        kernel = KernelSettings(**{**given, "normalize": self._normalization()})
        indicators = None if labels is None else _indicators(labels)
        factor = map_features(raw, kernel, indicators, generator(self.random_state))
        phi = np.where(usable[:, None], factor.phi[: raw.n_features], 0.0)
        self._check_kernel_range(phi)
        span = None if labels is None else _orthonormal(factor.phi[raw.n_features :].T)
        if span is not None:
            check_likeness(phi, span)
        problem = self._problem(phi, min(int(self.n_clusters), phi.shape[1]), usable)
        if span is not None:
            problem = replace(problem, n_clusters=span.shape[1], fixed_embedding=span)
        if pairs is not None and self.pair_strength > 0:
            penalty = PairPenalty(raw.standardized(self._normalization()), pairs, self.pair_strength, scale)
            problem = replace(problem, penalty=penalty)
        result = solve_steered(problem, Knowledge(scale=scale), self._settings(progress))
        self._learn(result, usable, phi, factor, count)
        return self

    def _problem(self, phi: FloatArray, n_clusters: int, usable: BoolArray) -> Problem:
        affinity = spectrum_affinity(as_data(np.ascontiguousarray(phi.T)), self.spectrum)
        return Problem(affinity, n_clusters, TAU[self.criterion], usable)

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_samples_are_known(self, known: Known) -> None:
        """Refuse labels, side data and pairs when X is a kernel matrix: it has no samples."""
        if not self._precomputed:
            return
        y = None if self._supervision(known.y) is None else known.y
        for name, given in {**vars(known), "y": y}.items():
            if given is not None:
                fix = "Use another kernel" + (", or supervision='ignore'." if name == "y" else ".")
                raise ValueError(
                    f"The '{name}' parameter of KernelQAlphaSelector.fit must be None for kernel='precomputed': X is "
                    f"then the kernel matrix, so the samples that {name} is about are not known. {fix}"
                )

    def _read_knowledge(self, raw: DataMatrix, known: Known) -> Knowledge:
        knowledge = super()._read_knowledge(raw, known)
        labels, name = knowledge.labels, type(self).__name__
        if labels is not None and not labels.complete:
            raise ValueError(
                f"{name} needs a label for every sample. Got {np.count_nonzero(labels.codes < 0)} of {raw.n_samples} "
                "samples without one in y. Leave these samples out, use supervision='ignore', or use QAlphaSelector."
            )
        return knowledge

    def _usable(self, raw: DataMatrix) -> BoolArray:
        """Return the features that may be chosen. Raise when the data does not fit the kernel."""
        if not self._precomputed:
            self._check_range(raw, self._normalization())
            return self._check_some_vary(raw)
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
        return np.asarray(np.diagonal(raw.take(np.arange(raw.n_features))) > 0)

    def _check_kernel_range(self, phi: FloatArray) -> None:
        """Refuse features whose fourth power overflows or vanishes in the kernel's space."""
        largest, limit = float(np.abs(phi).max()), float(np.finfo(np.float64).max) ** 0.2
        if not 1 / limit <= largest <= limit:
            raise ValueError(
                f"The kernel of KernelQAlphaSelector gives features of size {largest:.1e}, beyond the limits of "
                f"{1 / limit:.1e} and {limit:.1e} (the criterion is of fourth power). Use normalize='center' or "
                "rescale X, and check the parameters of the kernel."
            )

    def _learn(self, result: Result, usable: BoolArray, phi: FloatArray, factor: Factor, count: int | None) -> None:
        order = features_by_weight(result.weights, usable)
        self._learn_selection(order, order[: two_level_cut(result.weights[usable]) if count is None else count])
        self._learn_solution(result, usable)
        self.mapped_features_ = phi
        self.embedding_ = result.embedding
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
        tags.input_tags.pairwise = self._precomputed
        return tags


def _indicators(labels: Labels) -> FloatArray:
    """Return the centred class indicators, with unit norm, in columns."""
    indicators = (labels.codes[:, None] == np.arange(len(labels.classes))).astype(np.float64)
    indicators -= indicators.mean(axis=0)
    return indicators / np.linalg.norm(indicators, axis=0)


def _orthonormal(vectors: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the columns' span."""
    basis, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    return basis[:, sizes > 1e-6 * sizes[0]]
