"""The base of the Q-alpha selectors: they read labels and pairs, set up the solver and report its result alike."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike
from sklearn.exceptions import ConvergenceWarning

import eigensieve.qalpha as qalpha
from eigensieve._progress import Progress
from eigensieve._sklearn import StrOptions, validate_parameter_constraints
from eigensieve._types import BoolArray, FloatArray, JsonDict, OneEach, RandomState
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import AT_LEAST_ONE, COUNT, NOT_NEGATIVE, POSITIVE, BaseSelector, generator, warn_user
from eigensieve.estimators.knowledge import Known, read_side_variances
from eigensieve.estimators.target import Kind, read_target
from eigensieve.theory import sparsity_gap

Options = JsonDict
Rules = dict[str, list[Any]]


@dataclass(eq=False, repr=False)
class BaseQAlpha(BaseSelector):
    """Base of the selectors that maximise the criterion of Q-alpha, with the parameters that all of them have."""

    n_features_to_select: int | float | Literal["auto"] = "auto"
    _: KW_ONLY
    normalize: Literal["auto", "center", "unit", "none"] = "auto"
    supervision: Kind = "auto"
    strength: float = 1.0
    solver_options: Options | None = None
    random_state: RandomState = None
    verbose: int = 0

    _parameter_constraints = {
        "n_features_to_select": COUNT,
        "n_clusters": [AT_LEAST_ONE],
        "criterion": [StrOptions({"energy", "gap"})],
        "normalize": [StrOptions({"auto", "center", "unit", "none"})],
        "supervision": [StrOptions({"auto", "classes", "numbers", "ignore"})],
        "strength": [POSITIVE],
        "solver_options": [dict, None],
    }
    _search_rules = {
        "init": [StrOptions({"eigen", "random"})],
        "n_init": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
    }
    spectrum = "standard"
    solver = "auto"

    def _validate_params(self) -> None:
        super()._validate_params()
        self._check_options("solver_options", self._search_rules)

    def _check_options(self, parameter: str, allowed: Rules) -> None:
        """Check a parameter that is a dictionary, or None."""
        given = getattr(self, parameter) or {}
        if unknown := [name for name in given if name not in allowed]:
            must = f"hold only {', '.join(map(repr, allowed))}" if allowed else "be None here"
            raise self._wrong(parameter, must, repr(unknown[0]))
        validate_parameter_constraints(allowed, given, caller_name=f"{type(self).__name__}.{parameter}")

    def _labels(self, y: OneEach, n_samples: int) -> qalpha.Labels | None:
        """Return the classes that y holds, or None where there is no y or it is not used."""
        name = type(self).__name__
        if self.supervision == "numbers":
            fix = "use SieveSelector for numbers, or cut them into classes"
            raise self._wrong("supervision", "be 'auto', 'classes' or 'ignore'", "'numbers'", fix)
        if y is None or self.supervision == "ignore":
            return None
        labels = qalpha.read_labels(y, n_samples, name)
        if self.supervision == "auto" and read_target(y, n_samples, name).kind != "classes":
            raise ValueError(
                f"{name} needs classes in y. Got whole numbers of {len(labels.classes)} values instead. Use "
                "supervision='classes' if they are classes, SieveSelector if not, or supervision='ignore'."
            )
        return labels

    @property
    def _normalization(self) -> str:
        uncentred = self.spectrum == "laplacian" or self.criterion == "blocks"
        return ("unit" if uncentred else "center") if self.normalize == "auto" else self.normalize

    def _read_knowledge(self, raw: DataMatrix, known: Known) -> qalpha.Knowledge:
        """Read labels, pairs and side data, and refuse settings that do not go together."""
        name = type(self).__name__
        labels = self._labels(known.y, raw.n_samples)
        pairs = qalpha.read_pairs(known.cannot_link, known.must_link, raw.n_samples, name)
        if pairs is None and (known.cannot_link is not None or known.must_link is not None):
            warn_user(f"The group numbers given to {name} pair no two of the {raw.n_samples} samples. It fits without.")
        qalpha.check_combination(
            name,
            spectrum=self.spectrum,
            criterion=self.criterion,
            normalize=self._normalization,
            solver=self.solver,
            shift=(self.solver_options or {}).get("shift", "fixed"),
            labels=labels,
            pairs=pairs,
        )
        scale = None
        if known.side is not None:
            scale = qalpha.inhibition(read_side_variances(self, raw, known.side), qalpha.SIDE_STRENGTH / self.strength)
        blocks, pair_strength = self.criterion == "blocks", qalpha.PAIR_STRENGTH * self.strength
        return qalpha.Knowledge(labels, blocks, scale, pairs, pair_strength)

    def _settings(self, progress: Progress, **others: Any) -> qalpha.SolveSettings:
        options = self.solver_options or {}
        return qalpha.SolveSettings(**options, rng=generator(self.random_state), progress=progress, **others)

    def _check_range(self, raw: DataMatrix) -> None:
        """Refuse data whose scale is part of the question and out of range."""
        if self._normalization == "none":
            multiplied = raw.shared.exponents is not None  # columns of extreme scale were multiplied
            self._check_fourth_power(np.inf if multiplied else float(raw.stats().norm.max()), raw.dtype, "columns")

    def _check_fourth_power(self, largest: float, dtype: DTypeLike, what: str) -> None:
        """Refuse features whose fourth power, as in the criterion, overflows or vanishes."""
        limit = float(np.finfo(dtype).max) ** 0.2
        if not 1 / limit <= largest <= limit:
            limits = f"features below {1 / limit:.1e} or above {limit:.1e}, as the criterion is of fourth power"
            must, fix = f"not be {self.normalize!r} for {limits}", "use 'center', or rescale X"
            raise self._wrong("normalize", must, f"{what} of size {largest:.1e}", fix)

    def _learn_solution(self, result: qalpha.Result, usable: BoolArray) -> None:
        """Set the attributes of one solve, once `support_` is there."""
        weights, support = result.weights, self.support_
        self.weights_ = weights
        self.eigenvalues_ = result.eigenvalues
        self.objective_ = result.objective
        self.start_objectives_ = np.array(result.start_objectives)
        self.starts_finished_ = np.array(result.starts_finished)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.sparsity_gap_ = 1.0 if support.all() or not support.any() else sparsity_gap(weights, support)
        self.negative_weight_fraction_ = float(np.mean(weights[usable] < 0))
        if result.status == "wandering":
            warn_user(
                f"The weights of {type(self).__name__} do not settle: its steps go round without a larger criterion. "
                f"The best weights of {result.n_iter} steps are kept. Use criterion='energy'.",
                ConvergenceWarning,
            )
        elif not result.converged:
            self._warn_not_converged()

    def _warn_not_converged(self, part: str = "") -> None:
        warn_user(
            f"{type(self).__name__} stopped {part}after "
            f"{qalpha.SolveSettings(**(self.solver_options or {})).max_iter} steps, before the weights settled. "
            "The ranking may still change: raise max_iter or tol in solver_options.",
            ConvergenceWarning,
        )


def two_level_cut(weights: FloatArray) -> int:
    """Return how many of the largest weights form the upper of two levels, those of the relevant features.

    The cut is where the split of the sorted weights, in any order, into two groups leaves the least variance within the
    groups. It is all of the weights when they do not differ.
    """
    ordered = np.sort(np.asarray(weights, dtype=np.float64))[::-1]
    n = len(ordered)
    if n < 2 or ordered[0] - ordered[-1] <= 1e-12 * max(abs(ordered[0]), abs(ordered[-1])):
        return n
    upper = np.cumsum(ordered)[:-1]
    size = np.arange(1, n)
    mean = ordered.mean()
    between = (upper - size * mean) ** 2 / (size * (n - size))
    return int(between.argmax()) + 1
