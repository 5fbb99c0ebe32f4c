"""The methods of the command line in one table: a name, an estimator, the options that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Params = dict[str, Any]  # that of _types imports numpy, and signals do not wait yet


@dataclass(frozen=True)
class Method:
    estimator: str  # name of the class in eigensieve
    options: dict[str, str]  # command-line option (as a Python name) -> parameter of the estimator
    summary: str  # for the help
    # given the parameters, whether labels must be there
    needs_label: Callable[[Params], bool] = field(default=lambda params: False)
    # given the parameters, whether labels, when there, steer the selection
    uses_label: Callable[[Params], bool] = field(default=lambda params: False)
    # given the parameters, whether ``fit`` looks for neighbours among the samples and so needs the array itself. Other
    # fits take the data matrix, which knows its column statistics already.
    needs_array: Callable[[Params], bool] = field(default=lambda params: False)
    # which of ``--batch``, ``--donors``, ``--event``, ``--side`` and ``--pairs`` it uses
    knows: tuple[str, ...] = ()
    gaps: bool = False  # whether it takes missing values
    unlabelled: Any = -1  # what stands for a missing label among words
    words: tuple[str, ...] = ("auto",)  # the words that ``--n-features`` may be


_COMMON = {"n_features": "n_features_to_select"}


def _not_ignored(params: Params) -> bool:
    return bool(params.get("supervision", "auto") != "ignore")


def _same(*names: str) -> dict[str, str]:
    """Options that are called like their parameters."""
    return dict(zip(names, names, strict=True))


_CALIBRATED = _COMMON | {"fdr": "fdr", "seed": "random_state"}

METHODS = {
    "sieve": Method(
        "SieveSelector",
        _CALIBRATED
        | {"unwanted": "n_directions", "must_keep": "keep", "groups": "feature_groups", "costs": "feature_costs"}
        | _same("supervision", "use_scale", "use_profiles", "exclude", "max_per_group", "max_cost"),
        "recommended: with or without labels, nothing to tune",
        uses_label=_not_ignored,
        knows=("batch", "donors", "event", "side", "pairs"),
        gaps=True,
        unlabelled=None,
        words=("auto", "fewest"),
    ),
    "qalpha": Method(
        "QAlphaSelector",
        _CALIBRATED
        | {"clusters": "n_clusters"}
        | _same("criterion", "spectrum", "normalize", "supervision", "strength"),
        "the papers' weights: with or without labels, side data, pairs",
        uses_label=_not_ignored,
        knows=("side", "pairs"),
    ),
    "trace-ratio": Method(
        "TraceRatioSelector",
        _COMMON | {"neighbors": "n_neighbors"} | _same("score", "level", "scale"),
        "the exact best subset: Fisher score with labels, Laplacian score without",
        needs_label=lambda params: params.get("score", "fisher") != "laplacian",
        uses_label=lambda params: params.get("score", "fisher") != "laplacian",
        needs_array=lambda params: params.get("score", "fisher") != "fisher",
        gaps=True,
    ),
}

DEFAULT_METHOD = next(iter(METHODS))

FLAGS = (
    {
        parameter: "--" + option.replace("_", "-")
        for method in METHODS.values()
        for option, parameter in method.options.items()
    }
    | {name: f"--{name}" for name in ("shape", "samples", "format", "categories", "decimal", "thousands", "side")}
    | {"n_rounds": "--rounds", "n_elements": "--elements", "batches": "--batch", "groups": "--donors"}
    | {"must_link": "--pairs", "cannot_link": "--pairs", "C": "--penalty"}
)
"""Parameter of an estimator or of its ``fit`` -> the command-line option that sets it."""
