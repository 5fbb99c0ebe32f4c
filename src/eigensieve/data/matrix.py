"""The data matrix: everything an algorithm may ask of the data, wherever the data lives.

Orientation: users hand in X (samples x features, q x n); the papers write M = X' (rows m_i are features). A
backend says how to get one block of features; the passes below are written once, on top of that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.data.blocks import BackwardSum, Block
from eigensieve.data.raw_block import StoredColumns, distance_from_zero
from eigensieve.data.stats import ColumnStats, rounding_constant
from eigensieve.data.threads import ordered_map

Result = TypeVar("Result")
Spans = Sequence[tuple[int, int]]

NORMALIZATIONS = ("center", "unit", "none")

_SEGMENTS = 32  # parts a pass is cut into: fixed, so that sums do not depend on the number of threads


@dataclass(frozen=True)
class Sweep:
    """What a fused pass returns.

    Attributes
    ----------
    state : tuple of feature arrays
        What the block function returned for each feature, put together (first axis: features).
    back : ndarray of shape (n_samples, n_columns) or None
        Sum over blocks of M_b' W_b, in float64.
    total : ndarray or None
        Sum over blocks of the small arrays the block function returned, in float64.
    """

    state: tuple[Array, ...]
    back: Array | None
    total: Array | None

    def __sizeof__(self) -> int:
        """Bytes of the arrays: schedulers that keep sweeps on workers ask for it."""
        return sum(array.nbytes for array in (*self.state, self.back, self.total) if array is not None)


BlockFunction = Callable[..., tuple[tuple[Array, ...], Array | None, Array | None]]
"""fn(T_b, *state_b) -> (new state of the block, W_b or None, small array to be summed or None).

It may have a method ``fused(columns, V, state_b, new state to fill, backward sum to add to)`` that does the same for
dense columns as they are stored, products included, and returns the small array; None where it does not apply.
"""


Work = Callable[["DataMatrix", int, Spans], Result]
"""What a pass does with a few blocks of a piece of the data: work(piece, its first feature, block spans)."""


def add_up(total: Array | None, part: Array) -> Array:
    """Add to a sum in float64, in place once it is there."""
    return part.astype(np.float64) if total is None else np.add(total, part, out=total)


class DataMatrix(ABC):
    """Samples x features, seen through blocks of features.

    Attributes
    ----------
    n_samples, n_features : int
    dtype : dtype
        float32 or float64: the precision of products, the same as the input's where it is floating.
    n_segments : int
        Parts a pass is cut into for the threads; 1 runs it on the calling thread.
    n_passes : int
        How many times the whole data has been read so far, shared by all views of the same data.
    """

    n_samples: int
    n_features: int
    dtype: np.dtype[Any]

    def __init__(self, n_samples: int, n_features: int, dtype: Any) -> None:
        self.n_samples = n_samples
        self.n_features = n_features
        self.dtype = np.dtype(dtype)
        self.n_segments = _SEGMENTS
        self.fresh: Callable[..., Array] = np.empty  # where a sweep takes room for its new state from
        self.center: Array | None = None
        self.scale: Array | None = None
        self.far: Array | None = None
        self._shared: dict[str, Any] = {"passes": 0, "stats": None, "names": None, "progress": silent}

    # -- what a backend provides ---------------------------------------------------------------------

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Return features start..stop, centred and scaled as this view asks."""

    @abstractmethod
    def block_moments(self, start: int, stop: int) -> tuple[Array, Array, Array, Array]:
        """Return mean, norm about the mean, finiteness and exact constancy of raw features start..stop."""

    @abstractmethod
    def block_size(self) -> int:
        """Return how many features make a good block."""

    @abstractmethod
    def take(self, indices: Any) -> Array:
        """Return the named features, centred and scaled, as a dense (n_samples, len(indices)) array."""

    def stored(self, start: int, stop: int) -> StoredColumns | None:
        """Return features start..stop as they lie in memory, for compiled passes; None where they are not such."""
        return None

    # -- statistics and views ------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, self.n_features

    @property
    def n_passes(self) -> int:
        return int(self._shared["passes"])

    @property
    def feature_names(self) -> Array | None:
        """Names of the features where the storage knows them."""
        names: Array | None = self._shared["names"]
        return names

    def report_to(self, progress: Progress) -> None:
        """Tell `progress` how far each pass has got; only storage slower than memory has something to say."""
        self._shared["progress"] = progress

    def stats(self) -> ColumnStats:
        """Return the statistics of the raw columns (one pass; remembered)."""
        if self._shared["stats"] is None:
            self._shared["stats"] = self._compute_stats()
        stats: ColumnStats = self._shared["stats"]
        return stats

    def standardized(self, normalize: str) -> "DataMatrix":
        """Return a view of the same data with implicit centring and scaling.

        ``"center"``: centred columns of unit norm; ``"unit"``: columns of unit norm, not centred; ``"none"``:
        as they are. Constant columns become exactly zero in all three.
        """
        if normalize not in NORMALIZATIONS:
            raise ValueError(f"normalize must be one of {NORMALIZATIONS}. Got {normalize!r} instead.")
        stats = self.stats()
        norm = {"center": stats.centered_norm, "unit": stats.norm, "none": np.ones(self.n_features)}[normalize]
        usable = ~stats.constant & (norm > 0)
        scale = np.zeros(self.n_features)
        np.divide(1.0, norm, out=scale, where=usable)
        view = self.rescaled(stats.mean if normalize == "center" else None, scale)
        view.far = distance_from_zero(stats.mean, stats.centered_norm, stats.norm, self.n_samples, self.dtype)
        return view

    def rescaled(self, center: Array | None, scale: Array | None) -> "DataMatrix":
        """Return a view whose columns are (x - center) * scale of the raw ones."""
        view = copy(self)
        view.center = center
        view.scale = scale
        view.far = None
        return view

    # -- passes --------------------------------------------------------------------------------------

    def map_blocks(self, fn: Callable[[Block], Result]) -> list[Result]:
        """Return ``fn(block)`` for consecutive blocks of all features, in order; one pass, on threads."""

        def segment(piece: DataMatrix, offset: int, spans: Spans) -> list[Result]:
            return [fn(piece.block(start, stop).moved(offset)) for start, stop in spans]

        return [result for results in self._run(segment) for result in results]

    def sweep(self, V: Array | None, fn: BlockFunction, state: Sequence[Array] = (), *, donate: bool = False) -> Sweep:
        """One fused pass: forward product, any function of each feature alone, backward product.

        For every block b of features: T_b = M_b V, ``new_state_b, W_b, total_b = fn(T_b, *state_b)``; M_b'
        W_b and total_b are summed over the blocks. The block is read once for both products.

        Parameters
        ----------
        V : ndarray of shape (n_samples, n_columns) or None
            Left side of the forward product; None passes None to `fn`.
        fn : callable
            Works on each feature on its own, so that blocks may be cut anywhere.
        state : sequence of arrays with n_features entries along the first axis
            Cut into blocks and handed to `fn`.
        donate : bool, default=False
            Allow the new state to be written over the old arrays of the same shape and type.
        """
        V = None if V is None else np.ascontiguousarray(V, dtype=self.dtype)
        outputs = self._outputs(V, fn, state, donate)

        def fused(piece: DataMatrix, offset: int, start: int, stop: int, back: BackwardSum) -> Array | None:
            columns = piece.stored(start, stop) if hasattr(fn, "fused") else None
            if columns is None:
                return None
            here = slice(offset + start, offset + stop)
            mine, new = tuple(array[here] for array in state), tuple(array[here] for array in outputs)
            small: Array | None = fn.fused(columns, V, mine, new, back)  # type: ignore[attr-defined]
            return small

        def segment(piece: DataMatrix, offset: int, spans: Spans) -> tuple[Array | None, Array | None]:
            back = BackwardSum()
            total = fused(piece, offset, spans[0][0], spans[-1][1], back)
            if total is not None:
                return back.result(), total
            for start, stop in spans:
                small = fused(piece, offset, start, stop, back)
                if small is None:
                    block = piece.block(start, stop)
                    here = slice(offset + start, offset + stop)
                    T = None if V is None else block.forward(V)
                    new, W, small = fn(T, *(array[here] for array in state))
                    for target, value in zip(outputs, new, strict=True):
                        target[here] = value
                    if W is not None:
                        block.add_back(W, back)
                if small is not None:
                    total = add_up(total, small)
            return back.result(), total

        back_sum: Array | None = None
        total_sum: Array | None = None
        for back, total in self._run(segment):
            if back is not None:
                back_sum = back if back_sum is None else np.add(back_sum, back, out=back_sum)
            total_sum = total_sum if total is None else add_up(total_sum, total)
        return Sweep(outputs, back_sum, total_sum)

    def project(self, V: Array) -> Array:
        """Return M V (features x columns)."""
        return self.collect(self.sweep(V, lambda T: ((T,), None, None)).state[0])

    def combine(self, W: Array) -> Array:
        """Return M' W (samples x columns) in float64."""
        back = self.sweep(None, lambda _, W_b: ((), W_b, None), (W,)).back
        assert back is not None
        return back

    def gram(self, weights: Array) -> Array:
        """Return M' diag(weights) M (samples x samples) in float64; only for few samples."""

        def segment(piece: DataMatrix, offset: int, spans: Spans) -> Array:
            out = np.zeros((self.n_samples, self.n_samples))
            for start, stop in spans:
                out += piece.block(start, stop).gram(weights[offset + start : offset + stop])
            return out

        out = np.zeros((self.n_samples, self.n_samples))
        for part in self._run(segment):
            out += part
        return out

    # -- arrays with one row a feature: where they live is the backend's business ----------------------

    def inner(self, A: Array, B: Array) -> Array:
        """Return A'B, small, for two feature arrays that a sweep returned."""
        return np.asarray(A.T @ B)

    def collect(self, A: Array) -> Array:
        """Return a feature array that a sweep returned as a numpy array."""
        return np.asarray(A)

    def place(self, A: Array) -> Array:
        """Put a numpy array with one row a feature where this backend keeps feature arrays."""
        return A

    def save_array(self, A: Array, path: Path) -> None:
        """Write a feature array to a .npy file."""
        np.save(path, A)

    def load_array(self, path: Path) -> Array:
        """Read a feature array that `save_array` wrote, to where this backend keeps them."""
        return np.asarray(np.load(path))

    # -- inner ---------------------------------------------------------------------------------------

    def _run(self, work: "Work[Result]") -> Iterator[Result]:
        """Yield ``work(piece, offset, spans)`` for consecutive segments of all features, in order: one pass.

        `piece` holds features from `offset` on in memory; `spans` are block boundaries relative to the piece.
        """
        self._shared["passes"] += 1
        yield from ordered_map(lambda spans: work(self, 0, spans), self._segments(self.n_segments))

    def _segments(self, count: int) -> list[Spans]:
        """The blocks of all features in at most `count` groups, the same for any number of threads."""
        spans = self._spans()
        edges = np.linspace(0, len(spans), min(count, len(spans)) + 1).round().astype(int)
        return [spans[first:last] for first, last in pairwise(edges)]

    def _spans(self) -> "Spans":
        """The blocks of all features."""
        size = max(1, min(self.block_size(), self.n_features))
        return [(start, min(start + size, self.n_features)) for start in range(0, self.n_features, size)]

    def _compute_stats(self) -> ColumnStats:
        def segment(piece: DataMatrix, offset: int, spans: Spans) -> list[tuple[Array, ...]]:
            return [piece.block_moments(start, stop) for start, stop in spans]

        parts = [moments for some in self._run(segment) for moments in some]
        mean, centered_norm, finite, constant = (np.concatenate(column) for column in zip(*parts, strict=True))
        constant |= finite & rounding_constant(mean, centered_norm, self.n_samples)
        return ColumnStats(mean, centered_norm, finite, constant, self.n_samples)

    def _outputs(self, V: Array | None, fn: BlockFunction, state: Sequence[Array], donate: bool) -> tuple[Array, ...]:
        """Arrays for the new state, found from what `fn` returns for no features at all."""
        nothing = None if V is None else np.empty((0, V.shape[1]), dtype=self.dtype)
        shapes = fn(nothing, *(array[:0] for array in state))[0]
        spare = list(state) if donate else []
        outputs = []
        for example in shapes:
            shape = (self.n_features, *example.shape[1:])
            match = next((i for i, old in enumerate(spare) if old.shape == shape and old.dtype == example.dtype), None)
            outputs.append(self.fresh(shape, example.dtype) if match is None else spare.pop(match))
        return tuple(outputs)
