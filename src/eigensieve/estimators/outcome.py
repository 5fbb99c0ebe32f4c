"""What a fitted selector says about its features, and what it used besides the data, whichever selector it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigensieve._types import Array


@dataclass(frozen=True)
class Findings:
    """What a fitted selector found, for reports, pictures and tables.

    Attributes
    ----------
    support : ndarray of bool of shape (n_features,)
    order : ndarray of int of shape (n_features,)
        All features, best first; the selected ones lead.
    ranks : ndarray of int of shape (n_features,)
        Place of every feature in `order`, from 1.
    weights : ndarray of float64 of shape (n_features,)
        Weights, or scores where the selector has no weights. A score may be infinite.
    weight_name : {"weight", "score"}
    null_quantiles : ndarray of shape (n_features,) or None
        Per feature, the share of permuted copies (the same values in another order) that score below it.
    null_weight : float or None
        The weight that permuted copies hardly reach.
    """

    support: Array
    order: Array
    ranks: Array
    weights: Array
    weight_name: str
    null_quantiles: Array | None
    null_weight: float | None

    @classmethod
    def of(cls, model: BaseEstimator) -> "Findings":
        """Return what a fitted selector found.

        Parameters
        ----------
        model : estimator
            A fitted selector with `ranking_` and `weights_` or `scores_`.
        """
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


def selected_features(model: BaseEstimator) -> dict[str, Any]:
    """Return the selection of a fitted selector as plain JSON values.

    Parameters
    ----------
    model : estimator
        A fitted selector of eigensieve.

    Returns
    -------
    selection : dict
        ``n_features_in``, ``selected`` (column indices, best first), ``names`` (None when X had no column names) and
        ``weights`` of the selected features.
    """
    support = model.get_support()
    chosen = model.selection_order_
    names = getattr(model, "feature_names_in_", None)
    weights = getattr(model, "weights_", getattr(model, "scores_", None))
    if weights is not None and np.ndim(weights) != 1:
        weights = None
    return {
        "n_features_in": len(support),
        "selected": [int(i) for i in chosen],
        "names": None if names is None else [str(names[i]) for i in chosen],
        "weights": None if weights is None else [_finite(weights[i]) for i in chosen],
    }


def _finite(value: Any) -> float | None:
    """JSON has no infinity."""
    return float(value) if np.isfinite(value) else None


def known_and_used(
    model: BaseEstimator,
    *,
    y: Any = None,
    y_name: str | None = None,
    batches: Any = None,
    batch_name: str | None = None,
    groups: Any = None,
    group_name: str | None = None,
    side: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
) -> dict[str, Any]:
    """Return what a fitted selector used besides X.

    Parameters
    ----------
    model : estimator
        A fitted selector.
    y, batches, groups, side, must_link, cannot_link : as they were passed to ``fit``
    y_name, batch_name, group_name : str, optional
        What the labels, the batches and the donors are called.

    Returns
    -------
    used : dict
        Plain JSON values, None where nothing was used: ``labels`` (``column``, ``kind``, ``classes``, ``labelled``,
        ``samples``), ``batches`` and ``donors`` (``column``, ``count``), ``side_samples``, ``must_link``,
        ``cannot_link`` (numbers of pairs), ``unwanted_directions`` (how many were projected out), ``scale`` (whether
        features that vary more had more weight) and ``profiles`` (whether samples were compared by their profiles).
        ``sentences`` is a list that says the same to people: each is the end of a sentence that starts with "The
        selection".
    """
    labelled = y is not None and getattr(model, "supervised_", True)
    used: dict[str, Any] = {
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


def _labels(model: BaseEstimator, y: Any, name: str | None) -> dict[str, Any]:
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
    return {
        "column": name,
        "kind": kind,
        "classes": classes,
        "labelled": int(np.count_nonzero(known)),
        "samples": n_samples,
    }


def _count_distinct(values: Any) -> int:
    words: Array = np.asarray([str(value) for value in values])
    return len(np.unique(words))


def _in_words(used: dict[str, Any]) -> list[str]:
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


def _labels_in_words(labels: dict[str, Any]) -> str:
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
