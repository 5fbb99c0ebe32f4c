"""What the head of a C file says about its inputs and outputs: the names of features and classes, raw values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eigensieve._types import Array

_ALL_NAMED = 1_000
"""With more features than this, only those that are read are listed."""


@dataclass(frozen=True, eq=False)
class Interface:
    """What goes into an exported machine, and what comes out.

    Parameters
    ----------
    features : sequence of str, optional
        Names of the features, in the order of training.
    classes : sequence, optional
        The classes, in the order of their numbers. None for a regression.
    mean, scale : ndarray of shape (n_features,), optional
        The machine was fitted on (value - mean) / scale. The exported one then takes the raw values.
    """

    features: Sequence[Any] | None = None
    classes: Sequence[Any] | None = None
    mean: Array | None = None
    scale: Array | None = None

    def listing(self, read: Array) -> str:
        """Return lines of a C comment with the names of features and classes; `read` are the features in use."""
        lines = []
        if self.features is not None:
            everything = len(self.features) <= _ALL_NAMED
            shown, used = range(len(self.features)) if everything else read.tolist(), set(read.tolist())
            lines += ["", "features" if everything else "features that are read"]
            lines += [f"  x[{i}]  {quoted(self.features[i])}{'' if i in used else '  (not read)'}" for i in shown]
        if self.classes is not None:
            lines += ["", "classes"]
            lines += [f"  {number}  {quoted(label)}" for number, label in enumerate(self.classes)]
        return "".join(f"\n * {line}".rstrip() for line in lines)


def quoted(name: object) -> str:
    """Return a name in quotes that cannot end a C comment, begin another one, or break the line."""
    text = "".join(letter if letter.isprintable() else "?" for letter in str(name))
    return '"' + re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", text) + '"'
