"""The samples that differ: those that coincide are one, with the sum of their weights, and weight 0 is left out."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigensieve._types import Array, FloatArray, IntArray
from eigensieve.data import DataMatrix, first_of_equals
from eigensieve.sieve.target import Target
from eigensieve.sieve.unwanted import Unwanted

_FEWEST = 4


@dataclass(frozen=True)
class Nodes:
    """Which samples stand for all."""

    kept: IntArray  # the samples that are kept, increasing
    place: IntArray  # the node of every sample; -1 for weight 0
    weights: FloatArray | None  # with mean 1; None if all are equal

    @property
    def trivial(self) -> bool:
        """Whether every sample is a node of its own."""
        return len(self.kept) == len(self.place)

    def of_data(self, raw: DataMatrix) -> DataMatrix:
        """Return the nodes' values, in memory."""
        found, shared = raw.samples(self.kept), raw.shared
        for name in ("names", "progress", "exponents", "passes"):
            setattr(found.shared, name, getattr(shared, name))
        return found

    def of_unwanted(self, unwanted: Unwanted) -> Unwanted:
        batches, covariates, must = unwanted.batches, unwanted.covariates, unwanted.must
        return replace(
            unwanted,
            batches=None if batches is None else batches[self.kept],
            covariates=None if covariates is None else covariates[self.kept],
            must=self.of_pairs(must),
        )

    def of_pairs(self, pairs: Any) -> Any:
        """Return pairs of samples as pairs of nodes, without those of one node or of weight 0."""
        if pairs is None:
            return None
        found = self.place[pairs]
        return found[(found >= 0).all(axis=1) & (found[:, 0] != found[:, 1])]

    def spread(self, rows: Array) -> Array:
        """Return one row per sample from one per node; zeros for samples of weight 0."""
        return np.where(self.place[:, None] >= 0, rows[self.place], 0.0)


def distinct_samples(
    raw: DataMatrix,
    target: Target | None,
    unwanted: Unwanted,
    donors: IntArray | None,
    weights: FloatArray | None,
    *,
    search: bool = True,
) -> Nodes:
    """Find samples that coincide in values and in all else known of them: integer weights are then repeated samples.
    Only data in memory is searched."""
    own = np.arange(raw.n_samples)
    w = np.ones(len(own)) if weights is None else weights
    first = first_of_equals(raw) if search else own
    if (first != own).any():
        known = [unwanted.batches, unwanted.covariates, donors]
        known += [] if target is None else [target.columns, target.known]
        parts = [first[:, None], *(part.reshape(len(part), -1) for part in known if part is not None)]
        _, firsts, back = np.unique(np.hstack(parts), axis=0, return_index=True, return_inverse=True)
        first = firsts[back.reshape(-1)]
        first = first if len(np.unique(first[w > 0])) >= _FEWEST else own
    total = np.bincount(first, weights=w, minlength=len(own))
    kept = np.flatnonzero((first == own) & (total > 0))
    place = np.full(len(own), -1)
    place[kept] = np.arange(len(kept))
    place = np.where(w > 0, place[first], -1)
    found = total[kept] / total[kept].mean()
    return Nodes(kept, place, None if np.ptp(found) <= 1e-12 else found)
