"""Relations between two fits: data that mean the same must give the same answer.

`RELATIONS` changes the data in a way that must not matter, fits again, often in another storage, and compares. `EXCEPT`
lists the relations that an estimator does not promise, and why; the page docs/trust.md shows this table.
"""

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

import eigensieve
from fuzz.targets import CLASSIFIERS, ESTIMATORS, REGRESSORS, SELECTORS
from support.backends import BACKENDS, IN_MEMORY

Spec = dict[str, Any]

SECONDS = 30
PREFIX = "relation "


@dataclass(frozen=True)
class Case:
    """Data, fit parameters, and samples on which machines are compared."""

    X: np.ndarray
    y: np.ndarray | None
    probe: np.ndarray
    more: dict[str, np.ndarray] = field(default_factory=dict)
    storage: str = "dense"
    back: Callable[[np.ndarray], np.ndarray] = lambda answer: answer
    """Puts an answer, one value per feature, in the order of the first case."""


def _known(case: Case, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fit parameters if sample i of the new data is sample rows[i] of the old."""
    place = np.empty(len(case.X), dtype=np.intp)
    place[rows[::-1]] = np.arange(len(rows))[::-1]  # the first of several copies
    return {
        name: value if name == "side" else value[rows] if name in ("batches", "groups") else place[value]
        for name, value in case.more.items()
    }


def _samples_in_another_order(case: Case, rng: np.random.Generator) -> Case:
    rows = rng.permutation(len(case.X))
    return replace(case, X=case.X[rows], y=None if case.y is None else case.y[rows], more=_known(case, rows))


def _features_in_another_order(case: Case, rng: np.random.Generator) -> Case:
    order = rng.permutation(case.X.shape[1])
    more = {name: value[:, order] if name == "side" else value for name, value in case.more.items()}
    return replace(
        case, X=case.X[:, order], probe=case.probe[:, order], more=more, back=lambda a: a[..., np.argsort(order)]
    )


def _every_sample_twice(case: Case, rng: np.random.Generator) -> Case:
    rows = np.repeat(np.arange(len(case.X)), 2)
    return replace(case, X=case.X[rows], y=None if case.y is None else case.y[rows], more=_known(case, rows))


def _wider(case: Case, columns: Callable[[np.ndarray], np.ndarray], back: Callable[[np.ndarray], np.ndarray]) -> Case:
    more = {name: np.hstack([value, columns(value)]) if name == "side" else value for name, value in case.more.items()}
    X, probe = (np.hstack([A, columns(A)]) for A in (case.X, case.probe))
    return replace(case, X=X, probe=probe, more=more, back=back)


def _a_constant_feature(case: Case, rng: np.random.Generator) -> Case:
    return _wider(case, lambda A: np.full((len(A), 1), 3.0), lambda answer: answer[..., :-1])


def _a_copy_of_a_feature(case: Case, rng: np.random.Generator) -> Case:
    return _wider(case, lambda A: A[:, :1], lambda answer: answer)


def _moved(case: Case, change: Callable[[np.ndarray], np.ndarray], back: Callable[[np.ndarray], np.ndarray]) -> Case:
    more = {name: change(value) if name == "side" else value for name, value in case.more.items()}
    return replace(case, X=change(case.X), probe=change(case.probe), more=more, back=back)


def _other_units(case: Case, rng: np.random.Generator) -> Case:
    units = 10.0 ** rng.uniform(-3, 3, case.X.shape[1])
    return _moved(case, lambda A: A * units, lambda a: a / units if a.shape == case.probe.shape else a)


def _one_unit(case: Case, rng: np.random.Generator) -> Case:
    unit = 10.0 ** rng.uniform(-3, 3)
    return _moved(case, lambda A: A * unit, lambda a: a / unit if a.shape == case.probe.shape else a)


def _offsets(case: Case, rng: np.random.Generator) -> Case:
    offsets = rng.uniform(-1, 1, case.X.shape[1])
    return _moved(case, lambda A: A + offsets, lambda a: a - offsets if a.shape == case.probe.shape else a)


def _other_names_of_classes(case: Case, rng: np.random.Generator) -> Case:
    if case.y is None or case.y.dtype.kind == "f":
        return case
    return replace(case, y=np.array([f"class {label}" for label in case.y]))


def _single_precision(case: Case, rng: np.random.Generator) -> Case:
    return replace(case, probe=case.probe.astype(np.float32))


def _a_group_per_sample(case: Case, rng: np.random.Generator) -> Case:
    return replace(case, more={**case.more, "groups": rng.permutation(len(case.X))})


def _whole_weights(case: Case, rng: np.random.Generator) -> Case:
    """Samples with whole weights; `_compare` fits the repeated samples instead of the first case."""
    return replace(case, more={**case.more, "sample_weight": rng.integers(1, 4, len(case.X))})


def _repeated(case: Case) -> Case:
    """Every sample as often as its weight says."""
    known = {name: value for name, value in case.more.items() if name != "sample_weight"}
    rows = np.repeat(np.arange(len(case.X)), case.more["sample_weight"])
    case = replace(case, more=known)
    return replace(case, X=case.X[rows], y=None if case.y is None else case.y[rows], more=_known(case, rows))


def _nothing(case: Case, rng: np.random.Generator) -> Case:
    return case


RELATIONS: dict[str, Callable[[Case, np.random.Generator], Case]] = {
    "samples in another order": _samples_in_another_order,
    "features in another order": _features_in_another_order,
    "single precision": _single_precision,
    "another storage": _nothing,
    "every sample twice": _every_sample_twice,
    "a constant feature": _a_constant_feature,
    "a copy of a feature": _a_copy_of_a_feature,
    "one unit for all": _one_unit,
    "other units": _other_units,
    "offsets": _offsets,
    "other names of classes": _other_names_of_classes,
    "every sample a group of its own": _a_group_per_sample,
    "whole weights or repeated samples": _whole_weights,
    "the same again": _nothing,
    "several threads": _nothing,
    "several fits at once": _nothing,
}

SEARCHES = ("QAlphaSelector", "KernelQAlphaSelector", "FeatureMap")
"""Estimators whose weights are as exact as `tol`."""
_MACHINES = (*CLASSIFIERS, *REGRESSORS)
EXCEPT: dict[tuple[str, str], str] = {
    **{(name, "samples in another order"): "samples are drawn by their position" for name in _MACHINES},
    **{(name, "features in another order"): "candidates are drawn by their position" for name in _MACHINES},
    **{(name, "single precision"): "the search compares close candidates" for name in _MACHINES},
    **{(name, "another storage"): "they take arrays in memory" for name in _MACHINES},
    **{(name, "every sample twice"): "each sample costs C, so C doubles" for name in _MACHINES},
    **{(name, "a constant feature"): 'gamma="scale" counts the features' for name in _MACHINES},
    **{(name, "a copy of a feature"): "they give no weights to features" for name in _MACHINES},
    **{(name, "one unit for all"): "the search stops at a tolerance" for name in _MACHINES},
    **{(name, "other units"): "distances depend on units" for name in _MACHINES},
    **{(name, "offsets"): "the search stops at a tolerance" for name in _MACHINES},
    ("QAlphaSelector", "every sample twice"): 'n_clusters="auto" counts the samples',
    ("TraceRatioSelector", "other units"): "scale=False takes the units as they are; with scale=True it holds",
    ("UnwantedVariationRemover", "other names of classes"): "it takes no classes",
}


ONLY = {
    "every sample a group of its own": ("SieveSelector",),
    "whole weights or repeated samples": ("SieveSelector",),
}
"""Relations about what only some estimators take."""

WITH_SETTING: dict[tuple[str, str], tuple[str, str]] = {
    ("QAlphaSelector", "offsets"): ('spectrum="laplacian"', "features are not centred"),
    ("TraceRatioSelector", "every sample twice"): ('score="laplacian"', "copies are neighbours"),
}
"""Relations that hold but for one setting, and why."""
IN_MEMORY_ONLY: dict[tuple[str, str], str] = {
    (name, "every sample twice"): "samples that coincide are found in memory only"
    for name in ("SieveSelector", "WeightedFeatures")
}
KNOWN: dict[str, tuple[str, ...]] = {
    "SieveSelector": ("nothing", "labels", "numbers", "batches", "side", "pairs", "links", "groups", "gaps"),
    "QAlphaSelector": ("nothing", "labels", "side", "pairs", "links"),
    "FeatureMap": ("nothing", "labels", "side"),
    "KernelQAlphaSelector": ("nothing", "labels", "side", "pairs", "links"),
    "TraceRatioSelector": ("labels", "labels", "gaps"),
    "UnwantedVariationRemover": ("batches", "side", "links"),
    "WeightedFeatures": ("nothing", "labels", "batches"),
}
"""What the estimators may be told; the others need labels."""
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "SieveSelector": ({}, {"n_features_to_select": "auto"}),
    "QAlphaSelector": ({}, {"spectrum": "laplacian"}, {"n_clusters": 2}, {"n_features_to_select": "auto"}),
    "TraceRatioSelector": ({}, {"score": "laplacian"}, {"level": "feature"}),
    "KernelQAlphaSelector": ({}, {"kernel": "rbf"}),
    "WeightedFeatures": ({"power": 1.0}, {"power": 1.0, "floor": 0.1}),
}


def promised(name: str) -> list[str]:
    """Return the relations that an estimator promises."""
    return [
        relation for relation in RELATIONS if (name, relation) not in EXCEPT and name in ONLY.get(relation, (name,))
    ]


def known_to(name: str, relation: str) -> list[str]:
    """Return what an estimator is told when a relation is tried: gaps are those of arrays in memory."""
    without = {"another storage": "gaps", "every sample a group of its own": "groups"}.get(relation)
    return [known for known in KNOWN.get(name, ("labels",)) if known != without]


def storages_of(name: str, relation: str, known: str) -> list[str]:
    """Return the storages of the second fit; the first one is of an array in memory."""
    single = relation == "single precision"
    if known == "gaps" or name in _MACHINES:
        return ["dense-float32" if single else "dense"]
    apart, names = relation == "another storage", IN_MEMORY if (name, relation) in IN_MEMORY_ONLY else BACKENDS
    return [name for name in names if ("float32" in name) == single and not (apart and name == "dense")]


def settings_of(name: str, relation: str) -> list[dict[str, Any]]:
    """Return the settings with which a relation is tried."""
    without = WITH_SETTING.get((name, relation), ("",))[0]
    known = SETTINGS.get(name, ({},))
    return [some for some in known if not any(f'{key}="{value}"' == without for key, value in some.items())]


def draw(rng: np.random.Generator, target: str) -> Spec:
    name = target.removeprefix(PREFIX)
    relations = promised(name)
    return drawn(rng, name, relations[int(rng.integers(len(relations)))])


def drawn(rng: np.random.Generator, name: str, relation: str) -> Spec:
    """Return a case of one relation; in half of them the second fit is of another storage."""

    def one(choices: Sequence[Any]) -> Any:
        return choices[int(rng.integers(len(choices)))]

    known = one(known_to(name, relation))
    storages = storages_of(name, relation, known)
    return {
        "estimator": name,
        "relation": relation,
        "known": known,
        "storage": one(storages) if rng.random() < 0.5 else storages[0],
        "settings": one(settings_of(name, relation)),
        "n_samples": int(rng.integers(36, 61)),
        "n_features": int(rng.integers(9, 25)),
        "seed": int(rng.integers(2**31)),
    }


def simpler(spec: Spec) -> Iterator[Spec]:
    first = KNOWN.get(spec["estimator"], ("labels",))[0]
    if spec["known"] != first:
        yield {**spec, "known": first}
    plain = storages_of(spec["estimator"], spec["relation"], spec["known"])[0]
    if spec["storage"] != plain:
        yield {**spec, "storage": plain}


def case_of(spec: Spec) -> Case:
    """Return three groups of samples that differ in a third of the features, and fit parameters."""
    rng = np.random.default_rng(spec["seed"])
    n, d = spec["n_samples"], spec["n_features"]
    groups = rng.permutation(np.arange(n) % 3)
    strength = np.where(np.arange(d) < d // 3, rng.uniform(2, 4, d), 0.0)
    X = rng.standard_normal((n, d)) + strength * rng.standard_normal((3, d))[groups]
    name, known = spec["estimator"], spec["known"]
    y = None
    if known == "labels" or (known == "gaps" and name == "TraceRatioSelector"):
        y = X[:, 0] if name in REGRESSORS else (groups > 0).astype(int) if name in CLASSIFIERS else groups
    more = {}
    if known == "numbers":
        y = groups + rng.standard_normal(n)
    elif known == "batches":
        more["batches"] = rng.integers(0, 2, n)
    elif known == "groups":
        more["groups"] = rng.integers(0, n // 3, n)
    elif known == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    elif known == "side":
        more["side"] = rng.standard_normal((12, d)) + rng.standard_normal((12, 1)) * rng.standard_normal(d)
    elif known in ("pairs", "links"):
        i, j = np.flatnonzero(groups == 0), np.flatnonzero(groups == 1)
        links = known == "links"
        more["must_link" if links else "cannot_link"] = np.column_stack([i[:3], i[3:6] if links else j[:3]])
    return Case(X, y, X[: n // 2] + 0.1 * rng.standard_normal((n // 2, d)), more)


def _model(spec: Spec) -> Any:
    name = spec["estimator"]
    model = getattr(eigensieve, name)(**spec["settings"])
    if name in SELECTORS and "n_features_to_select" not in spec["settings"]:
        model.set_params(n_features_to_select=spec["n_features"] // 3)
    if name in SEARCHES:
        model.set_params(solver_options={"tol": 1e-8})
    if name.startswith("ElementSelected"):
        model.set_params(estimator=SVR() if name in REGRESSORS else SVC(), n_elements=20)
    if "random_state" in model.get_params() and name != "SieveSelector":
        model.set_params(random_state=0)
    return model


def fit(spec: Spec, case: Case) -> Any:
    X = BACKENDS[case.storage](case.X) if case.storage != "dense" else case.X
    model = _model(spec)
    return model.fit(X, **case.more) if case.y is None else model.fit(X, case.y, **case.more)


def answer(model: Any, case: Case) -> np.ndarray:
    """Return the weights of features, cleaned samples, or what a machine makes of samples."""
    for name in ("relevance_", "weights_", "scores_", "scale_"):
        if hasattr(model, name) and not hasattr(model, "directions_"):  # the scale of a remover is that of the data
            return case.back(np.asarray(getattr(model, name), dtype=float).T)
    if hasattr(model, "transform"):
        return case.back(np.asarray(model.transform(case.probe), dtype=float))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(case.probe))
    found = model.predict(case.probe)
    return np.asarray([int(word.removeprefix("class ")) for word in found] if found.dtype.kind == "U" else found)


def _again(spec: Spec, case: Case) -> list[Any]:
    """Return further fits, on several threads where the relation is about them."""
    if spec["relation"] == "several threads":
        with threadpool_limits(2, user_api="blas"):
            return [fit(spec, case)]
    if spec["relation"] != "several fits at once":
        return [fit(spec, case)]
    found: list[Any] = [None] * 3
    threads = [threading.Thread(target=lambda i=i: found.__setitem__(i, fit(spec, case))) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def check(spec: Spec) -> str:
    with warnings.catch_warnings():  # for all threads at once: they share the filters
        warnings.simplefilter("ignore", UserWarning)
        _compare(spec)
    return "the same answer"


def _compare(spec: Spec) -> None:
    case, relation = case_of(spec), spec["relation"]
    other = RELATIONS[relation](case, np.random.default_rng(spec["seed"] + 1))
    other = replace(other, storage=spec.get("storage", "dense"))
    if relation == "whole weights or repeated samples":
        case = _repeated(replace(other, storage="dense"))
    with threadpool_limits(1, user_api="blas"):
        first = fit(spec, case)
    expected = answer(first, case)
    scale = np.abs(expected[np.isfinite(expected)]).max()
    near = {"atol": 2e-3 if relation == "single precision" else 1e-5, "rtol": 0.0}
    for model in _again(spec, other):
        found = answer(model, other)
        if relation == "a copy of a feature":
            np.testing.assert_allclose(found[..., 0] / scale, found[..., -1] / scale, **near, err_msg="unlike copies")
            continue
        np.testing.assert_allclose(found / scale, expected / scale, **near, err_msg="another answer")
        if spec["estimator"] in SELECTORS:
            chosen = other.back(model.get_support())
            np.testing.assert_array_equal(chosen, first.get_support(), "other features")
            assert model.get_support().sum() == first.get_support().sum(), "the constant feature was selected"


def table() -> str:
    """Return the table of docs/trust.md: a relation per row, and the estimators for which it does not hold."""
    lines = ["| the same answer for | does not hold for |", "|---|---|"]
    for relation in RELATIONS:
        why: dict[str, list[str]] = {}
        for name in ESTIMATORS:
            if (name, relation) in EXCEPT:
                why.setdefault(EXCEPT[name, relation], []).append(f"`{name}`")
            elif (name, relation) in WITH_SETTING:
                setting, reason = WITH_SETTING[name, relation]
                why.setdefault(reason, []).append(f"`{name}({setting})`")
            if (name, relation) in IN_MEMORY_ONLY:
                why.setdefault(IN_MEMORY_ONLY[name, relation], []).append(f"`{name}` on disk or Dask")
        said = "; ".join(f"{_several(names)}: {reason}" for reason, names in why.items())
        about = f" ({', '.join(f'`{name}`' for name in ONLY[relation])})" if relation in ONLY else ""
        lines.append(f"| {relation}{about} | {said} |")
    return "\n".join(lines) + "\n"


def _several(names: list[str]) -> str:
    machines = [f"`{name}`" for name in ESTIMATORS if name in _MACHINES]
    return "all four machines" if names == machines else ", ".join(names)
