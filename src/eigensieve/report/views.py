"""The pictures of the report as plain numbers: samples, heat map, redundancy, topographical map."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array, FloatArray, IntArray, JsonDict
from eigensieve.data import DataMatrix, as_data
from eigensieve.qalpha import SAME_STRUCTURE, TAU, Problem, SolveSettings, map_rounds, overlaps, spectrum_affinity
from eigensieve.report.fitted import Fitted

_COPY = 0.9
_EFFECTIVE_FEATURES = 2_000
_CLIP = 2.5
_MAP_FEATURES = 5  # fewer make no map
_MAP_DIRECTIONS = 2  # of a round, as in `FeatureMap`
_MOST_GROUPS = 8
_JUDGED = 1_000  # samples on which numbers of groups are compared
_CLASSES = 20  # more different labels have no colours of their own
_NO_LABEL = ("", "nan", "None", "<NA>")


@dataclass(frozen=True)
class Limits:
    """How much a page holds. The page tells how many features or samples exceed a limit.

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


@dataclass(frozen=True)
class Arrangement:
    """The groups in which pictures order the samples."""

    clusters: IntArray  # group of each sample, all 0 where there are none
    codes: IntArray | None  # number of each sample's label
    target: FloatArray | None  # the number that belongs to each sample, NaN where it is not known
    by_target: bool  # whether the target takes the place of groups


def numbers(values: FloatArray, digits: int = 5) -> list[float | None]:
    """Return floats rounded to `digits` significant digits; NaN and infinities become null."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=np.float64)]


def _bytes_of(values: FloatArray) -> str:
    """Return values from 0 to 255 as base64 text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.uint8).tobytes()).decode("ascii")


def sample_view(
    model: Fitted,
    data: DataMatrix,
    chosen: IntArray,
    ids: Sequence[str] | None,
    labels: Array | None,
    used: JsonDict | None,
    limits: Limits,
) -> tuple[JsonDict, Arrangement]:
    """Return, per sample, two coordinates, its cluster and its label or target; and how to arrange all samples.

    Where labels led to the selection there are no clusters: samples are grouped by label, or ordered by the target.
    """
    n_samples = data.n_samples
    codes, class_names, target = _read_labels(labels, used)
    points, axes = _plane(model, data, chosen)
    by_label = codes is not None and model.led_by_labels
    clusters = codes if by_label else _clusters(model)
    if clusters is None:
        clusters = np.zeros(n_samples, dtype=int)
    arranged = Arrangement(clusters, codes, target, target is not None and model.led_by_labels)
    shown = np.unique(np.linspace(0, n_samples - 1, min(n_samples, limits.samples)).astype(int))
    view = {
        "index": [int(i) for i in shown],
        "x": numbers(points[shown, 0], 4),
        "y": numbers(points[shown, 1], 4),
        "cluster": [int(c) for c in clusters[shown]],
        "n_clusters": int(clusters.max()) + 1,
        "grouped_by": "label" if by_label else "target" if arranged.by_target else "cluster",
        "label": None if codes is None else [int(c) for c in codes[shown]],
        "label_names": class_names,
        "target": None if target is None else numbers(target[shown], 4),
        "target_name": (used or {}).get("column") or "target",
        "id": [str(ids[i])[:80] if ids is not None else f"sample {i}" for i in shown],
        "axes": axes,
        "total": n_samples,
    }
    return view, arranged


def _plane(model: Fitted, data: DataMatrix, chosen: IntArray) -> tuple[FloatArray, str]:
    """The two leading directions of the model's embedding or, without one, of the chosen features."""
    if model.embedding is None or model.embedding.shape[1] < 2:
        table: FloatArray = np.asarray(data.take(chosen[:_EFFECTIVE_FEATURES]), dtype=np.float64)
        axes = "first two principal components of the selected features"
    else:
        table = model.embedding * (1.0 if model.eigenvalues is None else model.eigenvalues)
        axes = "two leading directions of the model's embedding"
    if not table.size:
        return np.zeros((data.n_samples, 2)), axes
    U, s, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    points = np.zeros((len(table), 2))
    rank = min(2, U.shape[1])
    points[:, :rank] = U[:, :rank] * s[:rank]
    return points, axes


def _clusters(model: Fitted) -> IntArray | None:
    """Group of each sample, by k-means on the embedding; numbered along the leading direction.

    k is the number asked for, or the one from 2 to 8 with the largest mean silhouette.
    """
    embedding = model.embedding
    if embedding is None or len(embedding) <= max(3, model.n_groups or 2) or model.n_groups == 1:
        return None
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    part = embedding[np.unique(np.linspace(0, len(embedding) - 1, min(len(embedding), _JUDGED)).astype(int))]

    def fit(points: FloatArray, k: int) -> IntArray:
        return np.asarray(KMeans(k, n_init=5, random_state=0).fit_predict(points))

    def silhouette(k: int) -> float:
        found = fit(part, k)
        return float(silhouette_score(part, found)) if 1 < len(np.unique(found)) < len(part) else -1.0

    places = len(np.unique(part.round(9), axis=0))  # k-means finds no more groups than there are different places
    if places < 2:
        return None
    k = min(model.n_groups or max(range(2, min(_MOST_GROUPS, max(2, places - 1)) + 1), key=silhouette), places)
    found = fit(embedding, k)
    means = [embedding[found == c, 0].mean() if (found == c).any() else np.inf for c in range(k)]
    return np.argsort(np.argsort(means))[found]


def _read_labels(
    labels: Array | None, used: JsonDict | None
) -> tuple[IntArray | None, list[str] | None, FloatArray | None]:
    """Labels as small integers with their names, or as numbers: used as such, or more than 20 different ones."""
    if labels is None:
        return None, None, None
    if labels.dtype.names:  # (event, time)
        return None, None, labels[labels.dtype.names[1]].astype(np.float64)
    texts = ["no label" if str(label) in _NO_LABEL else str(label) for label in labels]
    names, codes = np.unique(np.asarray(texts), return_inverse=True)
    if len(names) <= _CLASSES and (used is None or used["kind"] == "classes"):
        return codes, [str(name)[:80] for name in names], None
    try:
        values = np.array([np.nan if text == "no label" else float(text) for text in texts])
    except ValueError:
        return None, None, None
    return None, None, values if np.isfinite(values).any() else None


def heat_map(
    data: DataMatrix, chosen: IntArray, position: IntArray, samples: JsonDict, arranged: Arrangement, limits: Limits
) -> JsonDict | None:
    """Standardised values of the best chosen features, samples in the order of the structure, like features together.

    Samples are ordered by target, or by group and, inside a group, along the first principal component. None where
    nothing is chosen.
    """
    columns = chosen[: limits.heat_features]
    if not len(columns):
        return None
    table = np.asarray(data.take(columns), dtype=np.float64) * np.sqrt(max(1, data.n_samples - 1))
    leading = table @ np.linalg.svd(table, full_matrices=False)[2][0]
    first = arranged.target if arranged.by_target and arranged.target is not None else arranged.clusters
    order = np.lexsort((leading, first))
    rows = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), limits.heat_samples)).astype(int))]
    likeness, tree = _by_likeness(table)
    values = np.clip(table[np.ix_(rows, likeness)] / _CLIP, -1, 1)
    where = {int(index): i for i, index in enumerate(samples["index"])}
    codes, target = arranged.codes, arranged.target
    return {
        "features": [int(i) for i in position[columns[likeness]]],
        "tree": tree,
        "samples": [where.get(int(i), -1) for i in rows],
        "clusters": [int(c) for c in arranged.clusters[rows]],
        "label": None if codes is None else [int(c) for c in codes[rows]],
        "target": None if target is None else numbers(target[rows], 4),
        "values": _bytes_of(np.round(127.5 * (values + 1))),
        "clip": _CLIP,
        "of_features": len(chosen),
        "of_samples": data.n_samples,
    }


def _by_likeness(table: FloatArray) -> tuple[IntArray, list[list[float]]]:
    """Order of the columns that puts like ones side by side (average linkage of 1 - r), and the tree of the merges.

    A merge is a list of five numbers: the places of its two branches among the ordered columns, the heights at which
    they begin, and the height of the merge. Its own place is the middle of the two.
    """
    if table.shape[1] < 3:
        return np.arange(table.shape[1]), []
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    R = _correlation(table)
    distance = squareform(np.clip(1 - R, 0, 2), checks=False)
    merges = optimal_leaf_ordering(linkage(distance, "average"), distance)
    order = leaves_list(merges)
    places = np.argsort(order).astype(np.float64).tolist()
    heights, tree = [0.0] * len(order), []
    for left, right, height, _ in merges.tolist():
        ends = [places[int(left)], places[int(right)]]
        places.append(sum(ends) / 2)
        starts = [heights[int(left)], heights[int(right)]]
        heights.append(height)
        tree.append([round(value, 4) for value in (*ends, *starts, height)])
    return order, tree


def _correlation(table: FloatArray) -> FloatArray:
    norms = np.sqrt((table**2).sum(axis=0))
    unit = table / np.where(norms > 0, norms, 1)
    R = np.clip(unit.T @ unit, -1, 1)
    np.fill_diagonal(R, 1)
    return R


def redundancy(
    data: DataMatrix, chosen: IntArray, position: IntArray, limits: Limits
) -> tuple[FloatArray, JsonDict | None]:
    """Return the largest correlation of each chosen feature with another one, and the matrix of correlations.

    The effective number of m features with correlation matrix R is m^2 / |R|_F^2: m when they are uncorrelated, 1
    when they are copies of one.
    """
    used = chosen[:_EFFECTIVE_FEATURES]
    likest = np.full(data.n_features, np.nan)
    if not len(used):
        return likest, None
    R = _correlation(np.asarray(data.take(used), dtype=np.float64))
    m = len(used)
    off = np.abs(R - np.eye(m))
    if m > 1:
        likest[used] = off.max(axis=0)
    pairs = np.argwhere(np.triu(off, 1) >= _COPY)
    pairs = pairs[np.argsort(-off[tuple(pairs.T)], kind="stable")]
    shown = np.arange(min(m, limits.redundancy_features))
    shown = shown[_by_likeness(np.asarray(data.take(used[shown]), dtype=np.float64))[0]]
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


def panel_view(model: Fitted) -> JsonDict | None:
    """How much of the structure the first picks show, where the model looked for the fewest that do."""
    table = model.structure_shown
    if table is None or len(table) < 2:
        return None
    return {
        "size": [int(size) for size in table[:, 0]],
        "shown": numbers(table[:, 1], 4),
        "taken": int(model.found.support.sum()),
        "by_label": model.led_by_labels,
    }


def topographical_map(data: DataMatrix, columns: IntArray, position: IntArray) -> JsonDict | None:
    """Return an ellipse per feature: where it lies in two rounds of Q-alpha, and how much it weighs in each.

    Shashua and Wolf 2004, section 4, on the given columns, none of them constant. None when there is nothing to show:
    too few columns or samples, or a second round that finds the structure of the first again.
    """
    if len(columns) < _MAP_FEATURES or data.n_samples < 4:
        return None
    values = as_data(np.asarray(data.take(columns), dtype=np.float64)).standardized("center")
    problem = Problem(
        spectrum_affinity(values, "standard"), _MAP_DIRECTIONS, TAU["energy"], np.ones(len(columns), dtype=bool)
    )
    # No warning where a round has not converged: a little more convergence would look the same.
    rounds = map_rounds(problem, SolveSettings(), n_rounds=2, strength=0.5)
    if overlaps([each.result.embedding for each in rounds])[1] > SAME_STRUCTURE:
        return None
    where = np.column_stack([each.coordinates for each in rounds])
    weights = np.abs(np.column_stack([each.result.weights for each in rounds]))
    return {
        "feature": [int(i) for i in position[columns]],
        "x": numbers(where[:, 0], 4),
        "y": numbers(where[:, 1], 4),
        "rx": numbers(weights[:, 0], 4),
        "ry": numbers(weights[:, 1], 4),
        "of_features": data.n_features,
    }
