"""Constraints on a selection: read from an estimator's parameters, checked against the features of X; their cost."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from eigensieve._errors import wrong_parameter
from eigensieve._types import Array, BoolArray, FloatArray, IntArray, JsonDict, MatrixLike, OneEach
from eigensieve._words import counted
from eigensieve.data import DataMatrix
from eigensieve.estimators.base import warn_user
from eigensieve.estimators.knowledge import read_donors
from eigensieve.qalpha import as_values, missing_labels
from eigensieve.sieve import Constraints, compared_samples, shown_by

_NAMES = ("keep", "exclude", "feature_groups", "feature_costs", "max_cost")


def read_constraints(model: BaseEstimator, usable: BoolArray) -> Constraints:
    """Return the constraints of a selector that has seen X; `usable` features vary. A constant feature in `keep` is
    kept, too."""
    keep, exclude = feature_indices(model, "keep"), feature_indices(model, "exclude")
    both = np.intersect1d(keep, exclude)
    if len(both):
        fix = "take it out of one"
        raise model._wrong("keep", "not share features with 'exclude'", f"{_called(model, both[0])} in both", fix)
    excluded = None
    if len(exclude):
        excluded = np.zeros(len(usable), dtype=bool)
        excluded[exclude] = True
    groups, costs = _groups(model, len(usable)), _costs(model, len(usable))
    if groups is not None and len(keep) and np.bincount(groups[keep]).max() > model.max_per_group:
        crowded = keep[groups[keep] == np.bincount(groups[keep]).argmax()]
        must = f"not hold more than max_per_group={model.max_per_group} features of one group"
        given = f"{len(crowded)} of the group of {_called(model, crowded[0])}"
        raise model._wrong("keep", must, given, "raise max_per_group")
    limit = np.inf if model.max_cost is None else float(model.max_cost)
    constraints = Constraints(keep, excluded, groups, model.max_per_group, costs, limit)
    free = constraints.free(usable)
    if not free.any() and not len(keep):
        raise model._wrong("exclude", "leave a feature that varies", "all of them", "take some out")
    if costs is not None and (least := costs[keep].sum() if len(keep) else costs[free].min()) > limit:
        what = "the features in 'keep', which cost" if len(keep) else "the cheapest feature, which costs"
        raise model._wrong("max_cost", f"cover {what} {least:g}", f"{limit:g}")
    return constraints


def check_room(model: BaseEstimator, count: int | None, constraints: Constraints, usable: BoolArray) -> None:
    """Refuse to keep more features than are selected, warn if too few are left; `count` is None for a word."""
    kept = len(constraints.keep)
    if count is not None and count < kept:
        given = f"{kept} features for n_features_to_select={model.n_features_to_select}"
        raise model._wrong("keep", "not name more features than are selected", given, "raise the number")
    may = constraints.free(usable)
    may[constraints.keep] = True
    groups = np.arange(len(may)) if constraints.groups is None else constraints.groups
    room = int(np.minimum(np.bincount(groups[may]), constraints.max_per_group).sum())
    if isinstance(model.n_features_to_select, Integral) and count is not None and room < count:
        warn_user(
            f"{type(model).__name__}(n_features_to_select={model.n_features_to_select}) asks for {count} features, and "
            f"the constraints leave {room}. All of these are selected."
        )


def feature_indices(model: BaseEstimator, parameter: str) -> IntArray:
    """Return the columns that a parameter names, by names, indices or a mask, in the order given."""
    given = getattr(model, parameter)
    if given is None:
        return np.empty(0, dtype=np.intp)
    names = getattr(model, "feature_names_in_", None)
    return as_indices(given, model.n_features_in_, names, parameter, type(model).__name__)


def as_indices(given: OneEach, n_features: int, names: Array | None, parameter: str, owner: str) -> IntArray:
    """Return columns by names, indices (negative ones count from the end) or a mask; refuse those that do not exist.
    Messages speak of the `parameter` of the `owner`."""
    values = np.asarray(by_name(given, names))

    def wrong(must: str, got: str, fix: str = "") -> ValueError:
        return wrong_parameter(parameter, owner, must, got, fix)

    if values.ndim != 1:
        raise wrong("be a list of features", f"shape {values.shape}")
    if values.dtype == bool:
        if len(values) != n_features:
            raise wrong(f"have one entry per feature ({n_features}) if it is a mask", f"{len(values)} entries")
        return np.flatnonzero(values)
    if not len(values):
        return np.empty(0, dtype=np.intp)
    if values.dtype.kind in "iu":
        beyond = values[(values < -n_features) | (values >= n_features)]
        if len(beyond):
            raise wrong(f"hold column numbers below {n_features}", str(beyond[0]))
        return _without_repeats(values % n_features)
    if names is None:
        fix = "pass X as a DataFrame to name features"
        raise wrong("hold column numbers, because X has no column names", repr(str(values[0])), fix)
    places = {str(name): place for place, name in enumerate(names)}
    missing = [str(value) for value in values if str(value) not in places]
    if missing:
        raise wrong("name columns of X", repr(missing[0]))
    return _without_repeats(np.array([places[str(value)] for value in values], dtype=np.intp))


def by_name(given: Any, names: Any) -> Any:
    """Return a Series whose index holds the names of the features in the order of these; anything else as it is."""
    index = getattr(given, "index", None)
    if names is None or index is None or callable(index) or not set(names) <= set(index):
        return given
    return given.loc[list(names)]


@dataclass(frozen=True)
class ConstraintCost:
    """The cost of the constraints of a selection."""

    words: list[str]  # the constraints
    shown: float  # how well the selection shows the structure (R2)
    free: float  # how well as many features without constraints show it
    instead: IntArray  # features that would have been selected without constraints and are not


def constraint_cost(model: BaseEstimator, X: MatrixLike, data: DataMatrix, known: JsonDict) -> ConstraintCost | None:
    """Return the cost of a fitted selector's constraints, given the arguments of ``fit`` (`data` is X with centred
    columns of unit norm). None if it has none, has selected nothing, or followed labels that are not given."""
    if all(getattr(model, name, None) is None for name in _NAMES) or not model.support_.any():
        return None
    if model.supervised_ and known.get("y") is None:
        return None
    free = clone(model).set_params(**dict.fromkeys(_NAMES), max_per_group=1, verbose=0)
    free.set_params(n_features_to_select=int(model.support_.sum()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit with constraints has warned already
        panels = (model.selection_order_, free.fit(X, **known).selection_order_)
    donors = None if known.get("groups") is None else read_donors(model, data, known["groups"])
    samples, V = compared_samples(data), model.embedding_
    if samples.rows is not None:
        V, donors = V[samples.rows], None if donors is None else donors[samples.rows]
    here, there = (shown_by(samples.data.take(panel), V, donors) for panel in panels)
    return ConstraintCost(_in_words(model), here, there, np.setdiff1d(panels[1], panels[0]))


def _in_words(model: BaseEstimator) -> list[str]:
    words = [
        f"{counted(len(feature_indices(model, name)), 'feature')} {verb}"
        for name, verb in (("keep", "kept"), ("exclude", "excluded"))
        if getattr(model, name) is not None
    ]
    if model.feature_groups is not None:
        words.append(f"at most {model.max_per_group} per group")
    if model.feature_costs is not None:
        spent = float(np.asarray(_costs(model, len(model.support_)))[model.support_].sum())
        limit = "" if model.max_cost is None else f" of {model.max_cost:g}"
        words.append(f"a cost of {spent:g}{limit}")
    return words


def _without_repeats(indices: IntArray) -> IntArray:
    return np.asarray(list(dict.fromkeys(indices.tolist())), dtype=np.intp)


def _groups(model: BaseEstimator, n_features: int) -> IntArray | None:
    if model.feature_groups is None:
        if model.max_per_group != 1:
            must, fix = "be 1 without feature_groups", "give one label per feature"
            raise model._wrong("max_per_group", must, model.max_per_group, fix)
        return None
    groups = np.asarray(as_values(by_name(model.feature_groups, getattr(model, "feature_names_in_", None))))
    if groups.shape != (n_features,):
        raise model._wrong("feature_groups", f"hold one label per feature ({n_features})", f"shape {groups.shape}")
    codes, missing = np.unique(groups.astype(str), return_inverse=True)[1].reshape(-1), missing_labels(groups)
    codes[missing] = n_features + np.arange(np.count_nonzero(missing))
    return codes


def _costs(model: BaseEstimator, n_features: int) -> FloatArray | None:
    if model.feature_costs is None:
        if model.max_cost is not None:
            must = "be None without feature_costs"
            raise model._wrong("max_cost", must, f"{model.max_cost:g}", "give one cost per feature")
        return None
    given = by_name(model.feature_costs, getattr(model, "feature_names_in_", None))
    try:
        costs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise model._wrong("feature_costs", "hold numbers", f"other values ({error})") from None
    if costs.shape != (n_features,):
        raise model._wrong("feature_costs", f"hold one number per feature ({n_features})", f"shape {costs.shape}")
    bad = np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))
    if len(bad):
        given = f"{costs[bad[0]]:g} for {_called(model, bad[0])}"
        fix = "leave out features that cannot be bought with 'exclude'"
        raise model._wrong("feature_costs", "hold positive numbers", given, fix)
    return costs


def _called(model: BaseEstimator, feature: int) -> str:
    names = getattr(model, "feature_names_in_", None)
    return f"feature {feature}" if names is None else f"feature {str(names[feature])!r}"
