"""Matplotlib displays in scikit-learn's convention: ``SomethingDisplay.from_estimator(model)``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigensieve.plotting.elements import ElementMaskDisplay, ElementPathDisplay, RejectionCurveDisplay
    from eigensieve.plotting.feature_map import FeatureMapDisplay
    from eigensieve.plotting.path import TraceRatioPathDisplay
    from eigensieve.plotting.stability import StabilityDisplay
    from eigensieve.plotting.weights import WeightsDisplay

_HOMES = {
    "ElementMaskDisplay": "elements",
    "ElementPathDisplay": "elements",
    "FeatureMapDisplay": "feature_map",
    "RejectionCurveDisplay": "elements",
    "StabilityDisplay": "stability",
    "TraceRatioPathDisplay": "path",
    "WeightsDisplay": "weights",
}

__all__ = [
    "ElementMaskDisplay",
    "ElementPathDisplay",
    "FeatureMapDisplay",
    "RejectionCurveDisplay",
    "StabilityDisplay",
    "TraceRatioPathDisplay",
    "WeightsDisplay",
]


def __getattr__(name: str) -> Any:
    """Import a display when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'eigensieve.plotting' has no attribute {name!r}")
    value = getattr(import_module(f"eigensieve.plotting.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
