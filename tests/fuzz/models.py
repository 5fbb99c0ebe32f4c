"""Damaged model files: each is refused with ModelFileError, or gives the same predictions as the sound file."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR

import eigensieve
from eigensieve import load_model, save_model
from eigensieve.estimators import ModelFileError
from fuzz.reader_damage import damaged_binary

Spec = dict[str, Any]

NAMES = (
    "QAlphaSelector",
    "SieveSelector",
    "TraceRatioSelector",
    "ElementSelectedSVC",
    "ReducedSetSVC",
    "ElementSelectedSVR",
)


def draw(rng: np.random.Generator, target: str) -> Spec:
    return {"estimator": NAMES[int(rng.integers(len(NAMES)))], "seed": int(rng.integers(2**31))}


@cache
def _sound(estimator: str) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Return a model file, the samples it was fitted on, and what the model makes of them."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 12)), np.repeat([0, 1], 15)
    X[:15, :4] += 2.0
    cls = getattr(eigensieve, estimator)
    machine = {"SVC": SVC, "SVR": SVR}.get(estimator[-3:])
    few = {"n_elements": 20} if estimator.startswith("Element") else {}
    model = cls(machine(), random_state=0, **few) if machine else cls(4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        save_model(model.fit(X, y), path)
        return path.read_bytes(), X, _outcome(model, X)


def _outcome(model: Any, X: np.ndarray) -> np.ndarray:
    how = next(name for name in ("decision_function", "predict", "transform") if hasattr(model, name))
    return np.asarray(getattr(model, how)(X))


def check(spec: Spec) -> str:
    content, X, expected = _sound(spec["estimator"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        path.write_bytes(damaged_binary(np.random.default_rng(spec["seed"]), content))
        try:
            model = load_model(path)
        except ModelFileError as error:
            return f"refused: {error}".replace(str(path), "")
    np.testing.assert_array_equal(_outcome(model, X), expected, "another result without an error")
    return "the same result"
