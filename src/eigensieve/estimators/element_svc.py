"""A kernel SVM rewritten with a few (feature, support vector) elements."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from eigensieve._progress import progress_for
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
from eigensieve.estimators.element_options import (
    check_label_options,
    element_budget,
    label_probabilities,
    label_targets,
    matches_labels,
    warn_if_short,
)
from eigensieve.estimators.kernel_machine import KernelMachine, resolve_machine
from eigensieve.estimators.small_machine import FLOATS, SmallMachine


class ElementSelectedSVC(SmallMachine):
    """A kernel SVM rewritten with few elements of its (features x support vectors) mask.

    A trained machine f(x) = sum_j alpha_j k(x, b_j) is approximated by

        f(x) ~ intercept + sum_j beta_j k(x seen through m_j, b_j seen through m_j)

    where only a few hundred entries of the binary mask M = (m_1, ..., m_n) are one (Avidan, "Joint feature-basis subset
    selection"). Prediction reads a few hundred numbers a sample instead of features x support vectors.

    Parameters
    ----------
    estimator : SVC, default=None
        The machine to rewrite, with kernel "rbf", "poly" or "linear". A fitted one is used as it is (wrap it in
        :class:`sklearn.frozen.FrozenEstimator` where `clone` must not forget the fit); an unfitted one is fitted first,
        one-vs-rest beyond two classes. None means ``SVC()``.
    n_elements : int or "auto", default=200
        Entries of the mask to keep. If there are fewer, a warning says so and all are used. "auto", for
        ``match="labels"`` only, takes the number (up to 400) with the smallest loss on a held-out quarter of the
        samples, and then fits on all.
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
        "native" keeps gamma for every masked column, as printed. "auto" also lets columns with p of d features use a
        gamma larger by d / p, at which they are as local as the full kernel.
    n_candidates : int, default=60
        Random elements (for shapes "feature" and "joint": rows or columns) compared for one choice; not used by
        "guided" and "exact".
    sample_fraction : float, default=0.1
        Share of the samples on which candidates are compared; "guided" and the shapes use at least 350.
    chunk_size : int, default=10
        "probabilistic": elements chosen ahead in one try.
    n_tries : int, default=3
        "probabilistic": tries a chunk, of which the best is kept. "guided": support vectors grown for each width and
        choice.
    n_prototypes : int, default=4
        Shape "prototypes": number of feature subsets.
    prototype_size : int, default=8
        Shape "prototypes": features in a subset.
    tol : float, default=1e-6
        Stop early when an element lowers the relative error by less than this.
    refine : bool, default=False
        Afterwards move the values of all chosen elements together, a few steps, to match the machine better: they are
        then no longer those of support vectors. As good a machine takes fewer elements; fitting takes longer. With
        a few hundred samples it fits these and no others: check on held-out data.
    ridge : float or "auto", default="auto"
        Strength of the ridge term when the weights are solved, per sample. "auto" is 1e-6, and 3 / n_samples with
        ``match="labels"``.
    table_size : int, default=None
        If given, columns with one element are evaluated by look-up tables with so many entries a feature;
        `table_error_bound_` says how far that can be off. None evaluates the kernel itself.
    warm_start : bool, default=False
        Keep the elements of the last fit and add to them up to `n_elements`.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0

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
        "n_elements": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "shape": [StrOptions({"element", "feature", "basis", "joint", "prototypes"})],
        "match": [StrOptions({"decision", "kernel", "labels"})],
        "search": [StrOptions({"guided", "probabilistic", "exact"})],
        "widths": [StrOptions({"auto", "native"})],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "sample_fraction": [Interval(Real, 0, 1, closed="right")],
        "chunk_size": [Interval(Integral, 1, None, closed="left")],
        "n_tries": [Interval(Integral, 1, None, closed="left")],
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "prototype_size": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "refine": ["boolean"],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "table_size": [None, Interval(Integral, 2, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_elements: Any = 200,
        shape: str = "element",
        match: str = "decision",
        search: str = "guided",
        widths: str = "auto",
        n_candidates: int = 60,
        sample_fraction: float = 0.1,
        chunk_size: int = 10,
        n_tries: int = 3,
        n_prototypes: int = 4,
        prototype_size: int = 8,
        tol: float = 1e-6,
        refine: bool = False,
        ridge: Any = "auto",
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

        Returns
        -------
        self : ElementSelectedSVC
        """
        again = self.warm_start and hasattr(self, "mask_")
        X_valid, y = validate_data(self, X, y, dtype=FLOATS, reset=not again)
        check_classification_targets(y)
        if again:
            machine = self._machine.matched_on(X, X_valid.shape[0])
        else:
            machine = resolve_machine(self.estimator, type(self).__name__, X, X_valid, y)
        # The products are small: several BLAS threads would wait for each other.
        with one_blas_thread():
            if self.match == "labels":
                self._match_labels(machine, X_valid, y)
                return self
            selection = self._select(machine, X_valid, self._columns if again else [])
            basis = self._refined(machine, X_valid, selection.columns) if self.refine else machine.basis
            design = SelectionState(machine.kernel, X_valid, basis, machine.decisions).design(selection.columns)
            weights, intercept = solve_weights(design, machine.decisions, self._ridge)
        self._store(machine, basis, selection, weights, intercept, X_valid)
        return self

    @property
    def _ridge(self) -> float:
        return 1e-6 if self.ridge == "auto" else float(self.ridge)

    def _match_labels(self, machine: KernelMachine, X: NDArray, y: NDArray) -> None:
        check_label_options(self, machine.kernel)
        targets = label_targets(y, machine.classes)
        ridge = 3.0 if self.ridge == "auto" else float(self.ridge) * len(y)
        rng = self._generator()
        plan = self._plan(LARGEST if self.n_elements == "auto" else self.n_elements)
        if self.n_elements == "auto":
            plan = self._plan(held_out_size(machine.kernel, X, targets, plan, ridge, rng))
        expansion, path = fit_labels(machine.kernel, X, targets, plan, ridge, rng, refine=self.refine)
        basis, columns = as_columns(expansion)
        selection = Selection(columns, path)
        warn_if_short(selection, plan, len(basis))
        self._store(machine, basis, selection, expansion.weights, expansion.intercept, X)

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

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

    def _select(self, machine: KernelMachine, X: NDArray, kept: list[Column]) -> Selection:
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
        selection = select(plan, state, machine.alpha, self._generator())
        warn_if_short(selection, plan, n_basis)
        return selection

    def _refined(self, machine: KernelMachine, X: NDArray, columns: list[Column]) -> NDArray:
        from eigensieve.elements import refine_values

        progress = progress_for(type(self).__name__, self.verbose)
        targets = machine.decisions
        return refine_values(machine.kernel, X, machine.basis, columns, targets, self._ridge, progress=progress)

    def _store(
        self,
        machine: KernelMachine,
        basis: NDArray,
        selection: Selection,
        weights: NDArray,
        intercept: NDArray,
        X: NDArray,
    ) -> None:
        columns = selection.columns
        owners = np.array([column.basis for column in columns], dtype=np.int64)
        expansion = ElementExpansion.build(machine.kernel, basis, columns, weights, intercept)
        self._machine, self._columns, self._expansion = machine, columns, expansion
        self._reach = np.abs(X).max(axis=0).astype(np.float64)
        self._predictor: Predictor
        if self.table_size is None:
            self._predictor = fastest_predictor(expansion, X)
        else:
            self._predictor = TablePredictor.build(expansion, X, self.table_size)
            self.table_error_bound_ = float(self._predictor.error_bound.max())
        rows = expansion.features
        ones = np.ones(len(rows), dtype=np.int8)
        self.mask_ = csc_array((ones, (rows, np.repeat(owners, expansion.lengths))), shape=basis.shape[::-1])
        self.support_vectors_ = basis
        self.dual_coef_ = np.zeros((intercept.size, len(basis)))
        self.dual_coef_[:, owners] = weights.T
        self.widths_ = np.zeros(len(basis))
        self.widths_[owners] = [column.factor for column in columns]
        self.intercept_ = intercept
        self.n_elements_ = len(rows)
        self.path_ = np.array(selection.path)
        self.estimator_ = machine.source
        self.classes_ = machine.classes
        self.threshold_ = 0.0
        if self.shape == "prototypes":
            self.prototypes_ = selection.prototypes

    def _decisions(self, X: NDArray) -> NDArray:
        return self._predictor.decision(X)

    @available_if(matches_labels)
    def predict_proba(self, X: Any) -> NDArray:
        """Return the probability of each class. Only with ``match="labels"``, whose decision values are log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return label_probabilities(self.decision_function(X))

    def to_c(self, name: str = "eigensieve", *, precision: str = "single") -> str:
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
