"""Data computed from the blocks of other data: samples with weights, without known unwanted variation, and squares.

With m a standardised feature, the adjusted feature is r m - L k: r holds the roots of the samples' weights, k one row
of K. Products over samples are then weighted sums. Batch means are of the form K L', and so are directions projected
out of the feature space. Every product follows from one with M and one with K or L, so sparse data is never densified.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array, diags_array

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data.dense import DenseBlock
from eigensieve.data.matrix import DataMatrix, SumFunction
from eigensieve.data.memory import Gaps
from eigensieve.data.passes import Block, BlockFunction, Sweep
from eigensieve.data.stats import BlockMoments, ColumnStats

Result = TypeVar("Result")

_GONE = 100  # a column of which less than this many roundings is left counts as explained away


def corrected_data(data: DataMatrix, K: FloatArray, L: FloatArray) -> tuple["AdjustedData", FloatArray]:
    """Return M - K L' with columns of unit norm again, and their squared norms before; 0 where only rounding is left. K
    has one row per feature, L one per sample. If standardised data is corrected already, both corrections hold."""
    found = _less(data, K, L)
    corrected = isinstance(data, AdjustedData) and data.K.size
    return _unit_norm(found, _energies(found), _energies(data) if corrected else np.ones(data.n_features))


def without_sample_directions(data: DataMatrix, U: FloatArray, varies: FloatArray) -> tuple["AdjustedData", FloatArray]:
    """Project features off orthonormal U: return M (I - U U'), columns of unit norm, and how much was left of each. By
    Pythagoras |m - UU'm|^2 = |m|^2 - |U'm|^2, so there is one pass, and not another one for the norms. Columns that do
    not vary are zero."""
    K = data.project(U).astype(np.float64)
    return _unit_norm(_less(data, K, U), varies - np.sum(K**2, axis=1), np.ones(data.n_features))


def without_feature_directions(data: DataMatrix, V: FloatArray) -> tuple["AdjustedData", FloatArray]:
    """Project samples off orthonormal V: return (I - V V') M, columns of unit norm, and how much was left of each."""
    return corrected_data(data, V, data.combine(V))


def _less(data: DataMatrix, K: FloatArray, L: FloatArray) -> "AdjustedData":
    if isinstance(data, AdjustedData):
        return AdjustedData(data.base, data.roots, np.hstack([data.K, K]), np.hstack([data.L, L]))
    return AdjustedData(data, None, K, L)


def _energies(data: DataMatrix) -> FloatArray:
    ones = np.ones(data.n_samples)
    return np.concatenate(data.map_blocks(lambda block: block.squares(ones)))


def _unit_norm(found: "AdjustedData", left: FloatArray, before: FloatArray) -> tuple["AdjustedData", FloatArray]:
    """Make all columns unit norm, or zero where only rounding is left."""
    kept = left > _GONE * float(np.finfo(found.dtype).eps) * np.maximum(before, np.finfo(np.float64).tiny)
    factor = np.where(kept, 1.0 / np.sqrt(np.where(kept, left, 1.0)), 0.0)
    return found.moved(None, factor), np.where(kept, left, 0.0)


def weighted_stats(data: DataMatrix, weights: FloatArray) -> ColumnStats:
    """Return mean and norm of the raw columns with weights: sqrt(sum_t w_t (x_t - mean)^2). The weights have mean 1."""
    stats, total, roots = data.stats(), float(weights.sum()), np.sqrt(weights)
    standard = AdjustedData(data.standardized("center"), roots)
    offset = standard.project(roots[:, None] / total)[:, 0].astype(np.float64)
    norm = np.asarray(stats.centered_norm) * np.sqrt(np.maximum(_energies(standard) - total * offset**2, 0.0))
    mean = np.asarray(stats.mean) + offset * np.asarray(stats.centered_norm)
    return ColumnStats(mean, norm, stats.finite, stats.constant, data.n_samples)


def weighted_standard(data: DataMatrix, stats: ColumnStats, weights: FloatArray) -> "AdjustedData":
    """Return weighted data whose columns are centred, with unit norm, by the statistics of :func:`weighted_stats`."""
    scale = np.divide(1.0, stats.centered_norm, out=np.zeros(data.n_features), where=~stats.constant)
    return AdjustedData(data.rescaled(stats.mean, scale, data.standardized("center").far), np.sqrt(weights))


class DerivedData(DataMatrix):
    """Data computed from the blocks of other data; one count of passes, one set of raw statistics, one progress."""

    def __init__(self, base: DataMatrix) -> None:
        super().__init__(base.n_samples, base.n_features, base.dtype)
        self.base, self.shared, self.roots = base, base.shared, base.roots

    @abstractmethod
    def derive(self) -> Callable[[Block], Block]:
        """Return how a block of this data is made of one of the base; it may travel, so it must not hold the data."""

    def block(self, start: int, stop: int) -> Block:
        return self.derive()(self.base.block(start, stop))

    def map_blocks(self, fn: Callable[[Block], Result]) -> list[Result]:
        return self.base.map_blocks(partial(_on_derived, fn, self.derive()))

    def stats(self) -> ColumnStats:
        return self.base.stats()

    def block_moments(self, start: int, stop: int) -> BlockMoments:
        return self.base.block_moments(start, stop)

    def block_size(self) -> int:
        return self.base.block_size()

    def inner(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.base.inner(A, B)

    def collect(self, A: FloatArray) -> FloatArray:
        return self.base.collect(A)

    def place(self, A: FloatArray) -> FloatArray:
        return self.base.place(A)


def _on_derived(fn: Callable[[Block], Result], derive: Callable[[Block], Block], block: Block) -> Result:
    return fn(derive(block))


class AdjustedData(DerivedData):
    """R M' - L K' (samples x features): K has one row per feature, L one per sample; R is diagonal, 1 without roots."""

    def __init__(
        self,
        base: DataMatrix,
        roots: FloatArray | None = None,
        K: FloatArray | None = None,
        L: FloatArray | None = None,
    ) -> None:
        super().__init__(base)
        self.roots = roots
        self.K = np.zeros((base.n_features, 0)) if K is None else np.ascontiguousarray(K, dtype=np.float64)
        self.L = np.zeros((base.n_samples, 0)) if L is None else np.ascontiguousarray(L, dtype=np.float64)

    def moved(self, offset: FloatArray | None, factor: FloatArray) -> "AdjustedData":
        K, L = self.K, self.L
        if offset is not None and K.size:  # a column that is constant in the base has no centre to move
            ones = np.ones(self.n_samples) if self.roots is None else self.roots
            K, L, offset = np.column_stack([K, offset]), np.column_stack([L, ones]), None
        return AdjustedData(self.base.moved(offset, factor), self.roots, K * factor[:, None], L)

    def samples(self, rows: IntArray) -> "AdjustedData":
        roots = None if self.roots is None else self.roots[rows]
        return AdjustedData(self.base.samples(rows), roots, self.K, self.L[rows])

    def derive(self) -> Callable[[Block], Block]:
        return partial(AdjustedBlock, roots=self.roots, K=self.K, L=self.L)

    def take(self, indices: IntArray | slice) -> FloatArray:
        wanted = np.arange(self.n_features)[indices]
        return _adjusted(self.base.take(wanted), self.roots, self.K[wanted], self.L)

    def map_sums(self, V: FloatArray, weights: FloatArray, fn: SumFunction) -> FloatArray:
        squared = weights if self.roots is None else weights * self.roots**2
        if not self.K.size:
            return self.base.map_sums(_times(self.roots, V), squared, fn)
        K, turned, weighted = self.K, self.L.T @ V, weights[:, None] * self.L
        inner, own = self.L.T @ weighted, V.shape[1]

        def of_base(here: slice, T: FloatArray, energy: FloatArray) -> FloatArray:
            cross = T[:, own:].astype(np.float64)  # one product for the columns of V and those of the correction
            energy = energy + np.sum((K[here] @ inner - 2.0 * cross) * K[here], axis=1)
            return fn(here, T[:, :own] - (K[here] @ turned).astype(T.dtype), energy)

        return self.base.map_sums(_times(self.roots, np.hstack([V, weighted])), squared, of_base)

    def sweep(
        self, V: FloatArray | None, fn: BlockFunction, state: Sequence[FloatArray] = (), *, donate: bool = False
    ) -> Sweep:
        turned, weighted = (None, None) if V is None else (self.L.T @ V, _times(self.roots, V))
        if not self.K.size:
            found = self.base.sweep(weighted, fn, state, donate=donate)
            return Sweep(found.state, None if found.back is None else _times(self.roots, found.back), found.total)
        nothing = None if V is None else np.empty((0, V.shape[1]), dtype=self.dtype)
        _, W, total = fn(nothing, *(np.empty((0, *array.shape[1:]), array.dtype) for array in state))
        # nothing is donated: K must not be written over
        found = self.base.sweep(weighted, partial(_on_sweep, fn, turned), (self.K, *state))
        own = 0 if total is None else total.size
        back, sums = found.back, found.total
        if back is not None:
            assert W is not None and sums is not None
            back = _times(self.roots, back) - self.L @ sums[own:].reshape(self.K.shape[1], W.shape[1])
        return Sweep(found.state, back, None if total is None or sums is None else sums[:own].reshape(total.shape))

    def gram(self, weights: FloatArray) -> FloatArray:
        found = self.base.gram(weights)
        if self.roots is not None:
            found = found * np.multiply.outer(self.roots, self.roots)
        if not self.K.size:
            return found
        weighted = weights[:, None] * self.K
        cross = _times(self.roots, self.base.combine(weighted)) @ self.L.T
        return found - cross - cross.T + self.L @ (self.K.T @ weighted) @ self.L.T


class AdjustedBlock:
    """A block of adjusted data: see :class:`~eigensieve.data.passes.Block` for its methods. `K` is of all features."""

    def __init__(self, base: Block, roots: FloatArray | None, K: FloatArray, L: FloatArray) -> None:
        self.base, self.start, self.stop = base, base.start, base.stop
        self.roots, self.K, self.L = roots, K[base.start : base.stop], L

    def forward(self, V: FloatArray) -> FloatArray:
        product = self.base.forward(_times(self.roots, V))
        return product - (self.K @ (self.L.T @ V)).astype(product.dtype) if self.K.size else product

    def back(self, W: FloatArray) -> FloatArray:
        product = _times(self.roots, self.base.back(W))
        return product - (self.L @ (self.K.T @ W)).astype(product.dtype) if self.K.size else product

    def add_back(self, W: FloatArray, values: FloatArray, shift: FloatArray) -> None:
        values += self.back(W)

    def gram(self, weights: FloatArray) -> FloatArray:
        Z = self.toarray()
        return (Z * weights) @ Z.T

    def grouped_sums(self, codes: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        Z = self.toarray()[codes >= 0].astype(np.float64)
        groups = np.eye(n_groups)[codes[codes >= 0]]
        return groups.T @ Z, np.sum(Z**2, axis=0), np.ones(Z.shape[1])

    def quadratic(self, S: csr_array) -> FloatArray:
        inner = S if self.roots is None else (diags_array(self.roots) @ S @ diags_array(self.roots)).tocsr()
        return self._corrected(self.base.quadratic(inner), lambda: np.asarray(S @ self.L))

    def squares(self, weights: FloatArray) -> FloatArray:
        squared = weights if self.roots is None else weights * self.roots**2
        return self._corrected(self.base.squares(squared), lambda: weights[:, None] * self.L)

    def _corrected(self, energy: FloatArray, product: Callable[[], FloatArray]) -> FloatArray:
        """m'Sm for r m - L k, from that of r m and the product S L."""
        if not self.K.size:
            return energy
        SL = product()
        cross = self.base.forward(_times(self.roots, SL)).astype(np.float64)
        return energy + np.sum((self.K @ (self.L.T @ SL) - 2.0 * cross) * self.K, axis=1)

    def toarray(self) -> FloatArray:
        return _adjusted(self.base.toarray(), self.roots, self.K, self.L)


def _times(roots: FloatArray | None, V: FloatArray) -> FloatArray:
    return V if roots is None else roots[:, None] * V


def _adjusted(Z: FloatArray, roots: FloatArray | None, K: FloatArray, L: FloatArray) -> FloatArray:
    Z = Z if roots is None else Z * roots[:, None].astype(Z.dtype)
    return Z - (L @ K.T).astype(Z.dtype) if K.size else Z


def _on_sweep(
    fn: BlockFunction, turned: FloatArray | None, T: FloatArray | None, K: FloatArray, *state: FloatArray
) -> Any:
    """Apply a block function of corrected projections to those of M; its small array ends with the sum of K_b' W_b."""
    if T is not None and turned is not None:
        T = T - (K @ turned).astype(T.dtype)
    new, W, total = fn(T, *state)
    sums = [np.ravel(part) for part in (total, None if W is None else K.T @ W) if part is not None]
    return new, W, np.concatenate(sums) if sums else None


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
