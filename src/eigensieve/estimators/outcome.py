"""The findings of a fitted selector, and the knowledge it used besides the data, whichever selector it is."""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigensieve._types import BoolArray, FloatArray, IntArray, JsonDict, MatrixLike, OneEach


@dataclass(frozen=True)
class Findings:
    """The findings of a fitted selector, for reports, pictures and tables: one entry per feature."""

    support: BoolArray
    order: IntArray  # all features, best first; the selected ones lead
    ranks: IntArray  # place of every feature in `order`, from 1
    weights: FloatArray  # or scores where the selector has no weights; a score may be infinite
    weight_name: str  # "weight" or "score"
    null_quantiles: FloatArray | None  # share of permuted copies (the same values in another order) that score below it
    null_weight: float | None  # the weight that permuted copies hardly reach

    @classmethod
    def of(cls, model: BaseEstimator) -> "Findings":
        """Return the findings of a fitted selector; it has `ranking_`, and `weights_` or `scores_`."""
        check_is_fitted(model)
        by_weight = getattr(getattr(model, "weights_", None), "ndim", 0) == 1
        if not by_weight and not hasattr(model, "scores_"):
            raise TypeError(
                f"The model must be a fitted selector with 'weights_' or 'scores_'. Got {type(model).__name__} instead."
            )
        p_values = getattr(model, "p_values_", None)
        level: Any = getattr(model, "null_quantile_", None)
        known = by_weight and level is not None and np.ndim(level) == 0 and np.isfinite(level)
        return cls(
            support=np.asarray(model.get_support(), dtype=bool),
            order=np.argsort(model.ranking_, kind="stable"),
            ranks=np.asarray(model.ranking_),
            weights=np.asarray(model.weights_ if by_weight else model.scores_, dtype=np.float64),
            weight_name="weight" if by_weight else "score",
            null_quantiles=None if p_values is None else 1.0 - np.asarray(p_values, dtype=np.float64),
            null_weight=float(level) if known else None,
        )


def selected_features(model: BaseEstimator) -> JsonDict:
    """Return the selection of a fitted selector as plain JSON values: ``n_features_in``, ``selected`` (column indices,
    best first), ``names`` (None when X had no column names) and ``weights`` of the selected features."""
    support = model.get_support()
    chosen = model.selection_order_
    names = getattr(model, "feature_names_in_", None)
    weights = getattr(model, "weights_", getattr(model, "scores_", None))
    if weights is not None and np.ndim(weights) != 1:
        weights = None
    found = None if weights is None else np.asarray(weights, dtype=np.float64)[chosen].tolist()
    return {
        "n_features_in": len(support),
        "selected": chosen.tolist(),
        "names": None if names is None else [str(names[i]) for i in chosen],
        "weights": None if found is None else [value if np.isfinite(value) else None for value in found],  # as in JSON
    }


def known_and_used(
    model: BaseEstimator,
    *,
    y: OneEach = None,
    y_name: str | None = None,
    batches: OneEach = None,
    batch_name: str | None = None,
    groups: OneEach = None,
    group_name: str | None = None,
    side: MatrixLike = None,
    must_link: Sized | None = None,
    cannot_link: Sized | None = None,
) -> JsonDict:
    """Return the knowledge that a fitted selector used, given the arguments of ``fit`` and the names of their columns.

    Plain JSON values, None where nothing was used: ``labels`` (``column``, ``kind``, ``classes``, ``labelled``,
    ``samples``), ``batches`` and ``donors`` (``column``, ``count``), ``side_samples``, ``must_link``, ``cannot_link``
    (numbers of pairs), ``unwanted_directions`` (how many were projected out), ``scale`` (whether features that vary
    more had more weight) and ``profiles`` (whether samples were compared by their profiles). ``sentences`` say the same
    to people: each is the end of a sentence that starts with "The selection".
    """
    labelled = y is not None and getattr(model, "supervised_", True)
    used: JsonDict = {
        "labels": _labels(model, y, y_name) if labelled else None,
        "batches": None if batches is None else {"column": batch_name, "count": _count_distinct(batches)},
        "donors": None if groups is None else {"column": group_name, "count": _count_distinct(groups)},
        "side_samples": None if side is None else int(side.shape[0]),
        "must_link": None if must_link is None else len(must_link),
        "cannot_link": None if cannot_link is None else len(cannot_link),
        "unwanted_directions": getattr(model, "n_directions_", None)
        if side is not None or must_link is not None
        else None,
        "scale": getattr(model, "scale_used_", None),
        "profiles": model.scored_by_ == "profiles" if hasattr(model, "scored_by_") else None,
    }
    return used | {"sentences": _in_words(used)}


def _labels(model: BaseEstimator, y: Any, name: str | None) -> JsonDict:
    # Saving a model needs this file, and must not load the algorithms.
    from eigensieve.estimators.target import read_target
    from eigensieve.qalpha import read_labels

    owner, n_samples = type(model).__name__, len(y)
    kind: str = "classes"
    if hasattr(model, "supervised_"):
        target = read_target(y, n_samples, owner, model.supervision)
        known, kind = target.known, target.kind
        classes = None if target.classes is None else len(target.classes)
    else:  # the others know classes alone
        labels = read_labels(y, n_samples, owner, lone_samples=True)
        known, classes = labels.codes >= 0, len(labels.classes)
    counts = {"classes": classes, "labelled": int(np.count_nonzero(known)), "samples": n_samples}
    return {"column": name, "kind": kind, **counts}


def _count_distinct(values: Any) -> int:
    return len({str(value) for value in values})


def _in_words(used: JsonDict) -> list[str]:
    """Put `used` into words: one part of a sentence per entry."""
    parts = []
    if used["labels"] is not None:
        parts.append(_labels_in_words(used["labels"]))
    if used["batches"] is not None:
        count = used["batches"]["count"]
        parts.append(f"removed the differences between {count} batches{_of(used['batches']['column'])}")
    if used["donors"] is not None:
        count = used["donors"]["count"]
        parts.append(f"compared samples of {count} different donors{_of(used['donors']['column'])}")
    side, must, directions = used["side_samples"], used["must_link"], used["unwanted_directions"]
    ways = [f"{side:,} side samples vary"] if side else []
    ways += [f"{_pairs(must, 'must')} differ{'s' * (must == 1)}"] if must else []
    if ways and directions is not None:
        plural = "s" * (directions != 1)
        parts.append(f"projected out {directions} direction{plural} in which {' and '.join(ways)}")
    elif side:
        parts.append(f"lowered the weight of features that vary in {side:,} side samples")
    links = [_pairs(must, "must")] if must and directions is None else []
    links += [_pairs(used["cannot_link"], "cannot")] if used["cannot_link"] else []
    if links:
        parts.append(f"used {' and '.join(links)}")
    if used["scale"]:
        parts.append("gave more weight to features that vary more")
    if used["profiles"]:
        parts.append("compared samples by their profiles, as suits counts and texts")
    return parts


def _labels_in_words(labels: JsonDict) -> str:
    what = {
        "classes": f"used the labels{_of(labels['column'])}: {labels['classes']} classes",
        "numbers": f"used the numbers{_of(labels['column'])} as target",
        "several": "used several targets",
        "survival": f"used the times to an event{_of(labels['column'])}",
    }[labels["kind"]]
    if labels["labelled"] == labels["samples"]:
        return what
    return f"{what}, known for {labels['labelled']:,} of {labels['samples']:,} samples"


def _of(column: str | None) -> str:
    return "" if column is None else f" of column '{column}'"


def _pairs(count: int, kind: str) -> str:
    return f"{count:,} {kind}-link pair{'s' * (count != 1)}"
