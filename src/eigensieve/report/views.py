"""The pictures of the report as plain numbers: samples, heat map, redundancy, topographical map."""

import base64
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix

_COPY = 0.9
_EFFECTIVE_FEATURES = 2_000
_CLIP = 2.5
_MAP_FEATURES = 5  # fewer make no map
_NO_LABEL = ("", "nan", "None", "<NA>")


@dataclass(frozen=True)
class Limits:
    """How much a page holds; what exceeds a limit is summarised and the page says so.

    Parameters
    ----------
    features : int, default=50_000
        Features with a row of their own.
    name_bytes : int, default=1_500_000
        Bytes of all names together; fewer features are listed when their names are long.
    name_length : int, default=200
        Characters of a name that are shown.
    map_features : int, default=300
        Features in the topographical map.
    heat_features : int, default=60
        Features in the heat map.
    heat_samples : int, default=400
        Samples in the heat map.
    samples : int, default=3_000
        Samples in the picture of the embedding.
    redundancy_features : int, default=80
        Features in the picture of correlations.
    curve_points : int, default=1_200
        Points of the curve of weights.
    """

    features: int = 50_000
    name_bytes: int = 1_500_000
    name_length: int = 200
    map_features: int = 300
    heat_features: int = 60
    heat_samples: int = 400
    samples: int = 3_000
    redundancy_features: int = 80
    curve_points: int = 1_200


def numbers(values: Array, digits: int = 5) -> list[float | None]:
    """Return floats rounded to `digits` significant digits; NaN and infinities become null."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=np.float64)]


def _bytes_of(values: Array) -> str:
    """Return uint8 values as base64 text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.uint8).tobytes()).decode("ascii")


def sample_view(
    model: Any,
    data: DataMatrix,
    chosen: Array,
    ids: Sequence[str] | None,
    labels: Sequence[Any] | None,
    limits: Limits,
) -> tuple[dict[str, Any], Array]:
    """Return, per sample, two coordinates, its cluster and its label; and the clusters of all samples.

    Where labels led to the selection there are no clusters: samples are grouped by label.
    """
    n_samples = data.n_samples
    codes, class_names = _codes(labels, n_samples)
    points, axes = _plane(model, data, chosen)
    by_label = codes is not None and led_by_labels(model)
    clusters = codes if by_label else _clusters(model)
    if clusters is None:
        clusters = np.zeros(n_samples, dtype=int)
    shown = np.unique(np.linspace(0, n_samples - 1, min(n_samples, limits.samples)).astype(int))
    view = {
        "index": [int(i) for i in shown],
        "x": numbers(points[shown, 0], 4),
        "y": numbers(points[shown, 1], 4),
        "cluster": [int(c) for c in clusters[shown]],
        "n_clusters": int(clusters.max()) + 1,
        "grouped_by": "label" if by_label else "cluster",
        "label": None if codes is None else [int(c) for c in codes[shown]],
        "label_names": class_names,
        "id": [str(ids[i])[:80] if ids is not None else f"sample {i}" for i in shown],
        "axes": axes,
        "total": n_samples,
    }
    return view, clusters


def led_by_labels(model: Any) -> bool:
    """Whether the model's embedding is what the labels say."""
    return bool(getattr(model, "supervised_", False))


def n_directions(model: Any) -> int:
    """Return the number of columns of the model's embedding, 0 without one."""
    embedding = getattr(model, "embedding_", None)
    return 0 if embedding is None else int(embedding.shape[1])


def _plane(model: Any, data: DataMatrix, chosen: Array) -> tuple[Array, str]:
    """The two leading directions of the model's embedding or, without one, of the chosen features."""
    embedding = getattr(model, "embedding_", None)
    if embedding is None or embedding.shape[1] < 2 or led_by_labels(model):
        table = data.take(chosen[:_EFFECTIVE_FEATURES])
        axes = "first two principal components of the selected features"
    else:
        values = np.abs(np.asarray(getattr(model, "eigenvalues_", np.ones(embedding.shape[1]))))
        if len(values) != embedding.shape[1]:
            values = np.ones(embedding.shape[1])
        table = np.asarray(embedding) * values
        axes = "two leading directions of the model's embedding"
    table = np.asarray(table, dtype=np.float64)
    if not table.size:
        return np.zeros((data.n_samples, 2)), axes
    table = table - table.mean(axis=0)
    U, s, _ = np.linalg.svd(table, full_matrices=False)
    points = np.zeros((len(table), 2))
    rank = min(2, U.shape[1])
    points[:, :rank] = U[:, :rank] * s[:rank]
    return points, axes


def _clusters(model: Any) -> Array | None:
    """Group of each sample, by k-means on the embedding; numbered along the leading direction.

    c directions tell c + 1 groups apart, unless the user said how many there are.
    """
    embedding, asked = getattr(model, "embedding_", None), getattr(model, "n_clusters", "auto")
    k = n_directions(model) + 1 if asked == "auto" else int(asked)
    if embedding is None or k < 2 or len(embedding) <= k or led_by_labels(model):
        return None
    from sklearn.cluster import KMeans

    found = KMeans(k, n_init=5, random_state=0).fit_predict(np.asarray(embedding, dtype=np.float64))
    means = [embedding[found == c, 0].mean() if (found == c).any() else np.inf for c in range(k)]
    return np.argsort(np.argsort(means))[found]


def _codes(labels: Sequence[Any] | None, n_samples: int) -> tuple[Array | None, list[str] | None]:
    """Labels as small integers; more than 20 different ones are not shown as classes."""
    if labels is None:
        return None, None
    texts = ["no label" if str(label) in _NO_LABEL else str(label) for label in labels]
    names, codes = np.unique(np.asarray(texts), return_inverse=True)
    if len(names) > 20:
        return None, None
    return codes, [str(name)[:80] for name in names]


def heat_map(
    data: DataMatrix, chosen: Array, position: Array, samples: dict[str, Any], clusters: Array, limits: Limits
) -> dict[str, Any]:
    """Standardised values of the best chosen features, samples ordered by cluster, features by likeness."""
    columns = chosen[: limits.heat_features]
    if not len(columns):
        return _EMPTY_HEAT | {"of_samples": data.n_samples}
    table = np.asarray(data.take(columns), dtype=np.float64) * np.sqrt(max(1, data.n_samples - 1))
    leading = table @ _first_direction(table)
    order = np.lexsort((leading, clusters))
    rows = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), limits.heat_samples)).astype(int))]
    arranged = _by_likeness(table)
    values = np.clip(table[np.ix_(rows, arranged)] / _CLIP, -1, 1)
    where = {int(index): i for i, index in enumerate(samples["index"])}
    return {
        "features": [int(i) for i in position[columns[arranged]]],
        "samples": [where.get(int(i), -1) for i in rows],
        "clusters": [int(c) for c in clusters[rows]],
        "values": _bytes_of(np.round(127.5 * (values + 1))),
        "clip": _CLIP,
        "of_features": len(chosen),
        "of_samples": data.n_samples,
    }


_EMPTY_HEAT = {"features": [], "samples": [], "clusters": [], "values": "", "clip": _CLIP, "of_features": 0}


def _first_direction(table: Array) -> Array:
    return np.linalg.svd(table, full_matrices=False)[2][0]


def _by_likeness(table: Array) -> Array:
    """Order of the columns that puts like ones side by side (average linkage of 1 - r)."""
    if table.shape[1] < 3:
        return np.arange(table.shape[1])
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    R = _correlation(table)
    distance = squareform(np.clip(1 - R, 0, 2), checks=False)
    return leaves_list(optimal_leaf_ordering(linkage(distance, "average"), distance))


def _correlation(table: Array) -> Array:
    norms = np.sqrt((table**2).sum(axis=0))
    unit = table / np.where(norms > 0, norms, 1)
    R = np.clip(unit.T @ unit, -1, 1)
    np.fill_diagonal(R, 1)
    return R


_NO_REDUNDANCY: dict[str, Any] = {
    "features": [],
    "r": "",
    "effective": 0.0,
    "used": 0,
    "of_features": 0,
    "n_copies": 0,
    "copies": [],
    "threshold": _COPY,
}


def redundancy(data: DataMatrix, chosen: Array, position: Array, limits: Limits) -> tuple[Array, dict[str, Any]]:
    """Return the largest correlation of each chosen feature with another one, and the matrix of correlations.

    The effective number of m features with correlation matrix R is m^2 / |R|_F^2: m when they are uncorrelated, 1
    when they are copies of one.
    """
    used = chosen[:_EFFECTIVE_FEATURES]
    if not len(used):
        return np.full(data.n_features, np.nan), _NO_REDUNDANCY
    R = _correlation(np.asarray(data.take(used), dtype=np.float64))
    m = len(used)
    likest = np.full(data.n_features, np.nan)
    off = np.abs(R - np.eye(m))
    if m > 1:
        likest[used] = off.max(axis=0)
    pairs = np.argwhere(np.triu(off, 1) >= _COPY)
    pairs = pairs[np.argsort(-off[tuple(pairs.T)], kind="stable")]
    shown = np.arange(min(m, limits.redundancy_features))
    shown = shown[_by_likeness(np.asarray(data.take(used[shown]), dtype=np.float64))]
    return likest, {
        "features": [int(i) for i in position[used[shown]]],
        "r": _bytes_of(np.round(127.5 * (R[np.ix_(shown, shown)] + 1))),
        "effective": float(m**2 / (R**2).sum()),
        "used": m,
        "of_features": len(chosen),
        "n_copies": len(pairs),
        "copies": [[int(position[used[i]]), int(position[used[j]]), round(float(R[i, j]), 3)] for i, j in pairs[:30]],
        "threshold": _COPY,
    }


def panel_view(model: Any) -> dict[str, Any] | None:
    """How much of the structure the first picks show, where the model looked for the fewest that do."""
    table = getattr(model, "structure_shown_", None)
    if table is None or len(table) < 2:
        return None
    return {
        "size": [int(size) for size in table[:, 0]],
        "shown": numbers(table[:, 1], 4),
        "taken": int(model.support_.sum()),
        "by_label": led_by_labels(model),
    }


def topographical_map(data: DataMatrix, columns: Array, position: Array) -> dict[str, Any] | None:
    """Return an ellipse per feature: where it lies in two rounds of Q-alpha, and how much it weighs in each.

    Shashua and Wolf 2004, section 4, on the given columns, none of them constant. None when there is nothing to show:
    too few columns or samples, or a second round that finds the structure of the first again.
    """
    from eigensieve.estimators import estimator_class

    if len(columns) < _MAP_FEATURES or data.n_samples < 4:
        return None
    with warnings.catch_warnings():
        # Warnings do not matter here: a little more convergence would look the same, and a useless round is not drawn.
        warnings.simplefilter("ignore", UserWarning)
        fitted = estimator_class("FeatureMap")(n_rounds=2).fit(np.asarray(data.take(columns), dtype=np.float64))
    if fitted.same_structure_[1]:
        return None
    where, weights = fitted.coordinates_, np.abs(fitted.weights_)
    return {
        "feature": [int(i) for i in position[columns]],
        "x": numbers(where[:, 0], 4),
        "y": numbers(where[:, 1], 4),
        "rx": numbers(weights[:, 0], 4),
        "ry": numbers(weights[:, 1], 4),
        "of_features": data.n_features,
    }
