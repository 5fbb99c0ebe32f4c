"""From a fitted selector and its data to a plain dict: everything the page shows, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from eigensieve import __version__
from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data
from eigensieve.plotting import null_quantiles, null_weight
from eigensieve.report.encode import numbers
from eigensieve.report.texts import methods_text
from eigensieve.report.trust import trust
from eigensieve.report.views import (
    heat_map,
    redundancy,
    sample_view,
    topographical_map,
)


@dataclass(frozen=True)
class Limits:
    """How much a page holds; what exceeds a limit is summarised and the page says so."""

    features: int = 50_000
    name_bytes: int = 1_500_000
    name_length: int = 200
    map_features: int = 300
    heat_features: int = 60
    heat_samples: int = 400
    samples: int = 3_000
    redundancy_features: int = 80
    curve_points: int = 1_200


def summarize(
    model: Any,
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    sample_ids: Sequence[str] | None = None,
    labels: Sequence[Any] | None = None,
    title: str = "Feature selection",
    source: dict[str, Any] | None = None,
    draw_map: bool = True,
    stability: Array | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Collect what a report shows about a fitted selector.

    Parameters
    ----------
    model : estimator
        A fitted selector: `support_`, `ranking_`, and `weights_` or `scores_`; `embedding_` and the
        diagnostics of
        Q-alpha are used where they exist.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data it was fitted on.
    feature_names, sample_ids : sequence of str, optional
        Default: the model's own names, or ``feature 0``, ``sample 0``...
    labels : sequence, optional
        Known classes of the samples; shown beside the clusters.
    title : str
    source : dict, optional
        What the page should say about the input: ``name``, ``prepared`` (list of sentences), ``labels_used``
        (bool).
    draw_map : bool, default=True
        Whether to fit two rounds of Q-alpha on the best features for the topographical map.
    stability : ndarray of shape (n_features,), optional
        How often each feature was chosen over subsamples, between 0 and 1.
    limits : Limits, optional

    Returns
    -------
    summary : dict
        Plain JSON values only; :func:`render` needs nothing else.
    """
    limits = limits or Limits()
    data = as_data(X).standardized("center")
    names = _names(model, data.n_features, feature_names)
    support = np.asarray(model.get_support(), dtype=bool)
    weights = _weights(model)
    ranking = np.asarray(model.ranking_)
    chosen = ranking[support[ranking]]
    shown = _shown(ranking, support, names, limits)
    position = np.full(data.n_features, -1)
    position[shown] = np.arange(len(shown))
    samples, clusters = sample_view(model, data, chosen, sample_ids, labels, limits)
    copies, redundant = redundancy(data, chosen, position, limits)
    source = dict(source or {})
    summary = {
        "format": 1,
        "version": __version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "title": title,
        "source": _source(source, data, model),
        "method": methods_text(model, source.get("labels_used", False)),
        "counts": {
            "samples": data.n_samples,
            "features": data.n_features,
            "selected": len(chosen),
            "clusters": int(getattr(model, "n_clusters_", 0)),
        },
        "features": _feature_table(model, names, weights, ranking, support, shown, copies, stability, limits),
        "curve": _curve(weights, support, position, limits) | {"null": null_weight(model)},
        "map": topographical_map(data, _best(ranking, support, limits), position) if draw_map else None,
        "samples": samples,
        "heat": heat_map(data, chosen, position, samples, clusters, limits),
        "redundancy": redundant,
    }
    summary["trust"] = trust(model, summary, stability, labels)
    return summary


def _best(ranking: Array, support: Array, limits: Limits) -> Array:
    """Columns the map is drawn of: the selected ones, then the best of the others."""
    chosen = support[ranking]
    return np.concatenate([ranking[chosen], ranking[~chosen]])[: limits.map_features]


def _names(model: Any, n_features: int, given: Sequence[str] | None) -> list[str]:
    names = given if given is not None else getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"feature {i}" for i in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"feature_names must have one name a column of X ({n_features}). Got {len(names)} instead.")
    return [str(name) for name in names]


def _weights(model: Any) -> Array:
    weights = np.asarray(model.weights_ if hasattr(model, "weights_") else model.scores_, dtype=np.float64)
    finite = np.isfinite(weights)
    largest = weights[finite].max() if finite.any() else 1.0
    return np.where(finite, weights, np.where(weights > 0, largest, 0.0))  # a score may be +inf: show it at the top


def _shown(ranking: Array, support: Array, names: list[str], limits: Limits) -> Array:
    """Indices of the features that get a row of their own: the selected, then the best, within the limits."""
    order = np.concatenate([ranking[support[ranking]], ranking[~support[ranking]]])[: limits.features]
    sizes = np.cumsum([min(len(names[i].encode()), limits.name_length) for i in order])
    return order[: max(1, int(np.searchsorted(sizes, limits.name_bytes, side="right")))]


def _source(source: dict[str, Any], data: DataMatrix, model: Any) -> dict[str, Any]:
    constant = int(np.count_nonzero(data.stats().constant))
    return {
        "name": str(source.get("name", "data in memory")),
        "prepared": [str(sentence) for sentence in source.get("prepared", [])],
        "constant": constant,
        "labels": source.get("labels"),
        "labels_used": bool(source.get("labels_used", False)),
        "weight_name": "weight" if hasattr(model, "weights_") else "score",
    }


def _feature_table(
    model: Any,
    names: list[str],
    weights: Array,
    ranking: Array,
    support: Array,
    shown: Array,
    copies: Array,
    stability: Array | None,
    limits: Limits,
) -> dict[str, Any]:
    rank = np.empty(len(ranking), dtype=np.int64)
    rank[ranking] = np.arange(1, len(ranking) + 1)
    null = null_quantiles(model)
    hidden = np.ones(len(weights), dtype=bool)
    hidden[shown] = False
    rest = weights[hidden]
    return {
        "names": [_short(names[i], limits.name_length) for i in shown],
        "weight": numbers(weights[shown]),
        "rank": [int(r) for r in rank[shown]],
        "selected": [int(s) for s in support[shown]],
        "null": None if null is None else numbers(null[shown], 4),
        "stability": None if stability is None else numbers(np.asarray(stability)[shown], 3),
        "copy": numbers(copies[shown], 3),
        "rest": {
            "count": int(hidden.sum()),
            "selected": int(support[hidden].sum()),
            "largest": float(rest.max()) if len(rest) else None,
            "mean": float(rest.mean()) if len(rest) else None,
        },
    }


def _short(name: str, length: int) -> str:
    return name if len(name) <= length else name[: length - 1] + "…"


def _curve(weights: Array, support: Array, position: Array, limits: Limits) -> dict[str, Any]:
    """Sorted weights at every one of the first ranks and at geometrically spaced later ones."""
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
    }
