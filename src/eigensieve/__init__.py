"""eigensieve: find the few features that matter in wide data, with or without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from eigensieve.amount.stability import selection_stability
    from eigensieve.data import open_data
    from eigensieve.estimators._anndata import select_genes
    from eigensieve.estimators._element_svc import ElementSelectedSVC
    from eigensieve.estimators._feature_map import FeatureMap
    from eigensieve.estimators._kernel_qalpha import KernelQAlphaSelector
    from eigensieve.estimators._persistence import load_model, save_model
    from eigensieve.estimators._qalpha_selector import QAlphaSelector
    from eigensieve.estimators._reduced_set import ReducedSetSVC
    from eigensieve.estimators._rejection_cascade import RejectionCascade
    from eigensieve.estimators._sieve_selector import SieveSelector
    from eigensieve.estimators._trace_ratio import TraceRatioSelector
    from eigensieve.estimators._trace_ratio_scores import fisher_score, laplacian_score
    from eigensieve.operators import check_symmetric_operator
    from eigensieve.qalpha.theory import (
        expected_irrelevant_weight_bound,
        irrelevant_weight_bound,
        positivity_probability,
        sparsity_gap,
        two_block_sparsity_gap,
    )

_HOMES = {
    "ElementSelectedSVC": "estimators._element_svc",
    "FeatureMap": "estimators._feature_map",
    "KernelQAlphaSelector": "estimators._kernel_qalpha",
    "QAlphaSelector": "estimators._qalpha_selector",
    "ReducedSetSVC": "estimators._reduced_set",
    "RejectionCascade": "estimators._rejection_cascade",
    "SieveSelector": "estimators._sieve_selector",
    "TraceRatioSelector": "estimators._trace_ratio",
    "check_symmetric_operator": "operators",
    "expected_irrelevant_weight_bound": "qalpha.theory",
    "fisher_score": "estimators._trace_ratio_scores",
    "irrelevant_weight_bound": "qalpha.theory",
    "laplacian_score": "estimators._trace_ratio_scores",
    "load_model": "estimators._persistence",
    "open_data": "data",
    "positivity_probability": "qalpha.theory",
    "save_model": "estimators._persistence",
    "select_genes": "estimators._anndata",
    "selection_stability": "amount.stability",
    "sparsity_gap": "qalpha.theory",
    "two_block_sparsity_gap": "qalpha.theory",
}

__all__ = [
    "ElementSelectedSVC",
    "FeatureMap",
    "KernelQAlphaSelector",
    "QAlphaSelector",
    "ReducedSetSVC",
    "RejectionCascade",
    "SieveSelector",
    "TraceRatioSelector",
    "__version__",
    "check_symmetric_operator",
    "expected_irrelevant_weight_bound",
    "fisher_score",
    "irrelevant_weight_bound",
    "laplacian_score",
    "load_model",
    "open_data",
    "positivity_probability",
    "save_model",
    "select_genes",
    "selection_stability",
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
