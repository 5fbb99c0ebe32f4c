"""Labels: which samples are known to belong together, and the embedding that they span."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from eigensieve._types import Array, BoolArray, FloatArray, IntArray

UNLABELLED = -1


@dataclass(frozen=True)
class Labels:
    """Class of every sample."""

    codes: IntArray  # number of the class, or -1 if it is not known
    classes: Array  # the user's names of the classes

    @property
    def complete(self) -> bool:
        """Whether every sample has a label."""
        return bool((self.codes != UNLABELLED).all())


def read_labels(
    y: Any,
    n_samples: int,
    owner: str,
    *,
    some_unlabelled: bool = True,
    lone_samples: bool = False,
    instead: str = "use supervision='ignore'",
) -> Labels:
    """Read labels of any kind. All estimators that number classes do it here. None, NaN and -1 mark a sample without
    label, but -1 and 1 alone are two classes. With ``some_unlabelled=False`` -1 is a class, and None and NaN are
    refused. With `lone_samples` a class may have one sample. `instead` says in messages what to do without classes."""
    y = column_or_1d(as_values(y), warn=True)
    check_consistent_length(np.empty((n_samples, 0)), y)
    known = ~missing_labels(y)
    if not some_unlabelled and not known.all():
        raise ValueError(
            f"{owner} needs a label for every sample. Got NaN or None for {np.count_nonzero(~known)} of {n_samples} "
            f"samples in y (the first: sample {np.flatnonzero(~known)[0]}). Leave these samples out, or {instead}."
        )
    if some_unlabelled:
        known &= ~marked_labels(y, known)
    named = y[known]
    if named.dtype == object and len(named) and all(isinstance(v, Real) and not isinstance(v, bool) for v in named):
        numbers = named.astype(np.float64)  # which would merge large whole numbers
        named = numbers if all(n == v for n, v in zip(numbers, named, strict=True)) else named.astype(str)
    for kind in (str, bool):
        if named.dtype == object and all(isinstance(label, kind) for label in named):
            named = named.astype(kind)
    if len(named) and type_of_target(named, input_name="y").startswith(("continuous", "unknown")):
        raise ValueError(
            f"Unknown label type: {owner} needs the classes of the samples in y, numbers without fraction or strings. "
            f"Got {type_of_target(named)} values instead. With a target that is no class, {instead}."
        )
    classes, inverse, counts = np.unique(named, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        marked = "" if known.all() else " (None, NaN and -1 mark a sample without label; if -1 is a class, rename it)"
        raise ValueError(
            f"{owner} needs samples of at least 2 classes in y. Got {len(classes)} class{'es' * (len(classes) != 1)} "
            f"instead{marked}. Without labels to tell apart, {instead}."
        )
    if known.all() and counts.min() < 2 and not lone_samples:
        lone = classes.tolist()[counts.argmin()]
        raise ValueError(
            f"{owner} needs at least 2 samples of every class. Got 1 of class {lone!r} instead: "
            "one sample does not show how its class varies. Leave it out, merge its class with another, or mark it -1."
        )
    if known.all() and counts.max() < 2:
        raise ValueError(
            f"{owner} needs a class with at least 2 samples in y. Got {n_samples} samples of {n_samples} classes "
            f"instead: such labels tell nothing about the features. If y names the samples, leave it out, or {instead}."
        )
    codes = np.full(n_samples, UNLABELLED)
    codes[known] = inverse.reshape(-1)
    return Labels(codes, classes)


def as_values(given: Any) -> Any:
    """Return the user's values. A list of words and gaps becomes an array of objects: numpy would spell gaps out."""
    values = given.to_numpy() if hasattr(given, "to_numpy") else given
    if isinstance(values, list | tuple) and np.ndim(values) == 1 and np.asarray(values).dtype.kind == "U":
        return np.asarray(values, dtype=object)
    return values


def missing_labels(y: Array) -> BoolArray:
    """Labels that are None, NaN or pandas' NA."""
    if y.dtype == object:
        return np.array([v is None or type(v).__name__ in ("NAType", "NaTType") or v != v for v in y], dtype=bool)
    return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)


def marked_labels(y: Array, known: Array) -> BoolArray:
    """Labels that are the number -1, unless -1 and 1 are the only ones: then they are two classes."""
    if y.dtype == object:
        marks = np.array([isinstance(v, Real) and not isinstance(v, bool) and v == UNLABELLED for v in y], dtype=bool)
    elif y.dtype.kind in "if":
        marks = np.asarray(y == UNLABELLED)
    else:
        return np.zeros(len(y), dtype=bool)
    others = y[known & ~marks]
    two_classes = len(others) and all(isinstance(v, Real | np.number) and v == 1 for v in others)
    return np.zeros(len(y), dtype=bool) if two_classes else marks


def class_span(codes: IntArray) -> FloatArray:
    """Orthonormal basis (samples, classes - 1) of the centred class indicators on the labelled rows, 0 elsewhere.
    m'QQ'm is the part of a feature's sum of squares that the classes explain, whatever their sizes."""
    known = codes != UNLABELLED
    basis = np.linalg.svd(class_indicators(codes[known]), full_matrices=False)[0]
    span = np.zeros((len(codes), basis.shape[1] - 1))
    span[known] = basis[:, :-1]
    return span


def class_indicators(codes: IntArray) -> FloatArray:
    """The centred indicators of all classes, in columns of unit norm."""
    indicators = (codes[:, None] == np.unique(codes)).astype(np.float64)
    indicators -= indicators.mean(axis=0)
    return indicators / np.linalg.norm(indicators, axis=0)
