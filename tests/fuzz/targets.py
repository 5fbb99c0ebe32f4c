"""The targets of the fuzzer: each has a module with ``draw`` and ``check``, some with ``simpler`` and ``keep``."""

import importlib
import zlib
from types import ModuleType
from typing import Any

import numpy as np

SELECTORS = ("SieveSelector", "QAlphaSelector", "KernelQAlphaSelector", "FeatureMap", "TraceRatioSelector")
CLASSIFIERS = ("ElementSelectedSVC", "ReducedSetSVC", "RejectionCascade")
REGRESSORS = ("ElementSelectedSVR",)
TRANSFORMERS = ("UnwantedVariationRemover", "WeightedFeatures")
TEXTS = ("csv", "csv.gz", "svmlight", "mtx", "10x")
BINARY = ("parquet", "feather", "npy", "npz", "mat", "mat 7.3", "h5ad", "xlsx")
IN_PLACE = ("open npy", "open hdf5", "open h5ad", "open parquet", "open zarr")

COMMANDS = ("select", "qalpha", "ratio", "compress", "map", "apply", "compare", "score", "demo", "inspect", "app")
TOGETHER = ("two writers", "two outputs", "two checkpoints", "fork after fit", "grid search")
EXPORTS = ("single", "double", "int8", "int16", "onnx")
TROUBLES = ("killed worker", "slow worker", "little memory", "dead scheduler")
ESTIMATORS = (*SELECTORS, *CLASSIFIERS, *REGRESSORS, *TRANSFORMERS)

_MODULES = {
    **dict.fromkeys(ESTIMATORS, "fuzz.fits"),
    "models": "fuzz.models",
    **dict.fromkeys((f"tampered {name}" for name in ESTIMATORS), "fuzz.tampering"),
    **dict.fromkeys((f"relation {name}" for name in ESTIMATORS), "fuzz.relations"),
    "checkpoints": "fuzz.checkpoints",
    **dict.fromkeys((f"interrupted {name}" for name in COMMANDS), "fuzz.interruptions"),
    **dict.fromkeys((*TOGETHER, "two caches"), "fuzz.together"),
    **dict.fromkeys((f"exported {precision}" for precision in EXPORTS), "fuzz.exports"),
    **dict.fromkeys((f"leaks {name}" for name in (*ESTIMATORS, "open_data")), "fuzz.leaks"),
    "terminal": "fuzz.terminal",
    "permuted": "fuzz.permuted",
    **dict.fromkeys((f"cluster, {trouble}" for trouble in TROUBLES), "fuzz.clusters"),
    **dict.fromkeys((*TEXTS, *BINARY, *IN_PLACE), "fuzz.readers"),
}
TARGETS = tuple(_MODULES)
_MODULES["code"] = "fuzz.code"  # for the tests of the worker

_SHARES = {
    "fuzz.fits": 0.5,
    "fuzz.models": 0.2,
    "fuzz.tampering": 0.1,
    "fuzz.relations": 0.05,
    "fuzz.checkpoints": 0.2,
    "fuzz.interruptions": 0.05,
    "fuzz.together": 0.01,
    "two caches": 5e-4,  # they compile
    "fuzz.exports": 0.02,
    "fuzz.leaks": 1e-4,
    "fuzz.terminal": 0.02,
    "fuzz.permuted": 0.02,
    "fuzz.clusters": 0.002,
}


def module_of(target: str) -> ModuleType:
    return importlib.import_module(_MODULES[target])


def share(target: str, cases: int) -> int:
    """How many cases a target gets where a reader gets `cases`: what takes longer gets fewer."""
    return max(1, round(cases * _SHARES.get(target, _SHARES.get(_MODULES[target], 1.0))))


def draw(target: str, seed: int, number: int) -> Any:
    """Return one case; it is the same for the same seed and number."""
    rng = np.random.default_rng([seed, zlib.crc32(target.encode()), number])
    return module_of(target).draw(rng, target)
