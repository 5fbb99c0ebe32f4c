"""A fitted selector as plain values for the report. Attributes of models are read here and nowhere else."""

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigensieve._types import FloatArray
from eigensieve.estimators import Findings


@dataclass(frozen=True)
class Fitted:
    """A fitted selector in plain values; None where the selector does not have one."""

    name: str  # of the class
    found: Findings
    feature_names: list[str] | None
    settings: list[str]  # parameters that differ from their defaults
    n_samples: int | None  # how many samples it was fitted on
    led_by_labels: bool  # whether labels or a target took the place of the structure of the samples
    embedding: FloatArray | None  # None where labels took its place
    eigenvalues: FloatArray | None  # their sizes, the importance of the directions
    n_directions: int  # how many directions the selector looked for, 0 where it does not count them
    n_groups: int | None  # how many groups of samples the user asked for
    structure_shown: FloatArray | None  # how much of the structure the first picks show
    converged: bool | None
    gap: float | None  # how many times the mean weight left out the mean selected weight is
    negative: float | None  # share of the varying features with a negative weight
    zero_by_chance: bool  # whether the scores of unrelated features scatter around zero
    fdr: float | None  # share of false selections that was allowed
    scale_used: bool | None  # whether features that vary more counted more
    scored_by: str | None  # what the scores come from: "features", "profiles", "labels" or "products"

    @classmethod
    def of(cls, model: BaseEstimator) -> "Fitted":
        def read(name: str, default: Any = None) -> Any:
            return getattr(model, name, default)

        names, shown = read("feature_names_in_"), read("structure_shown_")
        kept = read("embedding_", read("graph_"))
        led = bool(read("supervised_", False))
        embedding = None if led or read("embedding_") is None else np.asarray(model.embedding_, dtype=np.float64)
        values, asked = read("eigenvalues_"), read("n_clusters", "auto")
        counted = embedding is not None and values is not None and len(values) == embedding.shape[1]
        return cls(
            name=type(model).__name__,
            found=Findings.of(model),
            feature_names=None if names is None else [str(name) for name in names],
            settings=_settings(model),
            n_samples=None if kept is None else int(kept.shape[0]),
            led_by_labels=led,
            embedding=embedding,
            eigenvalues=np.abs(np.asarray(values, dtype=np.float64)) if counted else None,
            n_directions=len(values) if counted else 0,
            n_groups=None if asked == "auto" else int(asked),
            structure_shown=None if shown is None or not len(shown) else np.asarray(shown, dtype=np.float64),
            converged=read("converged_"),
            gap=read("sparsity_gap_"),
            negative=read("negative_weight_fraction_"),
            zero_by_chance=hasattr(model, "null_quantile_"),
            fdr=read("fdr"),
            scale_used=read("scale_used_"),
            scored_by=read("scored_by_"),
        )


def _settings(model: BaseEstimator) -> list[str]:
    """Parameters that differ from their defaults, as text."""
    defaults = signature(type(model)).parameters
    changed = []
    for key, value in model.get_params(deep=False).items():
        if key != "verbose" and repr(value) != repr(defaults[key].default):
            shown = repr(value)
            changed.append(f"{key}={shown if len(shown) <= 60 else f'({type(value).__name__})'}")
    return changed
