"""How y is read: classes, numbers, several targets, or times to an event."""

from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_consistent_length

from eigensieve._types import Array, BoolArray, FloatArray
from eigensieve.estimators.base import warn_user
from eigensieve.qalpha import UNLABELLED, as_values, marked_labels, missing_labels, read_labels
from eigensieve.sieve import Target

Kind = Literal["auto", "classes", "numbers", "ignore"]

_FEW_VALUES = 20  # whole numbers with no more distinct values than this are classes
_SHARE = 0.4  # ... and so are those with fewer distinct values than this share of the samples
_CONFOUNDED = 0.9  # squared canonical correlation of labels and batches from which on a warning is due


def read_target(y: Any, n_samples: int, owner: str, kind: Kind = "auto", weights: FloatArray | None = None) -> Target:
    """Read y: classes of any type, numbers, or times to an event.

    None, NaN, and -1 among whole numbers mark a sample without label; but -1 and 1 alone are two values, and -1 is a
    number among numbers below it. Arrays or data frames of "event" and "time" hold times. "auto" takes numbers with
    fractions as numbers, and whole numbers of more than 20 distinct values with fewer than 2.5 samples per value;
    everything else as classes. `weights` say how much each sample is at risk of an event.
    """
    check_consistent_length(np.empty((n_samples, 0)), np.asarray(y))
    y = event_and_time(y, owner)
    if getattr(getattr(y, "dtype", None), "names", None):
        return _survival(np.asarray(y), owner, np.ones(n_samples) if weights is None else weights)
    table = _as_columns(y, owner)
    if table.shape[1] == 1:
        return _one_column(table[:, 0], owner, kind)
    names = list(getattr(y, "columns", range(table.shape[1])))
    targets = [_named_column(column, owner, kind, name) for column, name in zip(table.T, names, strict=True)]
    known = np.logical_and.reduce([target.known for target in targets])
    if np.count_nonzero(known) < 2:
        raise ValueError(
            f"{owner} needs at least 2 samples with a value in every column of y. Got fewer. Fill the gaps in y, or "
            "leave out the columns that have them."
        )
    for target, name in zip(targets, names, strict=True):
        if not np.ptp(target.columns[known], axis=0).any():
            raise ValueError(
                f"Column {name!r} of y of {owner} does not vary on the {np.count_nonzero(known)} samples with a value "
                "in every column. Fill the gaps in y, or leave this column out."
            )
    # Every target counts alike, however many classes it has.
    columns = np.hstack([target.columns / max(float(np.linalg.norm(target.columns)), 1.0) for target in targets])
    return Target(np.where(known[:, None], columns, 0.0), known, "several")


def _as_columns(y: Any, owner: str) -> Array:
    table = np.asarray(as_values(y))
    if table.dtype.kind == "S":
        raise TypeError(f"The labels y of {owner} are bytes. Decode them first, for example with y.astype(str).")
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"y of {owner} must have one row per sample and at least 1 column. Got shape {table.shape}.")
    return table


def _named_column(y: Array, owner: str, kind: Kind, name: Any) -> Target:
    try:
        return _one_column(y, owner, kind)
    except ValueError as error:
        raise ValueError(f"Column {name!r} of y: {error}") from None


def _one_column(y: Array, owner: str, kind: Kind) -> Target:
    known = ~missing_labels(y)
    numbers = _as_numbers(y[known])
    if numbers is not None and not np.isfinite(numbers).all():
        raise ValueError(f"y of {owner} contains infinity. Replace it, or mark the sample as unlabelled with NaN.")
    if kind == "numbers" and numbers is None:
        raise ValueError(
            f"supervision='numbers' of {owner} needs numbers in y. Got {y[known].tolist()[0]!r}. Use "
            "supervision='classes' for names."
        )
    if numbers is not None and len(numbers) and _whole(numbers) and numbers.min() == UNLABELLED:
        marked = marked_labels(y, known)
        numbers, known = numbers[~marked[known]], known & ~marked
    if numbers is not None and (kind == "numbers" or (kind == "auto" and _continuous(numbers))):
        return _numbers(numbers, known, owner)
    labels = read_labels(y, len(y), owner, lone_samples=True)
    known = labels.codes >= 0
    columns = np.zeros((len(y), len(labels.classes)))
    columns[known, labels.codes[known]] = 1.0
    return Target(columns, known, "classes", labels.classes)


def _as_numbers(y: Array) -> FloatArray | None:
    """The values as float64 where all of them are numbers, None otherwise."""
    if y.dtype.kind in "iuf":
        return y.astype(np.float64)
    if y.dtype == object and len(y) and all(isinstance(v, Real) and not isinstance(v, bool) for v in y):
        return y.astype(np.float64)
    return None


def _whole(numbers: FloatArray) -> bool:
    return bool((numbers == np.round(numbers)).all())


def _continuous(numbers: FloatArray) -> bool:
    if not _whole(numbers):
        return True
    distinct = len(np.unique(numbers))
    return distinct > _FEW_VALUES and distinct > _SHARE * len(numbers)


def _numbers(numbers: FloatArray, known: BoolArray, owner: str) -> Target:
    if len(np.unique(numbers)) < 2:
        raise ValueError(f"y of {owner} does not vary: all {len(numbers)} known values are the same. Leave y out.")
    numbers = numbers / np.abs(numbers).max()  # squares of huge numbers would overflow, those of tiny ones vanish
    columns = np.zeros((len(known), 1))
    columns[known, 0] = (numbers - numbers.mean()) / numbers.std()
    return Target(columns, known, "numbers")


def event_and_time(y: Any, owner: str) -> Any:
    """Return a frame's columns "event" (false and true, or 0 and 1) and "time" as a structured array; others as is."""
    if set(getattr(y, "columns", ())) != {"event", "time"}:
        return y
    event, time = np.asarray(y["event"]), np.asarray(y["time"])
    if not np.isin(event, (0, 1)).all():
        raise ValueError(f"The column 'event' in y of {owner} must hold 0 and 1, or False and True.")
    if time.dtype.kind not in "iuf":
        raise ValueError(f"The column 'time' in y of {owner} must hold numbers. Got {time.dtype}; convert it first.")
    found = np.empty(len(event), dtype=[("event", bool), ("time", np.float64)])
    found["event"], found["time"] = event, time
    return found


def _survival(y: Array, owner: str, weights: FloatArray) -> Target:
    """Return the martingale residuals of the null Cox model: event minus cumulative hazard (Nelson and Aalen). The Cox
    score test of a feature m is its inner product with them."""
    names = y.dtype.names or ()
    if len(names) != 2 or y.dtype[0].kind != "b" or y.dtype[1].kind not in "iuf":
        raise ValueError(
            f"y of {owner} must have two fields if it is a structured array: event (bool) and time (a number). Got "
            f"{y.dtype}. Make it with numpy.array(list(zip(event, time)), dtype=[('event', bool), ('time', float)])."
        )
    event, time = y[names[0]], y[names[1]].astype(np.float64)
    if not np.isfinite(time).all() or (time < 0).any():
        raise ValueError(f"The times in y of {owner} must be finite and not negative. Leave out such samples.")
    if np.count_nonzero(event & (weights > 0)) < 2:
        raise ValueError(f"y of {owner} must have at least 2 samples with an event. Got {np.count_nonzero(event)}.")
    times, places = np.unique(time, return_inverse=True)
    events = np.bincount(places, weights=event * weights, minlength=len(times))
    at_risk = np.cumsum(np.bincount(places, weights=weights, minlength=len(times))[::-1])[::-1]
    hazard = np.divide(events, at_risk, out=np.zeros(len(times)), where=at_risk > 0)
    residuals = event - np.cumsum(hazard)[places]
    return Target((residuals / residuals.std())[:, None], np.ones(len(y), dtype=bool), "survival")


def check_confounding(target: Target, batches: FloatArray) -> None:
    """Refuse labels that the batches determine, and warn about those that they nearly determine."""
    smallest, largest = shared_with_batches(target, batches)
    if smallest > 1.0 - 1e-6:
        raise ValueError(
            "The 'batches' parameter of SieveSelector.fit coincides with y: every difference that y makes is a "
            "difference between batches, so nothing can tell them apart. Leave out batches, or y."
        )
    if largest > _CONFOUNDED:
        warn_user(
            f"y and batches are confounded: the batches explain {largest:.0%} of a difference that y makes. What "
            "is left after the batches are taken off says little about it. Read the selection with care."
        )


def shared_with_batches(target: Target, batches: FloatArray) -> tuple[float, float]:
    """Return the smallest and largest squared canonical correlation of y with the batches; at 1 nothing tells them
    apart."""
    T = target.basis()
    among = batches[target.known]
    vectors, lengths, _ = np.linalg.svd(among - among.mean(axis=0), full_matrices=False)
    shares = np.linalg.svd(T[target.known].T @ vectors[:, lengths > 1e-8], compute_uv=False) ** 2
    smallest = 0.0 if len(shares) < T.shape[1] else float(shares.min())
    return smallest, float(shares.max(initial=0.0))
