"""eigensieve: find the few features that matter in wide data, with or without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from eigensieve.estimators._qalpha_selector import QAlphaSelector
    from eigensieve.operators import check_symmetric_operator
    from eigensieve.qalpha.theory import (
        expected_irrelevant_weight_bound,
        irrelevant_weight_bound,
        positivity_probability,
        sparsity_gap,
        two_block_sparsity_gap,
    )

_HOMES = {
    "QAlphaSelector": "estimators._qalpha_selector",
    "check_symmetric_operator": "operators",
    "expected_irrelevant_weight_bound": "qalpha.theory",
    "irrelevant_weight_bound": "qalpha.theory",
    "positivity_probability": "qalpha.theory",
    "sparsity_gap": "qalpha.theory",
    "two_block_sparsity_gap": "qalpha.theory",
}

__all__ = [
    "QAlphaSelector",
    "__version__",
    "check_symmetric_operator",
    "expected_irrelevant_weight_bound",
    "irrelevant_weight_bound",
    "positivity_probability",
    "sparsity_gap",
    "two_block_sparsity_gap",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import eigensieve`` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'eigensieve' has no attribute {name!r}")
    value = getattr(import_module(f"eigensieve.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
