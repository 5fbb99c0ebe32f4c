"""Model files changed on purpose, with checksums that fit.

Each is refused with ModelFileError, or it is another sound model: what it computes has the right shape, and nothing
raises an error or crashes.
"""

import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

import eigensieve
from eigensieve import load_model, save_model
from eigensieve.estimators import ModelFileError
from eigensieve.estimators.persistence import HEADER

Spec = dict[str, Any]

PREFIX = "tampered "
_X, _Y = make_classification(n_samples=60, n_features=8, n_informative=5, n_classes=3, random_state=0)
_TWO = (_Y > 0).astype(int)
_BATCHES = np.arange(60) % 2
FITS: dict[str, tuple[tuple[dict[str, Any], Any, dict[str, Any]], ...]] = {
    "SieveSelector": (({}, None, {}), ({"n_features_to_select": 3}, _Y, {"batches": _BATCHES})),
    "QAlphaSelector": (({}, None, {}), ({"n_features_to_select": 3}, _Y, {})),
    "KernelQAlphaSelector": (({"n_features_to_select": 3}, None, {}),),
    "FeatureMap": (({"n_features_to_select": 4}, None, {}), ({"n_features_to_select": 4}, _Y, {})),
    "TraceRatioSelector": (
        ({"n_features_to_select": 3}, _Y, {}),
        ({"n_features_to_select": 3, "score": "laplacian", "scale": True}, None, {}),
    ),
    "UnwantedVariationRemover": (({}, None, {"batches": _BATCHES}),),
    "WeightedFeatures": (({}, None, {}), ({"floor": 0.1}, _Y, {"batches": _BATCHES})),
    "ElementSelectedSVC": (
        ({"n_elements": 15}, _Y, {}),
        ({"n_elements": 15, "table_size": 16}, _TWO, {}),
        ({"n_elements": 15, "estimator": SVC(kernel="linear")}, _TWO, {}),
        ({"n_elements": 15, "estimator": SVC(kernel="poly")}, _TWO, {}),
        ({"n_elements": 15, "match": "labels"}, _Y, {}),
        ({"n_elements": 30, "shape": "prototypes"}, _Y, {}),
    ),
    "ElementSelectedSVR": (({"n_elements": 15}, _Y.astype(float), {}),),
    "ReducedSetSVC": (({"n_vectors": 4}, _Y, {}), ({"n_vectors": 4}, _TWO, {})),
    "RejectionCascade": (({"matrix_products": False}, _TWO, {}), ({}, _TWO, {})),
}
"""Settings, labels and what else `fit` gets."""


def draw(rng: np.random.Generator, target: str) -> Spec:
    name = target.removeprefix(PREFIX)
    return {"estimator": name, "fit": int(rng.integers(len(FITS[name]))), "seed": int(rng.integers(2**31))}


@cache
def _members(estimator: str, fit: int) -> dict[str, bytes]:
    settings, y, more = FITS[estimator][fit]
    model = getattr(eigensieve, estimator)(**settings)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.skops"
        save_model(model.fit(_X, y, **more) if y is not None else model.fit(_X, **more), path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def check(spec: Spec) -> str:
    members = dict(_members(spec["estimator"], spec["fit"]))
    rng = np.random.default_rng(spec["seed"])
    arrays = sorted(name for name in members if name.endswith((".npy", ".npz")))
    if rng.random() < 0.2:
        members["schema.json"] = _other_state(rng, members["schema.json"])
    else:
        name = arrays[int(rng.integers(len(arrays)))]
        members[name] = _other_arrays(rng, members[name], name.endswith(".npz"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        _write(path, members)
        try:
            model = load_model(path)
        except ModelFileError as error:
            return f"refused: {error}".replace(str(path), "")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _use(model)
    return "another sound model"


def _write(path: Path, members: dict[str, bytes]) -> None:
    found = {name: hashlib.sha256(content).hexdigest() for name, content in members.items() if name != HEADER}
    header = json.dumps(json.loads(members[HEADER]) | {"checksums": found}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, header if name == HEADER else content)


def _use(model: Any) -> None:
    """Call what users call."""
    n = len(_X)
    for name in ("decision_function", "predict", "transform", "rejected", "get_feature_names_out"):
        if hasattr(model, name):
            found = getattr(model, name)() if name.startswith("get") else getattr(model, name)(_X)
            assert name.startswith("get") or len(found) == n, f"{name} gives {len(found)} rows"
    for name in ("rejector_", "classifier_", "estimator_"):
        if hasattr(model, name):
            assert len(getattr(model, name).predict(_X)) == n
    if hasattr(model, "to_c"):
        assert "decision" in model.to_c()


def _other_arrays(rng: np.random.Generator, content: bytes, several: bool) -> bytes:
    out = io.BytesIO()
    found = np.load(io.BytesIO(content), allow_pickle=False)
    if several:  # a sparse matrix
        parts = {name: found[name] for name in found.files}
        name = sorted(parts)[int(rng.integers(len(parts)))]
        np.savez(out, **{**parts, name: _other(rng, parts[name])})
    else:
        np.save(out, _other(rng, found), allow_pickle=False)
    return out.getvalue()


def _other(rng: np.random.Generator, A: np.ndarray) -> np.ndarray:
    """Return the array with other values, another length or type."""
    kind, A = int(rng.integers(12)), np.atleast_1d(A)
    if not A.size:
        return np.zeros((3,) * A.ndim, A.dtype)
    at = int(rng.integers(max(1, len(A))))
    if kind == 0:
        return A[:at]
    if kind == 1:
        return np.concatenate([A, A[-1:]])
    if kind == 2:
        return np.repeat(A, 2, axis=-1)
    if kind == 3 and A.dtype.kind in "fiub":
        return A.astype([np.float32, np.float64, np.int8, np.int64, np.bool_, "U8"][int(rng.integers(6))])
    if kind == 4:
        return rng.permutation(A)
    if kind == 5:
        return A.T[None]
    if A.dtype.kind not in "fiub":
        return A[::-1]
    values: tuple[float, ...] = (10**9, -(10**6), -1, 0, 1, len(A), 2**31, 1e300, np.nan, np.inf, -np.inf)
    B, value = A.copy(), values[int(rng.integers(len(values)))]
    if kind in (6, 7):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            B[...] = B[at] if kind == 6 else np.asarray(value).astype(A.dtype)
    elif A.dtype.kind == "b":
        B[at] = ~B[at]
    else:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            B.flat[int(rng.integers(B.size))] = np.asarray(value).astype(A.dtype) if kind < 10 else B.flat[0] + 1
    return B


def _other_state(rng: np.random.Generator, content: bytes) -> bytes:
    """Change one plain value in the tree of objects that skops wrote, or leave it out."""
    schema = json.loads(content)
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict | list):
                walk(value)
                if isinstance(node, dict) and key not in ("content", "__class__"):
                    places.append((node, key))
            elif key == "content":
                places.append((node, key))

    walk(schema["content"])
    node, key = places[int(rng.integers(len(places)))]
    if isinstance(node[key], dict | list):
        del node[key]
    else:
        others = ("0", "-1", "1000000000", "true", "null", "NaN", "0.5", '"x"', "-Infinity")
        node[key] = others[int(rng.integers(len(others)))]
    return json.dumps(schema).encode()
