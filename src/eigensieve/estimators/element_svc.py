"""A kernel SVM rewritten with a few (feature, support vector) elements."""

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigensieve._progress import progress_for
from eigensieve._types import Array
from eigensieve.data import one_blas_thread
from eigensieve.elements import (
    LARGEST,
    Column,
    ElementExpansion,
    Plan,
    Predictor,
    Selection,
    SelectionState,
    TablePredictor,
    as_columns,
    fastest_predictor,
    fit_labels,
    held_out_size,
    select,
    solve_weights,
)
from eigensieve.estimators.base import AT_LEAST_ONE, AUTO, NOT_NEGATIVE, all_or_nothing, generator
from eigensieve.estimators.element_options import (
    check_label_options,
    element_budget,
    label_probabilities,
    label_targets,
    matches_labels,
    warn_if_short,
)
from eigensieve.estimators.kernel_machine import KernelMachine
from eigensieve.estimators.small_machine import SmallMachine

Matched = tuple[Array, Selection, ElementExpansion]
"""Basis vectors, the masked columns of them that were selected, and the machine they make."""


class ElementSelectedSVC(SmallMachine):
    """A kernel SVM rewritten with few elements of its (features x support vectors) mask.

    A trained machine f(x) = sum_j alpha_j k(x, b_j) is approximated by

        f(x) ~ intercept + sum_j beta_j k(x * m_j, b_j * m_j)

    with a binary mask M = (m_1, ..., m_n). Column m_j says which features support vector b_j uses. Only a few hundred
    entries of M are one (Avidan, "Joint feature-basis subset selection"): all that prediction reads.

    Parameters
    ----------
    estimator : SVC, default=None
        The machine to rewrite, with kernel "rbf", "poly" or "linear". A fitted one is used as it is; wrap it in
        :class:`sklearn.frozen.FrozenEstimator` if `clone` must not forget the fit. An unfitted one is fitted first,
        one-vs-rest if there are more than two classes. None means ``SVC()``.
    n_elements : int or "auto", default=200
        Entries of the mask to keep. If the mask has fewer, all are used and a warning says so. "auto", for
        ``match="labels"`` only, holds out a quarter of the samples. It takes the smallest number (up to 400) whose loss
        there is within one standard error of the smallest loss, and then fits on all samples.
    shape : {"element", "feature", "basis", "joint", "prototypes"}, default="element"
        "element": any entries. "feature": the same features for all support vectors. "basis": whole support vectors.
        "joint": the same features for some support vectors (rank 1). "prototypes": each used support vector sees one of
        `n_prototypes` feature subsets (rank r).
    match : {"decision", "kernel", "labels"}, default="decision"
        What the masked columns reproduce: the decision values K alpha, the kernel matrix K as in the paper's
        Algorithm 1, or the labels themselves. With "labels", columns are added and all weights refitted to lower the
        logistic loss. Centres and widths are free, and decision values are log-odds. Only for the rbf kernel, shape
        "element" and search "guided".
    search : {"guided", "probabilistic", "exact"}, default="guided"
        For shape "element". "guided" scores all first elements by histograms and grows the best; "probabilistic" is the
        paper's section 4.1; "exact" tries every element with every sample at every step and is for small problems.
    widths : {"auto", "native"}, default="auto"
        "native" keeps gamma for every masked column, as in the paper. "auto" also lets columns with p of d features use
        a gamma that is d / p times as large. They are then as local as the full kernel.
    n_candidates : int, default=60
        Random elements that are compared for one choice (for shapes "feature" and "joint": rows or columns). Not used
        by "guided" and "exact".
    sample_fraction : float, default=0.1
        Share of the samples on which candidates are compared; "guided" and the shapes use at least 350.
    chunk_size : int, default=10
        "probabilistic": elements chosen ahead in one try.
    n_tries : int, default=3
        "probabilistic": tries per chunk, of which the best is kept. "guided": support vectors grown per width and
        choice.
    n_prototypes : int, default=4
        Shape "prototypes": number of feature subsets.
    prototype_size : int, default=8
        Shape "prototypes": features in a subset.
    tol : float, default=1e-6
        Stop early when an element lowers the relative error by less than this.
    refine : bool, default=False
        Move the values of all chosen elements together at the end, so that they match the machine better. They are then
        no longer values of support vectors. With a few hundred samples this overfits: check on held-out data.
    ridge : float or "auto", default="auto"
        Strength of the ridge term when the weights are solved, per sample. "auto" is 1e-6, and 3 / n_samples with
        ``match="labels"``.
    table_size : int, default=None
        If given, columns with one element are evaluated by look-up tables with this many entries per feature.
        `table_error_bound_` says how far the result can be off. None evaluates the kernel itself.
    warm_start : bool, default=False
        Keep the elements of the last fit and add to them up to `n_elements`.
    random_state : int, RandomState instance or None, default=None
        Seed; the same seed gives the same result.
    verbose : int, default=0
        Whether progress is printed.

    Attributes
    ----------
    mask_ : scipy.sparse.csc_array of shape (n_features, n_support_vectors)
        The binary mask.
    support_vectors_ : ndarray of shape (n_support_vectors, n_features)
        With `refine`, the chosen entries are the refined ones. With ``match="labels"``, one row of centres per
        masked column, zero outside the mask; the columns of `mask_` belong to these rows.
    dual_coef_ : ndarray of shape (n_outputs, n_support_vectors)
        Weights of the masked columns, zero where unused.
    widths_ : ndarray of shape (n_support_vectors,)
        Factor on gamma of each masked column, zero where unused.
    intercept_ : ndarray of shape (n_outputs,)
    n_elements_ : int
        Entries kept.
    path_ : ndarray
        Relative squared error of what is matched, after each addition. With ``match="labels"``, the logistic loss as
        a share of what a constant leaves.
    threshold_ : float
        Decision values above it are the second class; 0 until `calibrate` is called. Two classes only.
    table_error_bound_ : float
        Largest possible difference to the decision value in exact arithmetic, rounding to single precision included.
        Only with `table_size`.
    prototypes_ : list of list of int
        The feature subsets. Only for shape "prototypes".
    estimator_ : SVC or OneVsRestClassifier
        The fitted machine.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import SVC
    >>> from eigensieve import ElementSelectedSVC
    >>> X, y = make_classification(n_samples=300, n_informative=6, random_state=0)
    >>> model = ElementSelectedSVC(SVC(C=10), n_elements=40, random_state=0).fit(X, y)
    >>> model.n_elements_
    40
    """

    _parameter_constraints: dict = {
        "estimator": [None, BaseEstimator],
        "n_elements": [AT_LEAST_ONE, AUTO],
        "shape": [StrOptions({"element", "feature", "basis", "joint", "prototypes"})],
        "match": [StrOptions({"decision", "kernel", "labels"})],
        "search": [StrOptions({"guided", "probabilistic", "exact"})],
        "widths": [StrOptions({"auto", "native"})],
        "n_candidates": [AT_LEAST_ONE],
        "sample_fraction": [Interval(Real, 0, 1, closed="right")],
        "chunk_size": [AT_LEAST_ONE],
        "n_tries": [AT_LEAST_ONE],
        "n_prototypes": [AT_LEAST_ONE],
        "prototype_size": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "refine": ["boolean"],
        "ridge": [NOT_NEGATIVE, AUTO],
        "table_size": [None, Interval(Integral, 2, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_elements: int | Literal["auto"] = 200,
        shape: Literal["element", "feature", "basis", "joint", "prototypes"] = "element",
        match: Literal["decision", "kernel", "labels"] = "decision",
        search: Literal["guided", "probabilistic", "exact"] = "guided",
        widths: Literal["auto", "native"] = "auto",
        n_candidates: int = 60,
        sample_fraction: float = 0.1,
        chunk_size: int = 10,
        n_tries: int = 3,
        n_prototypes: int = 4,
        prototype_size: int = 8,
        tol: float = 1e-6,
        refine: bool = False,
        ridge: float | Literal["auto"] = "auto",
        table_size: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_elements = n_elements
        self.shape = shape
        self.match = match
        self.search = search
        self.widths = widths
        self.n_candidates = n_candidates
        self.sample_fraction = sample_fraction
        self.chunk_size = chunk_size
        self.n_tries = n_tries
        self.n_prototypes = n_prototypes
        self.prototype_size = prototype_size
        self.tol = tol
        self.refine = refine
        self.ridge = ridge
        self.table_size = table_size
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Select the elements on (X, y).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples on which the machine is matched; best those it was fitted on.
        y : array-like of shape (n_samples,)
            Labels of the samples.

        Returns
        -------
        self : ElementSelectedSVC
        """
        with all_or_nothing(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        again = self.warm_start and hasattr(self, "mask_")
        X_valid, y = self._read(X, y, reset=not again)
        machine = self._machine.matched_on(X, X_valid.shape[0]) if again else self._resolve(X, X_valid, y)
        # The products are small: several BLAS threads would wait for each other.
        with one_blas_thread():
            if self.match == "labels":
                basis, selection, expansion = self._match_labels(machine, X_valid, y)
            else:
                kept = self._columns if again else []
                basis, selection, expansion = self._match_machine(machine, X_valid, kept)
        self._learn_predictor(expansion, X_valid)
        self._learn_elements(machine, basis, selection)
        self._learn_machine(machine, expansion.intercept)

    @property
    def _ridge(self) -> float:
        return 1e-6 if self.ridge == "auto" else float(self.ridge)

    def _match_machine(self, machine: KernelMachine, X: Array, kept: list[Column]) -> Matched:
        selection = self._select(machine, X, kept)
        basis = self._refined(machine, X, selection.columns) if self.refine else machine.basis
        design = SelectionState(machine.kernel, X, basis, machine.decisions).design(selection.columns)
        weights, intercept = solve_weights(design, machine.decisions, self._ridge)
        return basis, selection, ElementExpansion.build(machine.kernel, basis, selection.columns, weights, intercept)

    def _match_labels(self, machine: KernelMachine, X: Array, y: Array) -> Matched:
        check_label_options(self, machine.kernel)
        targets = label_targets(y, machine.classes)
        ridge = 3.0 if self.ridge == "auto" else float(self.ridge) * len(y)
        rng = generator(self.random_state)
        plan = self._plan(LARGEST if self.n_elements == "auto" else self.n_elements)
        if self.n_elements == "auto":
            plan = self._plan(held_out_size(machine.kernel, X, targets, plan, ridge, rng))
        expansion, path = fit_labels(machine.kernel, X, targets, plan, ridge, rng, refine=self.refine)
        basis, columns = as_columns(expansion)
        selection = Selection(columns, path)
        warn_if_short(selection, plan, len(basis))
        return basis, selection, expansion

    def _plan(self, n_elements: int) -> Plan:
        return Plan(
            n_elements=n_elements,
            shape=self.shape,
            search=self.search,
            rescale=self.widths == "auto",
            n_candidates=self.n_candidates,
            sample_fraction=self.sample_fraction,
            chunk_size=self.chunk_size,
            n_tries=self.n_tries,
            n_prototypes=self.n_prototypes,
            prototype_size=self.prototype_size,
            tol=self.tol,
            progress=progress_for(type(self).__name__, self.verbose),
        )

    def _select(self, machine: KernelMachine, X: Array, kept: list[Column]) -> Selection:
        n_basis, n_features = machine.basis.shape
        plan = self._plan(element_budget(self, n_basis, n_features))
        smallest = plan.smallest(n_basis, n_features)
        if plan.n_elements < smallest:
            raise ValueError(
                f"The 'n_elements' parameter of ElementSelectedSVC must be at least {smallest} for "
                f"shape={self.shape!r}, whose smallest mask has so many elements here. Got {self.n_elements} instead."
            )
        if kept and self.shape != "element":
            raise ValueError(
                f"The 'warm_start' parameter of ElementSelectedSVC must be False for shape={self.shape!r}. "
                f"Got True instead; only shape='element' can add to an earlier fit."
            )
        targets = machine.decisions
        if self.match == "kernel":
            targets = machine.kernel.full(X.astype(np.float64), machine.basis.astype(np.float64))
        state = SelectionState(machine.kernel, X, machine.basis, targets)
        for column in kept:
            state.add_column(column.basis, column.features, column.factor)
        selection = select(plan, state, machine.alpha, generator(self.random_state))
        warn_if_short(selection, plan, n_basis)
        return selection

    def _refined(self, machine: KernelMachine, X: Array, columns: list[Column]) -> Array:
        from eigensieve.elements import refine_values

        progress = progress_for(type(self).__name__, self.verbose)
        targets = machine.decisions
        return refine_values(machine.kernel, X, machine.basis, columns, targets, self._ridge, progress=progress)

    def _learn_predictor(self, expansion: ElementExpansion, X: Array) -> None:
        self._expansion = expansion
        self._reach = np.abs(X).max(axis=0).astype(np.float64)
        self._predictor: Predictor
        if self.table_size is None:
            self._predictor = fastest_predictor(expansion, X)
        else:
            self._predictor = TablePredictor.build(expansion, X, self.table_size)
            self.table_error_bound_ = float(self._predictor.error_bound.max())

    def _learn_elements(self, machine: KernelMachine, basis: Array, selection: Selection) -> None:
        expansion, columns = self._expansion, selection.columns
        owners = np.array([column.basis for column in columns], dtype=np.int64)
        rows, cols = expansion.features, np.repeat(owners, expansion.lengths)
        ones = np.ones(len(rows), dtype=np.int8)
        self._machine = machine
        self._columns = columns
        self.mask_ = csc_array((ones, (rows, cols)), shape=basis.shape[::-1])
        self.support_vectors_ = basis
        self.dual_coef_ = np.zeros((expansion.intercept.size, len(basis)))
        self.dual_coef_[:, owners] = expansion.weights.T
        self.widths_ = np.zeros(len(basis))
        self.widths_[owners] = [column.factor for column in columns]
        self.n_elements_ = len(rows)
        self.path_ = np.array(selection.path)
        if self.shape == "prototypes":
            self.prototypes_ = selection.prototypes

    def _decisions(self, X: Array) -> Array:
        return self._predictor.decision(X)

    @available_if(matches_labels)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class. Only with ``match="labels"``, whose decision values are log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return label_probabilities(self.decision_function(X))

    def to_c(self, name: str = "eigensieve", *, precision: Literal["single", "double"] = "single") -> str:
        """Return the machine as one self-contained C file.

        Parameters
        ----------
        name : str, default="eigensieve"
            Prefix of the functions ``<name>_decision`` and ``<name>_predict``.
        precision : {"single", "double"}, default="single"
            Type of the samples and of the arithmetic. The file states how far single precision can be off.

        Returns
        -------
        source : str
        """
        from eigensieve.elements import expansion_to_c

        check_is_fitted(self)
        return expansion_to_c(self._expansion, name, self.threshold_, precision=precision, reach=self._reach)

    def to_onnx(self) -> Any:
        """Return the machine as an ONNX model with outputs "label" and "decision" (extra "onnx").

        Returns
        -------
        model : onnx.ModelProto
        """
        from eigensieve.elements import expansion_to_onnx

        check_is_fitted(self)
        return expansion_to_onnx(self._expansion, self.classes_, self.threshold_)
