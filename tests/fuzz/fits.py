"""Random fits of every estimator: any storage, any scale, with and without labels, side data and pairs.

A fit must give exactly the number asked for, or be refused by an error of our own or of scikit-learn's validation.
"""

import inspect
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC, SVR

import eigensieve
from fuzz.targets import CLASSIFIERS, REGRESSORS, SELECTORS, TRANSFORMERS

Spec = dict[str, Any]

STORAGES = ("dense", "fortran", "float32", "csr", "csc")
VALUES = ("normal", "clustered", "counts", "binary", "copies", "few distinct", "sparse")
SCALES = ("one", "one", "tiny", "small", "large", "huge", "mixed", "wide", "some tiny", "some huge")
OFFSETS = (0.0, 0.0, 0.0, 1.0, 1e4, 1e8)

GAPS = ("SieveSelector", "TraceRatioSelector")
"""Estimators that take missing values."""

_EXPONENTS = {
    "one": (0, 0),
    "tiny": (-320, -310),
    "small": (-200, -150),
    "large": (150, 200),
    "huge": (295, 300),
    "mixed": (-320, 300),
    "wide": (-12, 12),
}

_SETTINGS: dict[str, dict[str, tuple[Any, ...]]] = {
    "SieveSelector": {
        "use_scale": ("auto", "auto", True, False),
        "use_profiles": ("auto", "auto", False),
    },
    "QAlphaSelector": {
        "n_clusters": ("auto", 1, 2, 3),
        "spectrum": ("standard", "standard", "laplacian"),
        "criterion": ("energy", "energy", "gap", "blocks"),
        "normalize": ("auto", "auto", "center", "unit", "none"),
        "supervision": ("auto", "auto", "classes", "ignore"),
        "solver": ("auto", "auto", "basic", "power", "ritz"),
        "init": ("eigen", "eigen", "random"),
        "n_init": (1, 1, 3),
    },
    "KernelQAlphaSelector": {
        "n_clusters": (1, 2, 3),
        "kernel": ("poly", "rbf", "linear", "sections"),
        "normalize": ("auto", "center", "unit", "none"),
        "n_components": (None, 4),
    },
    "FeatureMap": {
        "n_rounds": (1, 2, 3),
        "n_clusters": (1, 2),
        "criterion": ("energy", "energy", "gap"),
        "normalize": ("auto", "center", "unit", "none"),
        "supervision": ("auto", "ignore"),
    },
    "TraceRatioSelector": {
        "score": ("fisher", "laplacian", "semi-supervised"),
        "level": ("subset", "feature"),
        "bandwidth": ("auto", None),
        "n_neighbors": (1, 3, 5),
    },
    "ElementSelectedSVC": {
        "n_elements": (5, 20),
        "shape": ("element", "feature", "basis", "joint", "prototypes"),
        "search": ("guided", "probabilistic", "exact"),
        "match": ("decision", "kernel"),
    },
    "ElementSelectedSVR": {
        "n_elements": (5, 20),
        "shape": ("element", "feature", "basis", "joint", "prototypes"),
        "search": ("guided", "probabilistic", "exact"),
        "match": ("decision", "kernel", "labels"),
    },
    "ReducedSetSVC": {"n_vectors": (1, 3), "method": ("construction", "selection"), "refine": (True, False)},
    "RejectionCascade": {},
    "UnwantedVariationRemover": {"n_directions": ("auto", 0, 1, 3)},
    "WeightedFeatures": {"power": (0.5, 1.0), "floor": (0.0, 0.1)},
}


def draw(rng: np.random.Generator, estimator: str) -> Spec:
    """Return a random fit, as plain values that JSON can hold."""

    def one(choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    n_features = int(rng.integers(1, 40))
    spec = {
        "estimator": estimator,
        "settings": {name: one(choices) for name, choices in _SETTINGS[estimator].items()},
        "n_samples": int(rng.integers(2, 40)),
        "n_features": n_features,
        "count": one(["auto", 1, max(1, n_features // 2), n_features]),
        "values": one(VALUES),
        "scale": one(SCALES),
        "offset": one(OFFSETS),
        "storage": one(STORAGES),
        "labels": one([None, "all", "all", "some", "strings"]),
        "side": bool(rng.random() < 0.2),
        "pairs": bool(rng.random() < 0.2),
        "constants": int(rng.integers(0, 3)) if rng.random() < 0.3 else 0,
        "seed": int(rng.integers(2**31)),
        "batches": bool(rng.random() < 0.2),
        "groups": bool(rng.random() < 0.2),
        "sample_weight": one([None, None, None, "whole", "any"]),
        "gaps": float(one([0.0, 0.0, 0.0, 0.1, 0.6])),
    }
    if estimator not in GAPS or spec["storage"] in ("csr", "csc"):
        spec["gaps"] = 0.0
    if estimator in CLASSIFIERS:
        spec["labels"] = one(["all", "strings"])
    if estimator in REGRESSORS:
        spec["labels"] = "all"
        if spec["settings"]["match"] == "labels":  # it is refused with any other shape and search
            spec["settings"] |= {"shape": "element", "search": "guided"}
    if estimator == "UnwantedVariationRemover":  # without anything unwanted there is nothing to do
        spec["labels"] = None
        spec[one(["side", "pairs", "batches"])] = True
    if estimator == "RejectionCascade":  # its parts are scikit-learn's, which say themselves what they cannot take
        spec["scale"] = one(["one", "wide"])
    return spec


def simpler(spec: Spec) -> Iterator[Spec]:
    """Yield specs that are a little simpler."""
    plain = {"values": "normal", "scale": "one", "offset": 0.0, "storage": "dense", "labels": None, "side": False}
    more = {
        "pairs": False,
        "batches": False,
        "groups": False,
        "sample_weight": None,
        "gaps": 0.0,
        "constants": 0,
        "count": 1,
    }
    for name, value in {**plain, **more}.items():
        if spec.get(name, value) != value and not (
            name == "labels" and spec["estimator"] in (*CLASSIFIERS, *REGRESSORS)
        ):
            yield {**spec, name: value}
    for name, choices in _SETTINGS[spec["estimator"]].items():
        if spec["settings"][name] != choices[0]:
            yield {**spec, "settings": {**spec["settings"], name: choices[0]}}
    for name in ("n_samples", "n_features"):
        if spec[name] > 3:
            smaller = {**spec, name: spec[name] // 2 + 1}
            if spec["count"] == "auto" or spec["count"] <= smaller["n_features"]:
                yield smaller


def data_of(spec: Spec) -> np.ndarray:
    """Return the values as a dense float64 array."""
    rng = np.random.default_rng(spec["seed"])
    shape = spec["n_samples"], spec["n_features"]
    X = rng.standard_normal(shape)
    kind = spec["values"]
    if kind == "clustered":
        X[: shape[0] // 2, : 1 + shape[1] // 3] += 4.0
    elif kind == "counts":
        X = rng.poisson(2.0, shape).astype(float)
    elif kind == "binary":
        X = (X > 0).astype(float)
    elif kind == "copies":
        X = X[:, rng.integers(0, shape[1], shape[1])]
    elif kind == "few distinct":
        X = X[rng.integers(0, max(1, shape[0] // 4), shape[0])]
    elif kind == "sparse":
        X[rng.random(shape) < 0.8] = 0.0
    X = X + spec["offset"]
    some = rng.random(shape[1]) < 0.3
    if spec["scale"] == "some tiny":
        exponents = np.where(some, rng.uniform(-320, -310, shape[1]), 0.0)
    elif spec["scale"] == "some huge":
        exponents = np.where(some, rng.uniform(290, 299, shape[1]), 0.0)
    else:
        exponents = rng.uniform(*_EXPONENTS[spec["scale"]], shape[1])
    with np.errstate(all="ignore"):
        X = np.clip(X * 10.0**exponents, -1e307, 1e307)
    X[:, : spec["constants"]] = 1.0
    return X


def given_data(spec: Spec) -> Any:
    """Return what `fit` gets: the values in their storage, with gaps where the estimator takes them."""
    X = data_of(spec)
    if spec.get("gaps"):
        X[np.random.default_rng(spec["seed"] + 4).random(X.shape) < spec["gaps"]] = np.nan
    return stored(X, spec["storage"])


def stored(X: np.ndarray, storage: str) -> Any:
    """Return the values in another storage."""
    if storage == "float32":
        with np.errstate(all="ignore"):
            return np.clip(X, -1e38, 1e38).astype(np.float32)
    kinds = {"fortran": np.asfortranarray, "csr": sp.csr_matrix, "csc": sp.csc_array}
    return kinds[storage](X) if storage in kinds else X


def labels_of(spec: Spec) -> np.ndarray | None:
    rng = np.random.default_rng(spec["seed"] + 1)
    y = rng.integers(0, 2 if spec["estimator"] in CLASSIFIERS else 3, spec["n_samples"])
    if spec["estimator"] in REGRESSORS:
        return rng.standard_normal(spec["n_samples"])
    if spec["labels"] is None:
        return None
    if spec["labels"] == "some":
        y[rng.random(len(y)) < 0.5] = -1
    return np.array(["no", "yes", "perhaps"])[y] if spec["labels"] == "strings" else y


def fit(spec: Spec) -> Any:
    """Return the fitted estimator."""
    cls = getattr(eigensieve, spec["estimator"])
    X, settings = given_data(spec), dict(spec["settings"])
    if options := {name: settings.pop(name) for name in ("init", "n_init") if name in settings}:
        settings["solver_options"] = options
    if spec["estimator"] in SELECTORS:
        settings["n_features_to_select"] = spec["count"]
    if "random_state" in cls().get_params():
        settings["random_state"] = 0
    if spec["estimator"] in ("ElementSelectedSVC", "ReducedSetSVC"):
        settings["estimator"] = SVC()
    if spec["estimator"] in REGRESSORS:
        settings["estimator"] = SVR()
    if spec["estimator"] == "RejectionCascade":
        # scikit-learn's solver has no end on values of extreme scale
        settings |= {"rejector": SVC(kernel="linear", max_iter=1000), "classifier": SVC(max_iter=1000)}
    model, more = cls(**settings), {}
    rng = np.random.default_rng(spec["seed"] + 2)
    takes = inspect.signature(cls.fit).parameters
    if spec["side"] and "side" in takes:
        with np.errstate(all="ignore"):
            side = data_of({**spec, "n_samples": 5, "seed": spec["seed"] + 3})
        more["side"] = stored(side, spec["storage"])
    if spec["pairs"] and "cannot_link" in takes and spec["n_samples"] > 3:
        more["cannot_link"] = rng.permutation(spec["n_samples"])[:2][None]
    elif spec["pairs"] and "must_link" in takes and spec["n_samples"] > 3:
        more["must_link"] = rng.permutation(spec["n_samples"])[:4].reshape(2, 2)
    if spec.get("batches") and "batches" in takes:
        more["batches"] = rng.integers(0, 2, spec["n_samples"])
    if spec.get("groups") and "groups" in takes:
        more["groups"] = rng.integers(0, 1 + spec["n_samples"] // 3, spec["n_samples"])
    if spec.get("sample_weight") and "sample_weight" in takes:
        whole = rng.integers(0, 4, spec["n_samples"])
        more["sample_weight"] = whole if spec["sample_weight"] == "whole" else rng.exponential(size=spec["n_samples"])
    y = labels_of(spec)
    return model.fit(X, **more) if y is None else model.fit(X, y, **more)


def check(spec: Spec) -> str:
    """Fit, and raise AssertionError unless the promises are kept; return "fitted" or why it was refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # ConvergenceWarning is one
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("error", FutureWarning)
        try:
            model = fit(spec)
        except (ValueError, TypeError) as error:
            return _own(error)
        if spec["estimator"] in SELECTORS:
            _check_selector(model, spec)
            if spec["storage"] in ("fortran", "csr", "csc") and spec["values"] in ("normal", "clustered"):
                return _same(model, fit({**spec, "storage": "dense"}))
        elif spec["estimator"] in TRANSFORMERS:
            _check_transformer(model, spec)
        else:
            X = stored(data_of(spec), spec["storage"])
            assert len(model.predict(X)) == spec["n_samples"]
    return "fitted"


_SKLEARN = ("utils/validation", "utils/multiclass", "utils/_param_validation", "svm/_base", "model_selection/_split")


def _own(error: Exception) -> str:
    """Return the message of an error that we, or scikit-learn's validation, raised on purpose."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    ours = ("/eigensieve/", *(f"/sklearn/{file}" for file in _SKLEARN))
    assert any(part in last for part in ours), f"{type(error).__name__} from {last}: {error}"
    return f"refused: {error}"


def _rest_is_flat(model: Any, spec: Spec) -> bool:
    """Whether the features that were not selected have no weight, as features that do not vary have none."""
    weights = getattr(model, "weights_", None)
    return weights is not None and not np.any(weights[~model.get_support()])


def _check_selector(model: Any, spec: Spec) -> None:
    support = model.get_support()
    n_features = spec["n_features"]
    assert support.shape == (n_features,) and support.dtype == bool
    if spec["count"] != "auto" and spec["estimator"] != "TraceRatioSelector":
        # Of a number larger than what varies, all features that vary are selected, and a warning says so.
        fewer = support.sum() < spec["count"] and _rest_is_flat(model, spec)
        assert support.sum() == spec["count"] or fewer, f"{support.sum()} features instead of {spec['count']}"
    assert sorted(model.ranking_) == list(range(1, n_features + 1)) or spec["estimator"] == "FeatureMap"
    weights = getattr(model, "weights_", None)
    if weights is not None:
        assert np.isfinite(weights).all(), "weights are not finite"
        assert np.abs(weights).max() <= 1 + 1e-6 or spec["estimator"] == "SieveSelector", "weights above 1"
    for name in ("embedding_", "eigenvalues_", "objective_"):
        if getattr(model, name, None) is not None:
            assert np.isfinite(getattr(model, name)).all(), f"{name} is not finite"


def _check_transformer(model: Any, spec: Spec) -> None:
    X = data_of(spec)
    found = model.transform(stored(X, spec["storage"]))
    values = found.data if sp.issparse(found) else found
    assert found.shape == X.shape and np.isfinite(values).all(), "transformed data is not finite"
    if not hasattr(model, "directions_"):
        return
    V = model.directions_
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-6, err_msg="directions are not orthonormal")
    if spec["storage"] in ("fortran", "csr", "csc") and spec["values"] in ("normal", "clustered"):
        dense = fit({**spec, "storage": "dense"}).transform(X)
        unit = np.abs(X - X.mean(axis=0)).max(axis=0) + np.finfo(float).tiny
        np.testing.assert_allclose((found - dense) / unit, 0.0, atol=_APART, err_msg="depends on the storage")


def _same(model: Any, dense: Any) -> str:
    """Raise when another storage of the same values gave another answer, unless both are equally good."""
    here, there = getattr(model, "objective_", None), getattr(dense, "objective_", None)
    equally = here is not None and there is not None and np.allclose(here, there, rtol=_EQUAL, atol=0.0)
    if equally and not np.allclose(model.weights_, dense.weights_, atol=_APART, rtol=_APART):
        return "one of several best answers"
    for name in ("weights_", "scores_"):
        here, there = getattr(model, name, None), getattr(dense, name, None)
        if here is not None and there is not None:
            np.testing.assert_allclose(here, there, atol=_APART, rtol=_APART, err_msg=f"{name} depends on the storage")
    return "fitted"


_EQUAL = 1e-9  # of two criteria
_APART = 0.02  # far above rounding; a sum that cancels is wrong altogether
