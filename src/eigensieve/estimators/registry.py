"""The one table of estimator classes. Model files, the command line and the tests look names up here."""

from importlib import import_module
from typing import Any

ESTIMATORS = {
    "SieveSelector": "eigensieve.estimators.sieve_selector",
    "QAlphaSelector": "eigensieve.estimators.qalpha_selector",
    "KernelQAlphaSelector": "eigensieve.estimators.kernel_qalpha",
    "FeatureMap": "eigensieve.estimators.feature_map",
    "TraceRatioSelector": "eigensieve.estimators.trace_ratio",
    "UnwantedVariationRemover": "eigensieve.estimators.variation",
    "WeightedFeatures": "eigensieve.estimators.weighted",
    "ElementSelectedSVC": "eigensieve.estimators.element_svc",
    "ElementSelectedSVR": "eigensieve.estimators.element_svr",
    "ReducedSetSVC": "eigensieve.estimators.reduced_set",
    "RejectionCascade": "eigensieve.estimators.rejection_cascade",
}
"""Name of every public estimator -> the module it is in. Nothing is imported before it is asked for."""


def estimator_class(name: str) -> Any:
    """Return the class with this name."""
    return getattr(import_module(ESTIMATORS[name]), name)
