"""From a fitted selector and its data to a plain dict: everything the page shows, and nothing else."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigensieve._types import BoolArray, FloatArray, IntArray, JsonDict, MatrixLike
from eigensieve._version import __version__
from eigensieve.estimators import Findings, check_data, constraint_cost, known_and_used
from eigensieve.evidence import Stability
from eigensieve.report.fitted import Fitted
from eigensieve.report.texts import methods_text, trust_cards
from eigensieve.report.views import Limits, heat_map, numbers, panel_view, redundancy, sample_view, topographical_map

_PASSED = ("y", "batches", "groups", "side", "must_link", "cannot_link")  # arguments of fit


def summarize(
    model: BaseEstimator,
    X: MatrixLike,
    *,
    feature_names: Sequence[str] | None = None,
    sample_ids: Sequence[str] | None = None,
    labels: Sequence[object] | None = None,
    title: str = "Feature selection",
    source: JsonDict | None = None,
    known: JsonDict | None = None,
    draw_map: bool = True,
    stability: FloatArray | Stability | None = None,
    limits: Limits | None = None,
) -> JsonDict:
    """Collect the contents of a report about a fitted selector.

    Parameters
    ----------
    model : estimator
        A fitted selector with `ranking_` and `weights_` or `scores_`. Its embedding and its diagnostics are used where
        they exist.
    X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
        The data it was fitted on, in any form that `fit` takes. A data matrix brings its column statistics along.
    feature_names, sample_ids : sequence of str, optional
        Default: the model's own names, or ``feature 0``, ``sample 0``...
    labels : sequence, optional
        Known classes of the samples, or numbers; shown beside the groups found.
    title : str
        Head of the page.
    source : dict, optional
        Facts about the input: ``name``, ``prepared`` (list of sentences), ``labels`` (name of the
        label column), ``labels_used`` (bool).
    known : dict, optional
        Arguments of ``fit`` besides X, for the sentences about them: ``y``, ``batches``, ``side``, ``must_link``,
        ``cannot_link``, and the names ``y_name`` and ``batch_name``. Default: `labels` as y, where the model used y.
    draw_map : bool, default=True
        Whether to fit two rounds of Q-alpha on the best features for the topographical map.
    stability : Stability or ndarray of shape (n_features,), optional
        From :func:`selection_stability`, or how often each feature was chosen over subsamples, between 0
        and 1.
    limits : Limits, optional
        How much the page holds.

    Returns
    -------
    summary : dict
        Plain JSON values only; :func:`render` needs nothing else.
    """
    limits = limits or Limits()
    fitted = Fitted(model)
    found = fitted.found
    data = check_data(model, X, reset=False).standardized("center")
    if fitted.n_samples not in (None, data.n_samples):
        raise ValueError(
            f"X must be the data that {fitted.name} was fitted on, with {fitted.n_samples} samples. Got "
            f"{data.n_samples} samples instead; pass the X of fit, or fit the model on this one."
        )
    names = _names(fitted, data.n_features, feature_names)
    sample_ids = _of_length("sample_ids", sample_ids, data.n_samples, "sample")
    shown_labels = _of_length("labels", labels, data.n_samples, "sample")
    frequencies = stability.frequencies if isinstance(stability, Stability) else stability
    frequencies = _of_length("stability", frequencies, data.n_features, "column of X")
    constant = data.stats().constant
    order = found.order
    chosen = order[: int(found.support.sum())]
    first = order[: limits.features]  # those with a row of their own, as far as their names leave room
    sizes = np.cumsum([min(len(names[i].encode()), limits.name_length) for i in first])
    shown = first[: max(1, int(np.searchsorted(sizes, limits.name_bytes, side="right")))]
    position = np.full(data.n_features, -1)
    position[shown] = np.arange(len(shown))
    passed = known if known is not None else {"y": shown_labels} if fitted.led_by_labels else {}
    used = known_and_used(model, **passed)
    samples, arranged = sample_view(fitted, data, chosen, sample_ids, shown_labels, used["labels"], limits)
    copies, redundant = redundancy(data, chosen, position, limits)
    cost = constraint_cost(model, X, data, {name: value for name, value in passed.items() if name in _PASSED})
    drawn = order[: limits.map_features] if draw_map else order[:0]
    about = _source(source or {}, found, constant, used["labels"] is not None or fitted.led_by_labels)
    return {
        "format": 1,
        "version": __version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "title": title,
        "source": about,
        "used": used,
        "method": methods_text(fitted, about["labels_used"], used),
        "counts": {
            "samples": data.n_samples,
            "features": data.n_features,
            "selected": len(chosen),
            "directions": fitted.n_directions,
        },
        "features": _feature_table(found, names, shown, limits.name_length)
        | {"stability": None if frequencies is None else numbers(frequencies[shown], 3)}
        | {"copy": numbers(copies[shown], 3)},
        "curve": _curve(found, position, limits),
        "panel": panel_view(fitted),
        "map": topographical_map(data, drawn[~constant[drawn]], position),
        "samples": samples,
        "heat": heat_map(data, chosen, position, samples, arranged, limits),
        "redundancy": redundant,
        "trust": trust_cards(fitted, frequencies, redundant, samples, used, cost),
    }


def _of_length(name: str, values: Any, length: int, each: str) -> Any:
    """Return values of the user as an array of one entry per sample or column, or None."""
    if values is None:
        return None
    values = np.asarray(values, dtype=None if hasattr(values, "dtype") else object)
    if values.shape != (length,):
        raise ValueError(
            f"{name} must hold one entry per {each}, shape ({length},). Got shape {values.shape} instead; leave out "
            f"{name}, or give it the samples and columns of X, in the same order."
        )
    return values


def _names(model: Fitted, n_features: int, given: Sequence[str] | None) -> list[str]:
    names = given if given is not None else model.feature_names
    if names is None:
        return [f"feature {i}" for i in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"feature_names must have one name per column of X ({n_features}). Got {len(names)} instead.")
    return [str(name) for name in names]


def _source(source: JsonDict, found: Findings, constant: BoolArray, labels_used: bool) -> JsonDict:
    return {
        "name": str(source.get("name", "data in memory")),
        "prepared": [str(sentence) for sentence in source.get("prepared", [])],
        "constant": int(np.count_nonzero(constant)),
        "labels": source.get("labels"),
        "labels_used": bool(source.get("labels_used", labels_used)),
        "weight_name": found.weight_name,
    }


def _finite(weights: FloatArray) -> FloatArray:
    """Weights that can be drawn: an infinite score becomes the largest finite one."""
    finite = np.isfinite(weights)
    largest = weights[finite].max() if finite.any() else 1.0
    return np.where(finite, weights, np.where(weights > 0, largest, 0.0))


def _feature_table(found: Findings, names: list[str], shown: IntArray, length: int) -> JsonDict:
    weights, null = _finite(found.weights), found.null_quantiles
    hidden = np.ones(len(weights), dtype=bool)
    hidden[shown] = False
    rest = weights[hidden]
    return {
        "names": [names[i] if len(names[i]) <= length else names[i][: length - 1] + "…" for i in shown],
        "weight": numbers(weights[shown]),
        "rank": [int(rank) for rank in found.ranks[shown]],
        "selected": [int(s) for s in found.support[shown]],
        "null": None if null is None else numbers(np.floor(1e4 * null[shown]) / 1e4, 4),
        "rest": {
            "count": int(hidden.sum()),
            "selected": int(found.support[hidden].sum()),
            "largest": float(rest.max()) if len(rest) else None,
            "mean": float(rest.mean()) if len(rest) else None,
        },
    }


def _curve(found: Findings, position: IntArray, limits: Limits) -> JsonDict:
    """Sorted weights at all of the first ranks and at geometrically spaced later ones."""
    weights, support = _finite(found.weights), found.support
    order = np.argsort(-weights, kind="stable")
    n = len(order)
    head = min(n, limits.curve_points // 2)
    tail: Any = np.unique(np.geomspace(head + 1, n, limits.curve_points // 2).astype(int)) - 1 if n > head else []
    at = np.unique(np.concatenate([np.arange(head), np.asarray(tail, dtype=int)]))
    count = int(support.sum())
    return {
        "rank": [int(i) + 1 for i in at],
        "weight": numbers(weights[order[at]]),
        "feature": [int(i) for i in position[order[at]]],
        "selected": [int(s) for s in support[order[at]]],
        "cut": count if count and support[order[:count]].all() else None,
        "total": n,
        "null": found.null_weight,
    }
