"""What y says about the samples: classes, numbers or several targets, as one orthonormal basis."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from eigensieve._types import Array
from eigensieve.sieve.unwanted import multiplied_rows


@dataclass(frozen=True)
class Target:
    """One or several columns of y."""

    columns: Array  # samples x columns: class indicators, or curves of numbers; 0 where y is not known
    known: Array  # samples whose y is known, in every column of y
    kind: Literal["classes", "numbers", "several", "survival"]
    classes: Array | None = None  # the names of the classes, for one column of classes

    @property
    def complete(self) -> bool:
        return bool(self.known.all())

    @property
    def codes(self) -> Array | None:
        """The number of each sample's class, -1 where it is not known; None unless y is one column of classes."""
        return np.where(self.known, self.columns.argmax(axis=1), -1) if self.kind == "classes" else None

    def basis(self, without: Array | None = None, roots: Array | None = None) -> Array:
        """Return T: an orthonormal basis of the centred columns on the known samples, 0 elsewhere. The share of y in
        the orthonormal directions `without`, such as batches, is not counted. `roots` of the samples' weights multiply
        the rows of both."""
        r = None if roots is None else roots[self.known]
        here = centred = multiplied_rows(self.columns[self.known], r)
        if without is not None and without.shape[1]:
            some = without[self.known]
            U = np.linalg.qr(multiplied_rows(some if r is None else some / r[:, None], r))[0]
            here = here - U @ (U.T @ here)
        vectors, lengths, _ = np.linalg.svd(here, full_matrices=False)
        vectors = vectors[:, lengths > 1e-7 * float(np.linalg.norm(centred, axis=0).max())]
        T = np.zeros((len(self.columns), vectors.shape[1]))
        T[self.known] = vectors
        return T

    def among(self, rows: Array) -> "Target":
        """Return the target of some samples."""
        return replace(self, columns=self.columns[rows], known=self.known[rows])
