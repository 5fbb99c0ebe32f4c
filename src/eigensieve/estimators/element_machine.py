"""Kernel machines rewritten with a few (feature, support vector) elements: what classifier and regressor share."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from eigensieve._progress import progress_for
from eigensieve._sklearn import Interval, StrOptions, fit_context
from eigensieve._types import Array
from eigensieve.data import one_blas_thread
from eigensieve.elements import (
    LARGEST,
    Column,
    ElementExpansion,
    FixedPoint,
    Goal,
    Interface,
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
from eigensieve.estimators.element_options import check_label_options, check_warm_start, element_budget, warn_if_short
from eigensieve.estimators.kernel_machine import KernelMachine
from eigensieve.estimators.small_machine import SmallMachine

Precision = Literal["single", "double", "int8", "int16"]
Matched = tuple[Array, Selection, ElementExpansion]
"""Basis vectors, the masked columns of them that were selected, and the machine they make."""


class ElementMachine(SmallMachine):
    """A kernel machine f(x) = intercept + sum_j beta_j k(x * m_j, b_j * m_j) with few ones in the masks m_j.

    The parameters are described in :class:`ElementSelectedSVC`. A subclass says what its labels are (`_goal`).
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

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Select the elements on (X, y).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples on which the machine is matched; best those it was fitted on.
        y : array-like of shape (n_samples,)
            Labels of the samples, or numbers for a regression.

        Returns
        -------
        self : object
        """
        with all_or_nothing(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        again = self.warm_start and hasattr(self, "mask_")
        if again:
            check_warm_start(self)
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
        self._matched = self.match
        self._learn_machine(machine, expansion.intercept)

    @property
    def _reads_decisions(self) -> bool:
        return self.match != "labels"

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
        goal = self._goal(machine, y, 3.0 if self.ridge == "auto" else float(self.ridge) * len(y))
        rng = generator(self.random_state)
        plan = self._plan(LARGEST if self.n_elements == "auto" else self.n_elements)
        if self.n_elements == "auto":
            plan = self._plan(held_out_size(machine.kernel, X, goal, plan, rng))
        expansion, path = fit_labels(machine.kernel, X, goal, plan, rng, refine=self.refine)
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
                f"The 'n_elements' parameter of {type(self).__name__} must be at least {smallest} for "
                f"shape={self.shape!r}, whose smallest mask has that many elements here. Got {self.n_elements} instead."
            )
        if kept and self.shape != "element":
            raise ValueError(
                f"The 'warm_start' parameter of {type(self).__name__} must be False for shape={self.shape!r}. "
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
        self._low, self._high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
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

    @abstractmethod
    def _goal(self, machine: KernelMachine, y: Array, ridge: float) -> Goal:
        """Return what ``match="labels"`` fits."""

    def to_c(self, name: str = "eigensieve", *, precision: Precision = "single") -> str:
        """Return the machine as one self-contained C file.

        Parameters
        ----------
        name : str, default="eigensieve"
            Prefix of the functions ``<name>_decision`` and, for classes, ``<name>_predict``.
        precision : {"single", "double", "int8", "int16"}, default="single"
            Type of the samples and of the arithmetic. The file states how far the result can be off. "int8" and "int16"
            are for processors without a float unit (rbf kernel only): features enter as levels (see `to_levels`), and
            only whole numbers of 32 bits are computed with.

        Returns
        -------
        source : str
        """
        check_is_fitted(self)
        names, classes = getattr(self, "feature_names_in_", None), getattr(self, "classes_", None)
        return self.c_source(name, precision, Interface(names, classes))

    def c_source(self, name: str, precision: str, interface: Interface) -> str:
        """Return the C file that takes and names its inputs as `interface` says, for exporters.

        Parameters
        ----------
        name : str
            Prefix of the functions.
        precision : {"single", "double", "int8", "int16"}
            As in `to_c`.
        interface : Interface
            The names of features and classes, and how raw values become those of training.

        Returns
        -------
        source : str
        """
        from eigensieve.elements import expansion_to_c, fixed_to_c

        threshold = getattr(self, "threshold_", None)
        if precision in ("int8", "int16"):
            return fixed_to_c(self.fixed_point(precision), name, threshold, interface)
        reach = np.maximum(np.abs(self._low), np.abs(self._high))
        return expansion_to_c(self._expansion, name, threshold, precision=precision, reach=reach, interface=interface)

    def to_levels(self, X: Any, *, precision: Literal["int8", "int16"] = "int8") -> Array:
        """Return samples as the C file of this precision expects them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.
        precision : {"int8", "int16"}, default="int8"
            "int8": 0 to 255. "int16": 0 to 16383. Either spans the training range of each feature.

        Returns
        -------
        levels : ndarray of shape (n_samples, n_features), uint8 or uint16
        """
        check_is_fitted(self)
        levels = self.fixed_point(precision).levels(validate_data(self, X, dtype=np.float64, reset=False))
        return levels.astype(np.uint8 if precision == "int8" else np.uint16)

    def fixed_point(self, precision: str) -> FixedPoint:
        """Return the machine in whole numbers, for exporters.

        Parameters
        ----------
        precision : {"int8", "int16"}
            How fine the levels of the features are.

        Returns
        -------
        machine : FixedPoint
        """
        return FixedPoint.of(self._expansion, self._low, self._high, precision)

    def to_onnx(self, *, precision: Literal["single", "double"] = "single") -> Any:
        """Return the machine as an ONNX model with outputs "decision" and, for classes, "label" (extra "onnx").

        Parameters
        ----------
        precision : {"single", "double"}, default="single"
            Of the constants, the arithmetic and the decision values. "double" makes the file about twice as large.

        Returns
        -------
        model : onnx.ModelProto
        """
        from eigensieve.elements import expansion_to_onnx

        check_is_fitted(self)
        classes, threshold = getattr(self, "classes_", None), getattr(self, "threshold_", None)
        return expansion_to_onnx(self._expansion, classes, threshold, precision=precision)
