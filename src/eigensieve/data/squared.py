"""The squares of features: structure in the distance of a feature from its mean."""

from collections.abc import Callable
from functools import partial

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data.dense import DenseBlock
from eigensieve.data.gaps import Gaps
from eigensieve.data.matrix import DerivedData
from eigensieve.data.passes import Block


def squares_of(Z: FloatArray, present: BoolArray | None = None, roots: FloatArray | None = None) -> FloatArray:
    """Return z^2 per centred column of unit norm, with its mean and its regression on z removed, at unit norm. It is 0
    where nothing is left, and where no value is `present`. `roots` are the roots of the samples' weights, with which Z
    is multiplied."""
    S = Z.astype(np.float64) ** 2
    if present is None and roots is None:
        S -= S.mean(axis=0)
    else:
        r = np.ones((len(Z), 1)) if roots is None else roots[:, None]
        ones = np.broadcast_to(r, S.shape) if present is None else np.where(present, r, 0.0)
        S *= ones / r**2
        S -= ones * (np.sum(S * ones, axis=0) / np.maximum(np.sum(ones**2, axis=0), np.finfo(np.float64).tiny))
    S -= Z * np.einsum("ti,ti->i", S, Z)
    norms = np.linalg.norm(S, axis=0)
    # The square of a feature with two values is a line in the feature: nothing is left but rounding.
    kept = norms > 1e-6 / len(Z)
    return np.divide(S, norms, out=np.zeros_like(S), where=kept)


class SquaredData(DerivedData):
    """The squares of all features of standardised data, for scores and their null, dense one block at a time."""

    def derive(self) -> Callable[[Block], Block]:
        return partial(_squared, gaps=self.shared.gaps, roots=self.roots)

    def take(self, indices: IntArray | slice) -> FloatArray:
        gaps = self.shared.gaps
        return squares_of(self.base.take(indices), None if gaps is None else gaps.present(indices), self.roots)


def _squared(block: Block, gaps: Gaps | None, roots: FloatArray | None) -> Block:
    present = None if gaps is None else gaps.present(slice(block.start, block.stop))
    return DenseBlock(block.start, block.stop, squares_of(block.toarray(), present, roots))
