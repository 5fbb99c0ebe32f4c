"""The methods of the command line in one table: a name, an estimator, the options that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from eigensieve.cli.errors import UsageProblem


@dataclass(frozen=True)
class Method:
    """One selector as the command line offers it.

    Attributes
    ----------
    estimator : str
        Name of the class in eigensieve.
    options : dict
        Command-line option (as a Python name) -> parameter of the estimator.
    needs_label : callable
        Given the parameters, whether labels must be there.
    uses_label : callable
        Given the parameters, whether labels, when there, steer the selection.
    takes_side, takes_pairs : bool
        Whether ``fit`` accepts side data and pairs of samples.
    """

    estimator: str
    module: str
    options: dict[str, str]
    summary: str
    needs_label: Callable[[dict[str, Any]], bool] = field(default=lambda params: False)
    uses_label: Callable[[dict[str, Any]], bool] = field(default=lambda params: False)
    takes_side: bool = False
    takes_pairs: bool = False

    @property
    def available(self) -> bool:
        return find_spec(f"eigensieve.estimators.{self.module}") is not None


_COMMON = {"n_features": "n_features_to_select"}

METHODS = {
    "sieve": Method(
        "SieveSelector",
        "_sieve_selector",
        _COMMON | {"clusters": "n_clusters", "fdr": "fdr", "seed": "random_state"},
        "recommended: no labels, nothing to tune, no near-copies",
    ),
    "qalpha": Method(
        "QAlphaSelector",
        "_qalpha_selector",
        _COMMON
        | {
            "clusters": "n_clusters",
            "criterion": "criterion",
            "spectrum": "spectrum",
            "normalize": "normalize",
            "supervision": "supervision",
            "side_strength": "side_strength",
            "pair_strength": "pair_strength",
            "fdr": "fdr",
            "seed": "random_state",
        },
        "the papers' weights: unsupervised, with labels, side data or pairs",
        uses_label=lambda params: params.get("supervision", "auto") != "ignore",
        takes_side=True,
        takes_pairs=True,
    ),
    "trace-ratio": Method(
        "TraceRatioSelector",
        "_trace_ratio",
        _COMMON | {"score": "score", "level": "level", "neighbors": "n_neighbors"},
        "the exact best subset by Fisher (labels) or Laplacian (no labels) score",
        needs_label=lambda params: params.get("score", "fisher") != "laplacian",
        uses_label=lambda params: params.get("score", "fisher") != "laplacian",
    ),
}
"""First is the default."""


def method_named(name: str) -> Method:
    """Return the method, or say which there are."""
    if name not in METHODS:
        raise UsageProblem(f"There is no method '{name}'. Choose one of: {', '.join(METHODS)}.")
    return METHODS[name]


def default_method() -> str:
    """Return the name of the first method that this installation has."""
    return next(name for name, method in METHODS.items() if method.available)


def parameters(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Turn command-line options into the estimator's parameters; refuse those of another method.

    Parameters
    ----------
    name : str
        The method.
    given : dict
        Options by their Python name; None means not given.
    """
    method = method_named(name)
    params: dict[str, Any] = {}
    for option, value in given.items():
        if value is None:
            continue
        if option not in method.options:
            owners = [other for other, m in METHODS.items() if option in m.options]
            flag = "--" + option.replace("_", "-")
            raise UsageProblem(f"{flag} does nothing with --method {name}. Drop it, or use --method {owners[0]}.")
        params[method.options[option]] = value
    return params


def build(name: str, params: dict[str, Any], verbose: int) -> Any:
    """Make the unfitted estimator."""
    from eigensieve.estimators import estimator_class

    cls: Any = estimator_class(method_named(name).estimator)
    accepted = cls._parameter_constraints
    if "verbose" in accepted:
        params = params | {"verbose": verbose}
    return cls(**params)
