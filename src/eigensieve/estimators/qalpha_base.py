"""The base of the Q-alpha selectors: they read labels and pairs, set up the solver and report its result alike."""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigensieve._progress import Progress
from eigensieve._sklearn import StrOptions
from eigensieve._types import BoolArray, FloatArray
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import AT_LEAST_ONE, COUNT, NOT_NEGATIVE, POSITIVE, BaseSelector, generator, warn_user
from eigensieve.estimators.knowledge import Known, read_side_variances
from eigensieve.qalpha import (
    TAU,
    Knowledge,
    Result,
    SolveSettings,
    check_combination,
    inhibition,
    read_labels,
    read_pairs,
)
from eigensieve.theory import sparsity_gap


class BaseQAlpha(BaseSelector):
    """Base of the selectors that maximise the criterion of Q-alpha."""

    _parameter_constraints: dict = {
        "n_features_to_select": COUNT,
        "n_clusters": [AT_LEAST_ONE],
        "spectrum": [StrOptions({"standard", "laplacian"})],
        "criterion": [StrOptions(set(TAU))],
        "normalize": [StrOptions({"auto", "center", "unit", "none"})],
        "supervision": [StrOptions({"auto", "span", "ignore"})],
        "n_init": [AT_LEAST_ONE],
        "side_strength": [POSITIVE],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
    }

    spectrum: str
    criterion: str
    normalize: str
    supervision: str
    solver: str = "auto"
    n_init: int
    side_strength: float
    max_iter: int
    tol: float
    random_state: Any
    negative_weight_fraction_: float

    def _supervision(self, y: Any) -> str | None:
        """How labels are used: "span", "blocks", or None for not at all."""
        if self.supervision in ("span", "blocks") and y is None:
            raise ValueError(
                f"The 'supervision' parameter of {type(self).__name__} is {self.supervision!r}, which requires y to be "
                "passed, but the target y is None. Pass y, or leave supervision at 'auto'."
            )
        if y is None or self.supervision == "ignore":
            return None
        return "span" if self.supervision == "auto" else self.supervision

    def _normalization(self, supervision: str | None = None) -> str:
        if self.normalize != "auto":
            return self.normalize
        return "unit" if self.spectrum == "laplacian" or supervision == "blocks" else "center"

    def _read_knowledge(self, raw: DataMatrix, known: Known) -> Knowledge:
        """Read labels, pairs and side data, and refuse settings that do not go together."""
        name, supervision = type(self).__name__, self._supervision(known.y)
        labels = None if supervision is None else read_labels(known.y, raw.n_samples, name)
        pairs = read_pairs(known.cannot_link, known.must_link, raw.n_samples, name)
        if pairs is None and (known.cannot_link is not None or known.must_link is not None):
            warn_user(f"The group numbers given to {name} pair no two of the {raw.n_samples} samples. It fits without.")
        check_combination(
            name,
            spectrum=self.spectrum,
            criterion=self.criterion,
            normalize=self._normalization(supervision),
            solver=self.solver,
            supervision=supervision,
            labels=labels,
            pairs=pairs,
        )
        scale = None
        if known.side is not None:
            scale = inhibition(read_side_variances(self, raw, known.side), self.side_strength)
        return Knowledge(labels, scale=scale, pairs=pairs, pair_strength=getattr(self, "pair_strength", 0.0))

    def _settings(self, progress: Progress, **others: Any) -> SolveSettings:
        return SolveSettings(
            solver=self.solver,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            rng=generator(self.random_state),
            progress=progress,
            **others,
        )

    def _check_range(self, raw: DataMatrix, normalize: str) -> None:
        """Refuse values whose fourth power overflows or vanishes: the criterion without normalisation."""
        if normalize != "none":
            return
        limit = float(np.finfo(raw.dtype).max) ** 0.2
        largest = float(raw.stats().norm.max())
        if raw.shared.exponents is None and 1 / limit <= largest <= limit:
            return
        stated = "of extreme scale" if raw.shared.exponents is not None else f"of norm up to {largest:.1e}"
        raise ValueError(
            f"Input X has columns {stated}, too large or too small for normalize='none' in {raw.dtype} (the "
            f"criterion is of fourth power; the limits are {1 / limit:.1e} and {limit:.1e}). Use normalize='center', "
            "or rescale X."
        )

    def _learn_solution(self, result: Result, usable: BoolArray) -> None:
        """Set the attributes of one solve, once `support_` is there."""
        weights, support = result.weights, self.support_
        self.weights_ = weights
        self.eigenvalues_ = result.eigenvalues
        self.objective_ = result.objective
        self.start_objectives_ = np.array(result.start_objectives)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.sparsity_gap_ = 1.0 if support.all() or not support.any() else sparsity_gap(weights, support)
        self.negative_weight_fraction_ = float(np.mean(weights[usable] < 0))
        if result.status == "wandering":
            warn_user(
                f"The weights of {type(self).__name__} do not settle to tol={self.tol}: its steps go round without a "
                f"larger criterion. The best weights of {result.n_iter} steps are kept. Use supervision='span'.",
                ConvergenceWarning,
            )
        elif not result.converged:
            self._warn_not_converged()

    def _warn_not_converged(self, part: str = "") -> None:
        warn_user(
            f"{type(self).__name__} stopped {part}after max_iter={self.max_iter} steps before the weights settled to "
            f"tol={self.tol}. The ranking may still change: increase max_iter, or accept a larger tol.",
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
