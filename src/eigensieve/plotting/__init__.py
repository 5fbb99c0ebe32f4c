"""Matplotlib displays in scikit-learn's convention: ``SomethingDisplay.from_estimator(model)``."""

from importlib import import_module
from typing import Any

_HOMES = {
    "WeightsDisplay": "weights",
}

__all__ = ["WeightsDisplay"]


def __getattr__(name: str) -> Any:
    """Import a display when it is first used: matplotlib is optional and slow to import."""
    if name not in _HOMES:
        raise AttributeError(f"module 'eigensieve.plotting' has no attribute {name!r}")
    value = getattr(import_module(f"eigensieve.plotting.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
