"""The data matrix: everything an algorithm may ask of the data, for every kind of storage.

Orientation: users hand in X (samples x features, q x n); the papers write M = X' (rows m_i are features). A backend
says how to get one block of features; the passes below are written once, on top of that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
from scipy.sparse import hstack, issparse, vstack

from eigensieve._progress import Progress, silent
from eigensieve._types import Array, BoolArray, DType, FloatArray, IntArray, JsonDict, Raw
from eigensieve.data.digest import place_values
from eigensieve.data.passes import BackwardSum, Block, BlockFunction, Sweep, add_up, numbered, ordered_map
from eigensieve.data.stats import BlockMoments, ColumnStats, joined_stats, standardization

if TYPE_CHECKING:
    from eigensieve.data.dense import StoredColumns
    from eigensieve.data.memory import Gaps

Result = TypeVar("Result")
Ranges = Sequence[tuple[int, int]]
"""Consecutive blocks: first feature of each, and the one after its last."""

_SEGMENTS = 32  # fixed, so that sums do not depend on the number of threads

Work = Callable[["DataMatrix", int, Ranges], Result]
"""The work of a pass on one segment: work(piece, its first feature, blocks counted from there)."""
SumFunction = Callable[[slice, FloatArray, FloatArray], FloatArray]
"""A function of the sums of some features: fn(which, projections, energies) -> one number per feature."""


@dataclass
class Shared:
    """State that all views of the same data share; `gaps` says where values were missing, if any were."""

    passes: int = 0
    stats: ColumnStats | None = None
    names: Array | None = None
    progress: Progress = silent
    exponents: IntArray | None = None
    """The powers of two by which the columns were multiplied, if they were; see ``memory.py``."""
    gaps: "Gaps | None" = None
    kept: JsonDict = field(default_factory=dict)  # objects that a backend keeps from pass to pass


@dataclass(eq=False, repr=False)
class DataMatrix(ABC):
    """Samples x features, seen through blocks of features."""

    n_samples: int
    n_features: int
    dtype: DType  # float32 or float64: the precision of products, the same as the input's where it is floating
    n_segments: int = field(default=_SEGMENTS, init=False)  # of a pass; 1 runs it on the calling thread
    new_state: tuple[FloatArray, ...] | None = field(default=None, init=False)  # where a sweep writes its new state
    center: FloatArray | None = field(default=None, init=False)
    scale: FloatArray | None = field(default=None, init=False)  # the columns are (x - center) * scale of the raw ones
    far: FloatArray | None = field(default=None, init=False)  # standard deviations from zero to each raw column's mean
    roots: FloatArray | None = field(default=None, init=False)
    shared: Shared = field(default_factory=Shared, init=False)

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Return features start..stop, centred and scaled as this view asks."""

    @abstractmethod
    def block_moments(self, start: int, stop: int) -> BlockMoments:
        """Return mean, norm about the mean, finiteness and exact constancy of raw features start..stop."""

    @abstractmethod
    def block_size(self) -> int:
        """Return how many features make a good block."""

    @abstractmethod
    def take(self, indices: IntArray | slice) -> FloatArray:
        """Return the named features, centred and scaled, as a dense (n_samples, len(indices)) array."""

    def block_digests(self, start: int, stop: int, places: IntArray) -> IntArray:
        """Return the fingerprints of raw features start..stop; asked of data in memory only."""
        raise TypeError(f"{type(self).__name__} holds no values of its own. Ask the data behind it for fingerprints.")

    def stored(self, start: int, stop: int) -> "StoredColumns | None":
        """Return features start..stop as they lie in memory, for compiled passes; None where these do not apply."""
        return None

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, self.n_features

    @property
    def n_passes(self) -> int:
        """How many times the whole data has been read so far, by all views of it."""
        return self.shared.passes

    @property
    def feature_names(self) -> Array | None:
        """Names of the features where the storage knows them."""
        return self.shared.names

    def report_to(self, progress: Progress) -> None:
        """Report the progress of each pass; only storage slower than memory reports any."""
        self.shared.progress = progress

    def stats(self) -> ColumnStats:
        """Return the statistics of the raw columns (one pass; remembered)."""
        if self.shared.stats is None:
            self.shared.stats = self.moments()
        return self.shared.stats

    def extreme(self) -> BoolArray:
        """Return which columns cannot be computed with as they are; see ``memory.py``."""
        return self.stats().extreme(self.dtype)

    def moments(self) -> ColumnStats:
        """Compute the statistics of the raw columns; one pass."""

        def segment(piece: DataMatrix, offset: int, ranges: Ranges) -> list[BlockMoments]:
            return [piece.block_moments(start, stop) for start, stop in ranges]

        blocks = [found for some in self.each_segment(segment) for found in some]
        return joined_stats(self.n_samples, blocks)

    def column_digests(self) -> IntArray:
        """Return a 64-bit fingerprint of every raw column, the same for every kind of storage; one pass."""
        places = place_values(0, self.n_samples)

        def segment(piece: DataMatrix, offset: int, ranges: Ranges) -> IntArray:
            return np.concatenate([piece.block_digests(start, stop, places) for start, stop in ranges])

        return np.concatenate(list(self.rescaled(None, None).each_segment(segment)))

    def standardized(self, normalize: str) -> "DataMatrix":
        """Return a view of the same data with implicit centring and scaling, as `standardization` says."""
        standard = standardization(self.stats(), normalize, self.dtype)
        return self.rescaled(standard.center, standard.scale, standard.far)

    def rescaled(
        self, center: FloatArray | None, scale: FloatArray | None, far: FloatArray | None = None
    ) -> "DataMatrix":
        """Return a view whose columns are (x - center) * scale of the raw ones."""
        view = copy(self)
        view.center, view.scale, view.far = center, scale, far
        return view.recentered()

    def recentered(self) -> Self:
        """Return this view, made ready for its new centre."""
        return self

    def restricted(self, active: BoolArray) -> "DataMatrix":
        """Return a view of standardised data in which all features but the active ones are zero."""
        return self.moved(None, active.astype(np.float64))

    def moved(self, offset: FloatArray | None, factor: FloatArray) -> "DataMatrix":
        """Return a view of standardised data whose columns are (m - offset) * factor of the ones here."""
        assert self.scale is not None
        center = self.center
        if offset is not None:
            shift = np.divide(offset, self.scale, out=np.zeros(self.n_features), where=self.scale != 0)
            center = shift if center is None else center + shift
        return self.rescaled(center, self.scale * factor, self.far)

    def samples(self, rows: IntArray) -> "DataMatrix":
        """Return some samples in memory, centred and scaled as here; `rows` are increasing. One pass."""
        from eigensieve.data.kinds import as_data

        raw = self.rescaled(None, None)
        raw.n_segments = 1  # nothing to put together where the data is in memory
        parts = list(raw.each_segment(partial(_samples, rows)))  # can travel to a worker, which a closure cannot
        found, gaps = as_data(joined(parts, 1)), self.shared.gaps
        found.shared.gaps = gaps and gaps.among(rows)
        return found.rescaled(self.center, self.scale, self.far)

    def raw_samples(self, rows: IntArray, start: int, stop: int) -> Raw:
        """Return some samples of raw features start..stop as they are stored; only for data in memory."""
        raise TypeError(f"{type(self).__name__} is not in memory: use samples.")

    def map_blocks(self, fn: Callable[[Block], Result]) -> list[Result]:
        """Return ``fn(block)`` for consecutive blocks of all features, in order; one pass, on threads."""

        def segment(piece: DataMatrix, offset: int, ranges: Ranges) -> list[Result]:
            return [fn(numbered(piece.block(start, stop), offset + start)) for start, stop in ranges]

        return [result for results in self.each_segment(segment) for result in results]

    def sample_sums(self, fn: Callable[[Block], IntArray]) -> IntArray:
        """Return the sums of ``fn(block)`` over all features, one per sample; along the samples where cheaper."""
        return np.asarray(sum(self.map_blocks(fn)))

    def map_sums(self, V: FloatArray, weights: FloatArray, fn: "SumFunction") -> FloatArray:
        """Return ``fn(here, T, e)`` for all features, in order; one pass, along the samples where that is cheaper.
        T = M_b V and e_i = sum_t weights_t m_it^2 are the sums of the features ``here``, a slice. `fn` returns one
        number per feature, and works on each feature on its own."""

        def sums(block: Block) -> FloatArray:
            return fn(slice(block.start, block.stop), block.forward(V), block.squares(weights))

        return np.concatenate(self.map_blocks(sums))

    def sweep(
        self, V: FloatArray | None, fn: BlockFunction, state: Sequence[FloatArray] = (), *, donate: bool = False
    ) -> Sweep:
        """One pass with two products: forward, any function of each feature alone, backward.

        For every block b: T_b = M_b V (None without V), ``new_state_b, W_b, total_b = fn(T_b, *state_b)``; M_b' W_b and
        total_b are summed. `fn` works on each feature on its own, so that blocks may be cut anywhere; the feature
        arrays `state` are cut alike. With `donate` the new state may be written over old arrays of the same shape and
        type.
        """
        V = None if V is None else np.ascontiguousarray(V, dtype=self.dtype)
        outputs = self._outputs(V, fn, state, donate)

        def fused(piece: DataMatrix, offset: int, start: int, stop: int, back: BackwardSum) -> FloatArray | None:
            compiled = getattr(fn, "fused", None)
            columns = None if compiled is None else piece.stored(start, stop)
            if compiled is None or columns is None:
                return None
            here = slice(offset + start, offset + stop)
            mine, new = tuple(array[here] for array in state), tuple(array[here] for array in outputs)
            small: FloatArray | None = compiled(columns, V, mine, new, back)
            return small

        def segment(piece: DataMatrix, offset: int, ranges: Ranges) -> tuple[FloatArray | None, FloatArray | None]:
            back = BackwardSum()
            total = fused(piece, offset, ranges[0][0], ranges[-1][1], back)
            if total is not None:
                return back.result(), total
            for start, stop in ranges:
                small = fused(piece, offset, start, stop, back)
                if small is None:
                    block = piece.block(start, stop)
                    here = slice(offset + start, offset + stop)
                    T = None if V is None else block.forward(V)
                    new, W, small = fn(T, *(array[here] for array in state))
                    for target, value in zip(outputs, new, strict=True):
                        target[here] = value
                    if W is not None:
                        block.add_back(W, *back.room(self.n_samples, W.shape[1]))
                if small is not None:
                    total = add_up(total, small)
            return back.result(), total

        back_sum: FloatArray | None = None
        total_sum: FloatArray | None = None
        for back, total in self.each_segment(segment):
            back_sum = back_sum if back is None else add_up(back_sum, back)
            total_sum = total_sum if total is None else add_up(total_sum, total)
        return Sweep(outputs, back_sum, total_sum)

    def project(self, V: FloatArray) -> FloatArray:
        """Return M V (features x columns)."""
        return self.collect(self.sweep(V, lambda T: ((T,), None, None)).state[0])

    def combine(self, W: FloatArray) -> FloatArray:
        """Return M' W (samples x columns) in float64."""
        back = self.sweep(None, lambda _, W_b: ((), W_b, None), (W,)).back
        assert back is not None
        return back

    def gram(self, weights: FloatArray) -> FloatArray:
        """Return M' diag(weights) M (samples x samples) in float64; only for few samples."""

        def segment(piece: DataMatrix, offset: int, ranges: Ranges) -> FloatArray:
            out = np.zeros((self.n_samples, self.n_samples))
            for start, stop in ranges:
                out += piece.block(start, stop).gram(weights[offset + start : offset + stop])
            return out

        out = np.zeros((self.n_samples, self.n_samples))
        for term in self.each_segment(segment):
            out += term
        return out

    def each_segment(self, work: "Work[Result]") -> Iterator[Result]:
        """Yield ``work(piece, offset, ranges)`` for all segments, in the order of the features: one pass. `piece` holds
        the features from `offset` on in memory; `ranges` are blocks counted from there."""
        self.shared.passes += 1
        yield from ordered_map(lambda ranges: work(self, 0, ranges), self.segments(self.n_segments))

    def inner(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return A'B, which is small, for two feature arrays of a sweep."""
        return np.asarray(A.T @ B)

    def collect(self, A: FloatArray) -> FloatArray:
        """Return a feature array of a sweep as a numpy array."""
        return np.asarray(A)

    def place(self, A: FloatArray) -> FloatArray:
        """Put a numpy array with one row per feature where this backend keeps feature arrays."""
        return A

    def save_array(self, A: FloatArray, path: Path) -> None:
        """Write a feature array to a .npy file."""
        np.save(path, A)

    def load_array(self, path: Path) -> FloatArray:
        """Read a feature array that `save_array` wrote, and put it where this backend keeps them."""
        return np.asarray(np.load(path))

    def segments(self, count: int) -> list[Ranges]:
        """The blocks of all features in at most `count` segments, the same for any number of threads."""
        ranges = self._ranges()
        edges = np.linspace(0, len(ranges), min(count, len(ranges)) + 1).round().astype(int)
        return [ranges[first:last] for first, last in pairwise(edges)]

    def _ranges(self) -> Ranges:
        size = max(1, min(self.block_size(), self.n_features))
        return [(start, min(start + size, self.n_features)) for start in range(0, self.n_features, size)]

    def _outputs(
        self, V: FloatArray | None, fn: BlockFunction, state: Sequence[FloatArray], donate: bool
    ) -> tuple[FloatArray, ...]:
        """Return arrays for the new state; the result of `fn` for no features at all gives their shapes."""
        if self.new_state is not None:
            return self.new_state
        nothing = None if V is None else np.empty((0, V.shape[1]), dtype=self.dtype)
        shapes = fn(nothing, *(array[:0] for array in state))[0]
        spare = list(state) if donate else []
        outputs = []
        for example in shapes:
            shape = (self.n_features, *example.shape[1:])
            match = next((i for i, old in enumerate(spare) if old.shape == shape and old.dtype == example.dtype), None)
            outputs.append(np.empty(shape, example.dtype) if match is None else spare.pop(match))
        return tuple(outputs)


def joined(parts: Sequence[Raw], axis: int) -> Raw:
    """Put raw parts together: arrays, or sparse matrices."""
    if len(parts) == 1:
        return parts[0]
    if issparse(parts[0]):
        return (vstack, hstack)[axis](parts, format="csc")
    return np.concatenate(parts, axis=axis)


def _samples(rows: IntArray, piece: DataMatrix, offset: int, ranges: Ranges) -> Raw:
    return piece.raw_samples(rows, ranges[0][0], ranges[-1][1])
