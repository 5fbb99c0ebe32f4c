"""A fitted selector as plain values for the report. Attributes of models are read here and nowhere else."""

from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigensieve._types import FloatArray
from eigensieve.estimators import Findings


class Fitted:
    """A fitted selector in plain values; None where the selector does not have one."""

    def __init__(self, model: BaseEstimator) -> None:
        def read(name: str, default: Any = None) -> Any:
            return getattr(model, name, default)

        self.name = type(model).__name__
        self.found = Findings.of(model)
        names, shown, kept = read("feature_names_in_"), read("structure_shown_"), read("embedding_", read("graph_"))
        self.feature_names = None if names is None else [str(name) for name in names]
        self.settings = _settings(model)
        self.n_samples = None if kept is None else int(kept.shape[0])  # how many samples it was fitted on
        self.led_by_labels = bool(read("supervised_", False))  # labels or a target took the place of the structure
        self.embedding: FloatArray | None = None  # also where labels took its place
        if not self.led_by_labels and read("embedding_") is not None:
            self.embedding = np.asarray(model.embedding_, dtype=np.float64)
        values, asked = read("eigenvalues_"), read("n_clusters", "auto")
        counted = self.embedding is not None and values is not None and len(values) == self.embedding.shape[1]
        self.n_directions = len(values) if counted else 0  # that the selector looked for, 0 where it does not count
        self.eigenvalues = np.abs(np.asarray(values, dtype=np.float64)) if counted else None  # importance of directions
        self.n_groups = None if asked == "auto" else int(asked)  # groups of samples that the user asked for
        # how much of the structure the first picks show
        self.structure_shown = None if shown is None or not len(shown) else np.asarray(shown, dtype=np.float64)
        self.converged: bool | None = read("converged_")
        self.gap: float | None = read("sparsity_gap_")  # mean selected weight over the mean of the others
        self.negative: float | None = read("negative_weight_fraction_")  # share of the varying features
        self.zero_by_chance = hasattr(model, "null_quantile_")  # whether scores of unrelated features scatter around 0
        self.fdr: float | None = read("fdr")  # share of false selections that was allowed
        self.scale_used: bool | None = read("scale_used_")  # whether features that vary more counted more
        self.scored_by: str | None = read("scored_by_")  # "features", "profiles", "labels" or "products"


def _settings(model: BaseEstimator) -> list[str]:
    """Parameters that differ from their defaults, as text."""
    defaults = signature(type(model)).parameters
    changed = []
    for key, value in model.get_params(deep=False).items():
        if key != "verbose" and repr(value) != repr(defaults[key].default):
            shown = repr(value)
            changed.append(f"{key}={shown if len(shown) <= 60 else f'({type(value).__name__})'}")
    return changed
