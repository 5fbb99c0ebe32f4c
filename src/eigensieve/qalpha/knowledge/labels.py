"""Labels: which samples are known to belong together, and the embedding that they span."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from eigensieve._types import Array

UNLABELLED = -1


@dataclass(frozen=True)
class Labels:
    """Class of every sample.

    Attributes
    ----------
    codes : ndarray of int of shape (n_samples,)
        Number of the class, or -1 if it is not known.
    classes : ndarray of shape (n_classes,)
        The user's names of the classes.
    """

    codes: Array
    classes: Array

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
    """Read labels of any kind. All estimators that number classes do it here.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Numbers, strings or booleans. In arrays of objects the number -1 may stand beside strings.
    n_samples : int
    owner : str
        Name of the estimator, for messages.
    some_unlabelled : bool, default=True
        Whether -1 marks a sample without label (scikit-learn's convention). Otherwise -1 is a class like any other.
    lone_samples : bool, default=False
        Whether a class may have one sample only.
    instead : str
        What to do without classes, for messages.
    """
    y = column_or_1d(y, warn=True)
    check_consistent_length(np.empty((n_samples, 0)), y)
    known = _known(y) if some_unlabelled else np.ones(len(y), dtype=bool)
    named = y[known]
    if named.dtype == object and all(isinstance(label, str) for label in named):
        named = named.astype(str)
    if len(named) and type_of_target(named, input_name="y").startswith(("continuous", "unknown")):
        raise ValueError(
            f"Unknown label type: {owner} needs the classes of the samples in y, numbers without fraction or strings. "
            f"Got {type_of_target(named)} values instead. With a target that is no class, {instead}."
        )
    classes, inverse, counts = np.unique(named, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        marked = " (-1 marks a sample without label; if -1 is a class, rename it)" if not known.all() else ""
        raise ValueError(
            f"{owner} needs samples of at least 2 classes in y. Got {len(classes)} class{'es' * (len(classes) != 1)} "
            f"instead{marked}. Without labels to tell apart, {instead}."
        )
    if known.all() and counts.min() < 2 and not lone_samples:
        raise ValueError(
            f"{owner} needs at least 2 samples of every class. Got 1 of class {classes[counts.argmin()]!r} instead: "
            "one sample says nothing about its class. Leave it out, merge the class with another, or mark it -1 (no "
            "label)."
        )
    codes = np.full(n_samples, UNLABELLED)
    codes[known] = inverse.reshape(-1)
    return Labels(codes, classes)


def _known(y: Array) -> Array:
    if y.dtype == object:
        return np.array([not (isinstance(label, Integral) and label == UNLABELLED) for label in y], dtype=bool)
    return np.asarray(y != UNLABELLED) if y.dtype.kind in "if" else np.ones(len(y), dtype=bool)


def class_span(codes: Array) -> Array:
    """Orthonormal basis (samples, classes - 1) of the centred class indicators on the labelled rows, 0 elsewhere.

    Notes
    -----
    m'QQ'm is then the part of a feature's sum of squares that the classes explain. The basis is orthonormal, so a class
    counts by what it explains and not by the length of its indicator. With two classes their sizes do not matter to Q.
    """
    known = codes != UNLABELLED
    indicators = (codes[known, None] == np.unique(codes[known])).astype(np.float64)
    indicators -= indicators.mean(axis=0)
    basis, _, _ = np.linalg.svd(indicators, full_matrices=False)
    independent = basis[:, : indicators.shape[1] - 1]
    span = np.zeros((len(codes), independent.shape[1]))
    span[known] = independent
    return span
