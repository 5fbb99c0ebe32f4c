"""KernelQAlphaSelector: Q-alpha on features mapped by a kernel."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import Tags

import eigensieve.qalpha as qalpha
from eigensieve._sklearn import StrOptions, whole_fit
from eigensieve._types import BoolArray, FloatArray
from eigensieve.data import DataMatrix, as_data
from eigensieve.estimators import base
from eigensieve.estimators.knowledge import Known
from eigensieve.estimators.qalpha_base import BaseQAlpha, Options, Rules, two_level_cut
from eigensieve.operators import StandardAffinity

_KERNEL_RULES: Rules = {
    "gamma": [base.POSITIVE],
    "coef0": [base.NOT_NEGATIVE],
    "degree": [base.AT_LEAST_ONE],
    "section_size": [base.AT_LEAST_ONE],
}
_MUCH = 0.2  # the ranking cannot be trusted when a larger share of the kernel's trace is left out


@dataclass(eq=False, repr=False)
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
        ``"rbf"`` ``exp(-gamma |a - b|^2)``; ``"sections"`` the sum over sections of section_size consecutive samples
        of (inner product within the section)^degree. ``"precomputed"``: X is the kernel matrix, features x features. A
        callable gets two arrays with features in rows and returns the matrix of kernel values.
    kernel_params : dict or None, default=None
        The parameters of a named kernel that differ from the defaults: gamma 1.0, coef0 0.0, degree 2, section_size 8.
    normalize : {"auto", "center", "unit", "none"}, default="auto"
        ``"center"``, also for ``"auto"``: centred columns of unit norm. ``"unit"``: unit norm, not centred. Both also
        scale the mapped features to unit norm, V_ij / sqrt(V_ii V_jj). ``"none"``: neither. A precomputed kernel is not
        centred.
    n_components : int or None, default=None
        None: the whole kernel matrix, n_features x n_features. A number: Nystroem's approximation from this many of its
        columns, with memory n_features x n_components. `approximation_error_` bounds the part left out. The
        features of the columns drawn are favoured; above 0.2 a warning says so.
    criterion : {"energy", "gap"}, default="energy"
        As in :class:`QAlphaSelector`. With labels the kernel maps the centred class indicators like features, Q is the
        span of their images, and only the weights are sought.
    solver_options : dict or None, default=None
        As in :class:`QAlphaSelector`; ``"init"`` is "eigen" or "random".
    random_state : int, RandomState, Generator or None, default=None
        For the columns that Nystroem's approximation draws, and for random starts.
    supervision, strength, verbose
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
        The weights are its leading eigenvector: V * (P P') with the `projections_` P, or V * (2 P
        P' - V) for ``criterion="gap"``. With side data the weights are the leading eigenvector of (D + lambda I)^-1 G,
        with pairs that of G - lambda B. It is computed from `mapped_features_` whenever it is asked for.
    approximation_error_ : float
        trace(V - V~) / trace(V) for the kernel as normalised, 0.0 for the whole matrix. V - V~ is positive
        semidefinite, so no eigenvalue of V is off by more than this share of V's trace.
    n_components_ : int
        Dimensions of the space the features were mapped to.
    weights_, ranking_, selection_order_, support_, eigenvalues_, objective_, start_objectives_, starts_finished_
        As in :class:`QAlphaSelector`.
    n_iter_, converged_, sparsity_gap_, negative_weight_fraction_, n_features_in_, feature_names_in_
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

    n_clusters: int = 3
    _: KW_ONLY
    kernel: (
        Callable[[FloatArray, FloatArray], FloatArray] | Literal["linear", "poly", "rbf", "sections", "precomputed"]
    ) = "poly"
    kernel_params: Options | None = None
    n_components: int | None = None
    criterion: Literal["energy", "gap"] = "energy"

    _parameter_constraints = {
        **BaseQAlpha._parameter_constraints,
        "kernel": [StrOptions(set(qalpha.KERNELS)), callable],
        "kernel_params": [dict, None],
        "n_components": [None, base.AT_LEAST_ONE],
    }

    @property
    def G_(self) -> FloatArray:
        problem = self._problem(self.mapped_features_, self.embedding_.shape[1], np.ones(self.n_features_in_, bool))
        return problem.unit * qalpha.ProblemGram(problem, self.embedding_).to_dense()

    @whole_fit
    def fit(self, X: Any, y: Any = None, *, side: Any = None, cannot_link: Any = None, must_link: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"`` the kernel matrix, (n_features, n_features).
        y, side, cannot_link, must_link : optional
            As in :meth:`QAlphaSelector.fit`, with labels for all samples. A precomputed kernel has no samples, so it
            takes none of them.
        """
        known = Known(y, side=side, cannot_link=cannot_link, must_link=must_link)
        progress = base.progress_of(self)
        raw = base.check_data(self, X, known.y)
        knowledge = self._read_knowledge(raw, known)
        labels, pairs, scale = knowledge.labels, knowledge.pairs, knowledge.scale
        usable = self._usable(raw)
        count = self._count(usable)
        progress(f"kernel of {raw.n_features} features")
        kernel = qalpha.KernelSettings(
            self.kernel, self._normalization, self.n_components, **(self.kernel_params or {})
        )
        indicators = None if labels is None else qalpha.class_indicators(labels.codes)
        mapped, error = qalpha.map_features(raw, kernel, indicators, base.generator(self.random_state))
        phi = np.where(usable[:, None], mapped[: raw.n_features], 0.0)
        self._check_fourth_power(float(np.abs(phi).max()), np.float64, "a kernel that gives features")
        problem = self._problem(phi, min(int(self.n_clusters), phi.shape[1]), usable)
        if labels is not None:
            basis, sizes, _ = np.linalg.svd(mapped[raw.n_features :].T, full_matrices=False)
            span = basis[:, sizes > 1e-6 * sizes[0]]
            qalpha.check_likeness(phi, span)
            problem = replace(problem, n_clusters=span.shape[1], fixed_embedding=span)
        if pairs is not None:
            penalty = qalpha.PairPenalty(raw.standardized(kernel.normalize), pairs, knowledge.pair_strength, scale)
            problem = replace(problem, penalty=penalty)
        result = qalpha.solve_steered(problem, qalpha.Knowledge(scale=scale), self._settings(progress))
        self._learn(result, usable, phi, error, count)
        return self

    def _problem(self, phi: FloatArray, n_clusters: int, usable: BoolArray) -> qalpha.Problem:
        affinity = StandardAffinity(as_data(np.ascontiguousarray(phi.T)))
        return qalpha.Problem(affinity, n_clusters, qalpha.TAU[self.criterion], usable)

    def _validate_params(self) -> None:
        super()._validate_params()
        names = qalpha.KERNELS[self.kernel] if isinstance(self.kernel, str) else ()
        self._check_options("kernel_params", {name: _KERNEL_RULES[name] for name in names})

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _read_knowledge(self, raw: DataMatrix, known: Known) -> qalpha.Knowledge:
        """Refuse labels, side data and pairs when X is a kernel matrix, and labels that some samples lack."""
        y = None if self.supervision == "ignore" else known.y
        for name, given in {**vars(known), "y": y}.items() if self._precomputed else ():
            if given is not None:
                must = "be None for kernel='precomputed': X is then the kernel matrix, and its samples are not known"
                fix = "use another kernel" + ", or supervision='ignore'" * (name == "y")
                raise self._wrong(f"fit.{name}", must, type(given).__name__, fix)
        knowledge = super()._read_knowledge(raw, known)
        if knowledge.labels is not None and (missing := int(np.count_nonzero(knowledge.labels.codes < 0))):
            fix = "leave these samples out, use supervision='ignore', or use QAlphaSelector"
            raise self._wrong("fit.y", "hold a label for every sample", f"{missing} samples without one", fix)
        return knowledge

    def _usable(self, raw: DataMatrix) -> BoolArray:
        """Return the features that may be chosen. Raise when the data does not fit the kernel."""
        if not self._precomputed:
            self._check_range(raw)
            return self._check_some_vary(raw)
        if raw.n_samples != raw.n_features:
            must = "be square, features x features, for kernel='precomputed'"
            raise self._wrong("fit.X", must, f"shape ({raw.n_samples}, {raw.n_features})")
        if raw.shared.exponents is not None:
            must, fix = "hold kernel values that can be multiplied", "divide X by its largest value"
            raise self._wrong("fit.X", must, "values too large or too small", fix)
        return np.asarray(np.diagonal(raw.take(np.arange(raw.n_features))) > 0)

    def _learn(
        self, result: qalpha.Result, usable: BoolArray, phi: FloatArray, error: float, count: int | None
    ) -> None:
        order = base.features_by_weight(result.weights, usable)
        self._learn_selection(order, order[: two_level_cut(result.weights[usable]) if count is None else count])
        self._learn_solution(result, usable)
        self.mapped_features_ = phi
        self.embedding_ = result.embedding
        self.projections_ = phi @ result.embedding
        self.approximation_error_ = error
        self.n_components_ = phi.shape[1]
        if error > _MUCH:
            base.warn_user(
                f"The approximation of the kernel from n_components={self.n_components} columns leaves out "
                f"{error:.0%} of its trace, and favours the features it drew. Increase n_components, or use a "
                "kernel of lower rank."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags
