"""Exported machines against Python: C in floating point and in whole numbers, and ONNX."""

import ctypes
import re
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC, SVR

from eigensieve import ElementSelectedSVC, ElementSelectedSVR

Spec = dict[str, Any]

SECONDS = 30
PREFIX = "exported "
_TYPES = {
    "single": ctypes.c_float,
    "double": ctypes.c_double,
    "int8": ctypes.c_ubyte,
    "int16": ctypes.c_ushort,
}


def draw(rng: np.random.Generator, target: str) -> Spec:
    precision = target.removeprefix(PREFIX)
    kernels = ("rbf",) if precision.startswith("int") else ("rbf", "poly", "linear")
    return {
        "precision": precision,
        "kernel": kernels[int(rng.integers(len(kernels)))],
        "classes": int(rng.integers(1, 5)),  # 1: a regression
        "labels": bool(rng.random() < 0.3),
        "n_elements": int(rng.integers(5, 40)),
        "n_features": int(rng.integers(4, 12)),
        "scale": float(10.0 ** rng.integers(-2, 3)),
        "seed": int(rng.integers(2**31)),
    }


def simpler(spec: Spec) -> Iterator[Spec]:
    for name, value in (("scale", 1.0), ("labels", False), ("classes", 2)):
        if spec[name] != value:
            yield {**spec, name: value}


def fitted(spec: Spec) -> tuple[Any, np.ndarray]:
    """Return a machine and samples, within its training range and outside."""
    n_classes = max(2, spec["classes"])
    X, y = make_classification(
        n_samples=80, n_features=spec["n_features"], n_informative=4, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=1, random_state=spec["seed"] % 2**31,
    )  # fmt: skip
    X = X * spec["scale"]
    match = "labels" if spec["labels"] and spec["kernel"] == "rbf" else "decision"
    settings = {"n_elements": spec["n_elements"], "match": match, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if spec["classes"] == 1:
            model: Any = ElementSelectedSVR(SVR(kernel=spec["kernel"]), **settings).fit(X, X[:, 0] + y)
        else:
            model = ElementSelectedSVC(SVC(kernel=spec["kernel"]), **settings).fit(X, y)
    return model, np.vstack([X, 3.0 * X[:20]])


def check(spec: Spec) -> str:
    model, X = fitted(spec)
    precision = spec["precision"]
    if precision == "onnx":
        return _onnx(model, X)
    source = model.to_c("m", precision=precision)
    functions = _compiled(source)
    if precision in ("int8", "int16"):
        levels = model.to_levels(X, precision=precision)
        expected = model.fixed_point(precision).decision(levels.astype(np.int64))
        found, _ = _decisions(functions, levels, _TYPES[precision], ctypes.c_long, expected.shape[1])
        np.testing.assert_array_equal(found, expected)
        return "the same whole numbers"
    real = _TYPES[precision]
    X = np.clip(X, model._low, model._high).astype(np.float32)  # the stated error is that of the training range
    exact = model._expansion.decision(X.astype(float))
    error = re.search(r"error +at most (\S+)", source)
    allowed = float(error.group(1)) if error else 1e-10 * (1 + np.abs(exact).max())
    found, classes = _decisions(functions, X, real, real, exact.shape[1], hasattr(model, "classes_"))
    np.testing.assert_allclose(found, exact, rtol=0, atol=allowed)
    _check_classes(model, classes, exact, allowed)
    return "the same values"


def _onnx(model: Any, X: np.ndarray) -> str:
    import onnxruntime

    X = X.astype(np.float32)
    session = onnxruntime.InferenceSession(model.to_onnx(precision="double").SerializeToString())
    found = dict(zip([out.name for out in session.get_outputs()], session.run(None, {"X": X}), strict=True))
    exact = model._expansion.decision(X)
    allowed = 1e-9 * (1 + np.abs(exact).max())
    np.testing.assert_allclose(np.reshape(found["decision"], exact.shape), exact, rtol=0, atol=allowed)
    if "label" in found:
        _check_classes(model, np.searchsorted(model.classes_, found["label"]), exact, allowed)
    return "the same values"


def _compiled(source: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.c"
        path.write_text(source)
        command = ["cc", "-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared"]
        subprocess.run([*command, str(path), "-o", f"{folder}/m.so"], check=True, capture_output=True)
        return ctypes.CDLL(f"{folder}/m.so")


def _decisions(
    functions: Any, X: np.ndarray, given: Any, result: Any, n_outputs: int, classes: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    out, found = np.empty((len(X), n_outputs)), np.zeros(len(X), dtype=int)
    for i, row in enumerate(X.tolist()):
        x, some = (given * len(row))(*row), (result * n_outputs)()
        functions.m_decision(x, some)
        out[i] = some[:]
        found[i] = functions.m_predict(x) if classes else 0
    return out, found


def _check_classes(model: Any, found: np.ndarray, exact: np.ndarray, allowed: float) -> None:
    """Compare the classes wherever the values are further from each other than rounding."""
    if not hasattr(model, "classes_"):
        return
    if exact.shape[1] == 1:
        expected, clear = (exact[:, 0] > model.threshold_).astype(int), np.abs(exact[:, 0] - model.threshold_) > allowed
    else:
        two = np.sort(exact, axis=1)[:, -2:]
        expected, clear = exact.argmax(axis=1), two[:, 1] - two[:, 0] > 2 * allowed
    np.testing.assert_array_equal(found[clear], expected[clear])
