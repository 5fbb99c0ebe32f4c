"""Data without a low-rank part: known unwanted variation is subtracted, and the stored values stay as they are.

The corrected matrix is M - K L' (features x samples). Batch means are of this form, and so are directions projected out
of the feature space. Every product follows from one with M and one with K or L, so sparse data is never densified.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.data.matrix import DataMatrix, DerivedData, SumFunction
from eigensieve.data.passes import Block, BlockFunction, DerivedBlock, Sweep

_GONE = 100  # a column of which less than this many roundings is left counts as explained away


def corrected_data(data: DataMatrix, K: FloatArray, L: FloatArray) -> tuple["CorrectedData", FloatArray]:
    """Return M - K L' with columns of unit norm again, and their squared norms before; 0 where only rounding is left. K
    has one row per feature, L one per sample. If standardised data is corrected already, both corrections hold."""
    base = data
    if isinstance(data, CorrectedData):
        base, K, L = data.base, np.hstack([data.K, K]), np.hstack([data.L, L])
    found = CorrectedData(base, K, L)
    return _unit_norm(found, _energies(found), _energies(data) if data is not base else np.ones(base.n_features))


def without_sample_directions(
    data: DataMatrix, U: FloatArray, varies: FloatArray
) -> tuple["CorrectedData", FloatArray]:
    """Project features off orthonormal U: return M (I - U U'), columns of unit norm, and how much was left of each. By
    Pythagoras |m - UU'm|^2 = |m|^2 - |U'm|^2, so there is one pass, and not another one for the norms. Columns that do
    not vary are zero."""
    K = data.project(U).astype(np.float64)
    return _unit_norm(CorrectedData(data, K, U), varies - np.sum(K**2, axis=1), np.ones(data.n_features))


def _energies(data: DataMatrix) -> FloatArray:
    ones = np.ones(data.n_samples)
    return np.concatenate(data.map_blocks(lambda block: block.squares(ones)))


def _unit_norm(found: "CorrectedData", left: FloatArray, before: FloatArray) -> tuple["CorrectedData", FloatArray]:
    """Make all columns unit norm, or zero where only rounding is left."""
    kept = left > _GONE * float(np.finfo(found.dtype).eps) * np.maximum(before, np.finfo(np.float64).tiny)
    factor = np.where(kept, 1.0 / np.sqrt(np.where(kept, left, 1.0)), 0.0)
    return found.moved(None, factor), np.where(kept, left, 0.0)


def without_feature_directions(data: DataMatrix, V: FloatArray) -> tuple["CorrectedData", FloatArray]:
    """Project samples off orthonormal V: return (I - V V') M, columns of unit norm, and how much was left of each."""
    return corrected_data(data, V, data.combine(V))


class CorrectedData(DerivedData):
    """M - K L', seen through the same contract as any other data. K has one row per feature, L one per sample."""

    def __init__(self, base: DataMatrix, K: FloatArray, L: FloatArray) -> None:
        super().__init__(base)
        self.K = np.ascontiguousarray(K, dtype=np.float64)
        self.L = np.ascontiguousarray(L, dtype=np.float64)

    def moved(self, offset: FloatArray | None, factor: FloatArray) -> "CorrectedData":
        K, L = self.K, self.L
        if offset is not None:  # one more direction: a column that is constant in the base has no centre to move
            K, L = np.column_stack([K, offset]), np.column_stack([L, np.ones(self.n_samples)])
        return CorrectedData(self.base.moved(None, factor), K * factor[:, None], L)

    def samples(self, rows: IntArray) -> "CorrectedData":
        return CorrectedData(self.base.samples(rows), self.K, self.L[rows])

    def derive(self) -> Callable[[Block], Block]:
        return partial(CorrectedBlock, K=self.K, L=self.L)

    def take(self, indices: IntArray | slice) -> FloatArray:
        wanted = np.arange(self.n_features)[indices]
        return self.base.take(wanted) - (self.L @ self.K[wanted].T).astype(self.dtype)

    def map_sums(self, V: FloatArray, weights: FloatArray, fn: SumFunction) -> FloatArray:
        K, turned, weighted = self.K, self.L.T @ V, weights[:, None] * self.L
        inner, own = self.L.T @ weighted, V.shape[1]

        def of_base(here: slice, T: FloatArray, energy: FloatArray) -> FloatArray:
            cross = T[:, own:].astype(np.float64)  # one product for the columns of V and those of the correction
            energy = energy + np.sum((K[here] @ inner - 2.0 * cross) * K[here], axis=1)
            return fn(here, T[:, :own] - (K[here] @ turned).astype(T.dtype), energy)

        return self.base.map_sums(np.hstack([V, weighted]), weights, of_base)

    def sweep(
        self, V: FloatArray | None, fn: BlockFunction, state: Sequence[FloatArray] = (), *, donate: bool = False
    ) -> Sweep:
        step = partial(_on_sweep, fn, None if V is None else self.L.T @ V)
        nothing = None if V is None else np.empty((0, V.shape[1]), dtype=self.dtype)
        _, W, total = fn(nothing, *(np.empty((0, *array.shape[1:]), array.dtype) for array in state))
        found = self.base.sweep(V, step, (self.K, *state))  # nothing is donated: K must not be written over
        own = 0 if total is None else total.size
        back, sums = found.back, found.total
        if back is not None:
            assert W is not None and sums is not None
            back = back - self.L @ sums[own:].reshape(self.K.shape[1], W.shape[1])
        return Sweep(found.state, back, None if total is None or sums is None else sums[:own].reshape(total.shape))

    def gram(self, weights: FloatArray) -> FloatArray:
        weighted = weights[:, None] * self.K
        cross = self.base.combine(weighted) @ self.L.T
        return self.base.gram(weights) - cross - cross.T + self.L @ (self.K.T @ weighted) @ self.L.T


class CorrectedBlock(DerivedBlock):
    """A block of M - K L': see :class:`~eigensieve.data.passes.Block` for its methods. K is that of all features."""

    def __init__(self, base: Block, K: FloatArray, L: FloatArray) -> None:
        super().__init__(base)
        self.K, self.L = K[base.start : base.stop], L

    def forward(self, V: FloatArray) -> FloatArray:
        product = self.base.forward(V)
        return product - (self.K @ (self.L.T @ V)).astype(product.dtype)

    def back(self, W: FloatArray) -> FloatArray:
        product = self.base.back(W)
        return product - (self.L @ (self.K.T @ W)).astype(product.dtype)

    def gram(self, weights: FloatArray) -> FloatArray:
        weighted = weights[:, None] * self.K
        cross = self.base.back(weighted) @ self.L.T
        return self.base.gram(weights) - cross - cross.T + self.L @ (self.K.T @ weighted) @ self.L.T

    def quadratic(self, S: Any) -> FloatArray:
        return self._corrected(self.base.quadratic(S), np.asarray(S @ self.L))

    def squares(self, weights: FloatArray) -> FloatArray:
        return self._corrected(self.base.squares(weights), weights[:, None] * self.L)

    def _corrected(self, energy: FloatArray, SL: FloatArray) -> FloatArray:
        """m'Sm for m - L k, from m'Sm and S L."""
        cross = self.base.forward(SL).astype(np.float64)
        return energy + np.sum((self.K @ (self.L.T @ SL) - 2.0 * cross) * self.K, axis=1)

    def toarray(self) -> FloatArray:
        Z = self.base.toarray()
        return Z - (self.L @ self.K.T).astype(Z.dtype)


def _on_sweep(
    fn: BlockFunction, turned: FloatArray | None, T: FloatArray | None, K: FloatArray, *state: FloatArray
) -> Any:
    """Apply a block function of corrected projections to those of M; its small array ends with the sum of K_b' W_b."""
    if T is not None and turned is not None:
        T = T - (K @ turned).astype(T.dtype)
    new, W, total = fn(T, *state)
    sums = [np.ravel(part) for part in (total, None if W is None else K.T @ W) if part is not None]
    return new, W, np.concatenate(sums) if sums else None
