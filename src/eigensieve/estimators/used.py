"""What was known besides X and used in a fit: as plain values for files and reports, and in words for people."""

from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.qalpha import read_labels
from eigensieve.sieve import read_target


def known_and_used(
    model: Any,
    *,
    y: Any = None,
    y_name: str | None = None,
    batches: Any = None,
    batch_name: str | None = None,
    side: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
) -> dict[str, Any]:
    """Return what a fitted selector used besides X.

    Parameters
    ----------
    model : estimator
        A fitted selector.
    y, batches, side, must_link, cannot_link : as they were passed to ``fit``
    y_name, batch_name : str, optional
        What the labels and the batches are called.

    Returns
    -------
    used : dict
        Plain JSON values, None where nothing was used: ``labels`` (``column``, ``kind``, ``classes``, ``labelled``,
        ``samples``), ``batches`` (``column``, ``count``), ``side_samples``, ``must_link``, ``cannot_link`` (numbers of
        pairs) and ``unwanted_directions`` (how many were projected out).
    """
    labelled = y is not None and getattr(model, "supervised_", True)
    return {
        "labels": _labels(model, y, y_name) if labelled else None,
        "batches": None if batches is None else {"column": batch_name, "count": _count_distinct(batches)},
        "side_samples": None if side is None else int(side.shape[0]),
        "must_link": None if must_link is None else len(must_link),
        "cannot_link": None if cannot_link is None else len(cannot_link),
        "unwanted_directions": getattr(model, "n_directions_", None)
        if side is not None or must_link is not None
        else None,
    }


def _labels(model: Any, y: Any, name: str | None) -> dict[str, Any]:
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


def in_words(used: dict[str, Any]) -> list[str]:
    """Return what :func:`known_and_used` found as parts of sentences, one for each thing that was used."""
    parts = []
    if used["labels"] is not None:
        parts.append(_labels_in_words(used["labels"]))
    if used["batches"] is not None:
        count = used["batches"]["count"]
        parts.append(f"took off the differences between {count} batches{_of(used['batches']['column'])}")
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
    return parts


def _labels_in_words(labels: dict[str, Any]) -> str:
    what = {
        "classes": f"used the labels{_of(labels['column'])}: {labels['classes']} classes",
        "numbers": f"used the numbers{_of(labels['column'])} as target",
        "several": "used several targets",
    }[labels["kind"]]
    if labels["labelled"] == labels["samples"]:
        return what
    return f"{what}, known for {labels['labelled']:,} of {labels['samples']:,} samples"


def _of(column: str | None) -> str:
    return "" if column is None else f" of column '{column}'"


def _pairs(count: int, kind: str) -> str:
    return f"{count:,} {kind}-link pair{'s' * (count != 1)}"
