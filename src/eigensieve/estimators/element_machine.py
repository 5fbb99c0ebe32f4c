"""Kernel machines rewritten with a few (feature, support vector) elements: the base of classifier and regressor."""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

import eigensieve.elements as elements
from eigensieve._progress import progress_for
from eigensieve._sklearn import Interval, StrOptions, whole_fit
from eigensieve._types import Array, FloatArray, IntArray, JsonDict, MatrixLike, RandomState
from eigensieve.data import one_blas_thread
from eigensieve.estimators.base import AT_LEAST_ONE, AUTO, NOT_NEGATIVE, generator, warn_user
from eigensieve.estimators.kernel_machine import KernelMachine, is_given
from eigensieve.estimators.small_machine import SmallMachine

Precision = Literal["single", "double", "int8", "int16"]
Matched = tuple[FloatArray, elements.Selection, elements.ElementExpansion]
"""Basis vectors, the masked columns of them that were selected, and the machine they make."""

_OPTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "labels": {"shape": ("element",), "search": ("guided",)},
    "kernel": {
        "shape": ("element",),
        "search": ("probabilistic", "exact"),
        "refine": ("auto", False),
        "ridge": ("auto",),
    },
}
"""What other parameters may be, per match; Algorithm 1 has neither refinement nor ridge."""


@dataclass(eq=False, repr=False)
class ElementMachine(SmallMachine):
    """A kernel machine f(x) = intercept + sum_j beta_j k(x * m_j, b_j * m_j) with few ones in the masks m_j. The
    parameters are described in :class:`ElementSelectedSVC`. A subclass says what its labels are (`_goal`)."""

    estimator: BaseEstimator | None = None
    _: KW_ONLY
    n_elements: int | Literal["auto"] = 200
    match: Literal["auto", "labels", "decision", "kernel"] = "auto"
    shape: Literal["element", "feature", "basis", "joint", "prototypes"] = "element"
    search: Literal["guided", "probabilistic", "exact"] = "guided"
    n_tries: int = 3
    refine: bool | Literal["auto"] = "auto"
    ridge: float | Literal["auto"] = "auto"
    tol: float = 1e-6
    table_size: int | None = None
    random_state: RandomState = None
    verbose: int = 0

    _parameter_constraints = {
        "estimator": [None, BaseEstimator],
        "n_elements": [AT_LEAST_ONE, AUTO],
        "match": [StrOptions({"auto", "labels", "decision", "kernel"})],
        "shape": [StrOptions({"element", "feature", "basis", "joint", "prototypes"})],
        "search": [StrOptions({"guided", "probabilistic", "exact"})],
        "n_tries": [AT_LEAST_ONE],
        "refine": ["boolean", AUTO],
        "ridge": [NOT_NEGATIVE, AUTO],
        "tol": [NOT_NEGATIVE],
        "table_size": [None, Interval(Integral, 2, None, closed="left")],
    }

    @whole_fit
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        X_valid, y = self._read(X, y)
        match = self._resolved_match()
        self._check_options(match)
        for name in ("estimator_", "prototypes_", "table_error_bound_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        machine = None
        if match != "labels" or is_given(self.estimator):
            machine = self._resolve(X, X_valid, y)
        else:
            self._given()  # raises for anything but a machine
        # The products are small: several BLAS threads would wait for each other.
        with one_blas_thread():
            if machine is None or match == "labels":
                basis, selection, expansion = self._match_labels(machine, X_valid, y)
            else:
                basis, selection, expansion = self._match_machine(machine, X_valid, match)
        self._expansion = expansion
        self._low, self._high = X_valid.min(axis=0).astype(np.float64), X_valid.max(axis=0).astype(np.float64)
        self._single = elements.single_is_enough(expansion, X_valid)
        self._learn_elements(basis, selection)
        self._build_predictor()
        if isinstance(self._predictor, elements.TablePredictor):
            self.table_error_bound_ = float(self._predictor.error_bound.max())
        self.match_ = match
        self._learn_machine(machine, expansion.intercept, y)
        return self

    def _resolved_match(self) -> str:
        """Resolve "auto": the labels, unless a fitted machine or options for a machine are given."""
        if self.match != "auto":
            return self.match
        plain = self.shape == "element" and self.search == "guided"
        return "labels" if plain and not is_given(self.estimator) else "decision"

    def _match_machine(self, machine: KernelMachine, X: FloatArray, match: str) -> Matched:
        ridge = 1e-6 if self.ridge == "auto" else float(self.ridge)
        selection = self._select(machine, X, match)
        basis, columns = machine.full.basis, selection.columns
        if self.refine is True:
            from eigensieve.elements import refine_values

            progress = progress_for(type(self).__name__, self.verbose)
            basis = refine_values(machine.full.kernel, X, basis, columns, machine.decisions, ridge, progress=progress)
        design = elements.SelectionState(machine.full.kernel, X, basis, machine.decisions).design(columns)
        if match == "kernel":
            intercept = machine.full.intercept
            weights = np.linalg.lstsq(design, machine.decisions - intercept, rcond=None)[0]
        else:
            weights, intercept = elements.solve_weights(design, machine.decisions, ridge)
        return (
            basis,
            selection,
            elements.ElementExpansion.build(machine.full.kernel, basis, columns, weights, intercept),
        )

    def _select(self, machine: KernelMachine, X: FloatArray, match: str) -> elements.Selection:
        n_basis, n_features = machine.full.basis.shape
        plan = self._plan(self._budget(match, n_basis, n_features))
        smallest = plan.smallest(n_basis, n_features)
        if plan.n_elements < smallest:
            must = f"be at least {smallest} for shape={self.shape!r}, whose smallest mask has that many elements here"
            raise self._wrong("n_elements", must, self.n_elements)
        kernel, basis = machine.full.kernel, machine.full.basis
        if match == "kernel":
            state: elements.SelectionState = elements.PrintedState(kernel, X, basis)
        else:
            state = elements.SelectionState(kernel, X, basis, machine.decisions)
        selection = elements.select(plan, state, machine.full.alpha, generator(self.random_state))
        self._warn_if_short(selection, plan, n_basis)
        return selection

    def _match_labels(self, machine: KernelMachine | None, X: FloatArray, y: Array) -> Matched:
        goal = self._goal(y, 3.0 if self.ridge == "auto" else float(self.ridge) * len(y))
        rng = generator(self.random_state)
        # The widths are chosen by the features' spreads: they are the gammas themselves.
        kernel = elements.MaskedKernel(elements.BUMP)
        plan = self._plan(elements.LARGEST if self.n_elements == "auto" else self.n_elements)
        if self.n_elements == "auto":
            plan = self._plan(elements.held_out_size(kernel, X, goal, plan, rng))
        full = None if machine is None else machine.full
        expansion, path = elements.fit_labels(kernel, X, goal, plan, rng, full, refine=self.refine is not False)
        basis, columns = elements.as_columns(expansion)
        selection = elements.Selection(columns, path)
        self._warn_if_short(selection, plan, len(basis))
        return basis, selection, expansion

    def _check_options(self, match: str) -> None:
        """Raise a ValueError for options that the match does not allow."""
        for name, values in _OPTIONS.get(match, {}).items():
            if getattr(self, name) not in values:
                must = f"be {' or '.join(map(repr, values))} for match={match!r}"
                fix = f"set {name}={values[0]!r}, or match='decision'"
                raise self._wrong(name, must, repr(getattr(self, name)), fix)

    def _budget(self, match: str, n_basis: int, n_features: int) -> int:
        """Return `n_elements`, or all there are, with a warning."""
        if self.n_elements == "auto":
            must, fix = f"be an int for match={match!r}", "set match='labels' to have the number chosen"
            raise self._wrong("n_elements", must, "'auto'", fix)
        available = n_basis * n_features
        if self.n_elements > available:
            warn_user(
                f"n_elements={self.n_elements} is more than the {available} elements that exist "
                f"({n_features} features x {n_basis} support vectors): all of them may be used."
            )
        return min(self.n_elements, available)

    def _plan(self, n_elements: int) -> elements.Plan:
        return elements.Plan(
            n_elements=n_elements, shape=self.shape, search=self.search, rescale=self.search == "guided",
            n_tries=self.n_tries, tol=self.tol, progress=progress_for(type(self).__name__, self.verbose),
        )  # fmt: skip

    def _warn_if_short(self, selection: elements.Selection, plan: elements.Plan, n_basis: int) -> None:
        """Warn if the search stopped before the budget was spent, and say why."""
        reason = selection.shortfall(plan, n_basis)
        if reason is not None:
            warn_user(
                f"{selection.n_elements} of n_elements={plan.n_elements} elements were found: {reason}. "
                f"The relative error is {selection.path[-1] if selection.path else 1.0:.3g}."
            )

    def _learn_elements(self, basis: FloatArray, selection: elements.Selection) -> None:
        expansion, columns = self._expansion, selection.columns
        owners = np.array([column.basis for column in columns], dtype=np.int64)
        rows, cols = expansion.features, np.repeat(owners, expansion.lengths)
        self.mask_ = csc_array((np.ones(len(rows), dtype=np.int8), (rows, cols)), shape=basis.shape[::-1])
        self.support_vectors_ = basis
        self.dual_coef_ = np.zeros((expansion.intercept.size, len(basis)))
        self.dual_coef_[:, owners] = expansion.weights.T
        self.widths_ = np.zeros(len(basis))
        self.widths_[owners] = [column.factor for column in columns]
        self.n_elements_ = len(rows)
        self.path_ = np.array(selection.path)
        if self.shape == "prototypes":
            self.prototypes_ = selection.prototypes

    def _build_predictor(self) -> None:
        dtype = np.float32 if self._single else np.float64
        self._predictor: elements.Predictor = elements.TiledPredictor(self._expansion, dtype)
        if self.table_size is not None:
            self._predictor = elements.TablePredictor.build(
                self._expansion, self._low, self._high, self.table_size, dtype
            )

    def __getstate__(self) -> JsonDict:
        # The predictor is built again on loading: compiled code sees no number of a file that was not checked.
        return {name: value for name, value in super().__getstate__().items() if name != "_predictor"}

    def __setstate__(self, state: JsonDict) -> None:
        super().__setstate__(state)
        if hasattr(self, "_expansion"):
            if {np.shape(self._low), np.shape(self._high)} != {(self._expansion.n_features,)}:
                raise ValueError("The ranges of the features do not fit the expansion.")
            self._build_predictor()

    def _decisions(self, X: FloatArray) -> FloatArray:
        return self._predictor.decision(X)

    @abstractmethod
    def _goal(self, y: Array, ridge: float) -> elements.Goal:
        """Return the loss, targets and ridge term of ``match="labels"``."""

    def to_c(self, name: str = "eigensieve", *, precision: Precision = "single", scaler: Any = None) -> str:
        """Return the machine as one self-contained C file.

        Its head documents inputs, scaling, missing values, classes and the largest error.

        Parameters
        ----------
        name : str, default="eigensieve"
            Prefix of the functions ``<name>_decision`` and, for classes, ``<name>_predict``.
        precision : {"single", "double", "int8", "int16"}, default="single"
            Type of the samples and of the arithmetic. The file states how far the result can be off. "int8" and "int16"
            are for processors without a float unit (not for poly and linear): features enter as levels (see
            `to_levels`), and only whole numbers of 32 bits are computed with.
        scaler : StandardScaler, default=None
            The scaler whose output the machine was fitted on. The file then takes raw values.
        """
        from eigensieve.elements import expansion_to_c, fixed_to_c

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", getattr(scaler, "feature_names_in_", None))
        interface = elements.Interface(names, getattr(self, "classes_", None), *_mean_and_scale(scaler))
        threshold = getattr(self, "threshold_", None)
        if precision in ("int8", "int16"):
            return fixed_to_c(self.fixed_point(precision), name, threshold, interface)
        reach = np.maximum(np.abs(self._low), np.abs(self._high))
        return expansion_to_c(self._expansion, name, threshold, precision=precision, reach=reach, interface=interface)

    def to_levels(self, X: MatrixLike, *, precision: Literal["int8", "int16"] = "int8") -> IntArray:
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

    def fixed_point(self, precision: str) -> elements.FixedPoint:
        """Return the machine in whole numbers, for exporters.

        Parameters
        ----------
        precision : {"int8", "int16"}
            How fine the levels of the features are.
        """
        return elements.FixedPoint.of(self._expansion, self._low, self._high, precision)

    def to_onnx(self, *, precision: Literal["single", "double"] = "single", scaler: Any = None) -> Any:
        """Return the machine as an ONNX model with outputs "decision" and, for classes, "label" (extra "onnx").

        Parameters
        ----------
        precision : {"single", "double"}, default="single"
            Of the constants, the arithmetic and the decision values. "double" makes the file about twice as large.
        scaler : StandardScaler, default=None
            The scaler whose output the machine was fitted on. The model then takes raw values.
        """
        from eigensieve.elements import expansion_to_onnx

        check_is_fitted(self)
        interface = elements.Interface(None, getattr(self, "classes_", None), *_mean_and_scale(scaler))
        threshold = getattr(self, "threshold_", None)
        return expansion_to_onnx(self._expansion, interface, threshold, precision=precision)


def _mean_and_scale(scaler: Any) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the means and scales of a fitted StandardScaler; (None, None) without one."""
    if scaler is None:
        return None, None
    check_is_fitted(scaler)
    zeros = np.zeros(scaler.n_features_in_)
    mean, scale = getattr(scaler, "mean_", None), getattr(scaler, "scale_", None)
    return zeros if mean is None else mean, zeros + 1.0 if scale is None else scale
