"""Dask arrays and dataframes: every pass runs where the chunks are, only thin matrices travel.

Feature arrays (weights, projections) are made on the workers and stay there. A pass sends the columns V and
the block function once, as one task that the others depend on, and brings back the sum of the backward
products, added up on the workers. All of it is plain Dask tasks, so that a lost worker's part is computed
again from what it came from.
"""

import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eigensieve._extras import require
from eigensieve.data import _dask_tasks as tasks
from eigensieve.data._blocks import Block
from eigensieve.data._dask_tasks import Chunk, Job
from eigensieve.data._dask_wait import finished
from eigensieve.data._dask_where import beside, homes
from eigensieve.data._matrix import BlockFunction, DataMatrix, Sweep, Work
from eigensieve.data._stats import ColumnStats
from eigensieve.data._stream import float_type

Array = NDArray[Any]
Result = TypeVar("Result")

_FAN = 8  # sums of this many parts at a time, so that no worker needs them all
_GROUP = 1 << 18  # features a group has at most where chunks span all features
_PLACED = 8  # arrays from the client that are kept on the workers for the next pass


@dataclass(frozen=True)
class WorkerArray:
    """A feature array on the workers, cut like the data: parts, or (what a pass left, which of its arrays)."""

    parts: tuple[Any, ...]
    shape: tuple[int, ...]
    dtype: Any

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise TypeError("This feature array lives on Dask workers; bring it here with data.collect(array).")


class DaskData(DataMatrix):
    """A Dask array, chunked along either axis or both.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features)
        Dense or scipy-sparse chunks, of known sizes.
    feature_names : ndarray of str, optional
    """

    def __init__(self, X: Any, feature_names: Array | None = None) -> None:
        super().__init__(int(X.shape[0]), int(X.shape[1]), float_type(X.dtype))
        self._shared["names"] = feature_names
        self._shared["placed"] = []
        self.X = X  # chunks that were persisted are dropped with the last reference to their array
        rows = _edges(X.chunks[0])
        stored = X.to_delayed()
        # for every group of features: the chunks that hold it, samples in order
        self.grid: list[tuple[list[Any], list[Chunk]]] = []
        for j, (first, last) in enumerate(_edges(X.chunks[1])):
            for start, stop in _groups(first, last, len(rows)):
                columns = (start - first, stop - first)
                chunks = [Chunk(some, (start, stop), columns, last - first) for some in rows]
                self.grid.append((list(stored[:, j]), chunks))
        self._standard: WorkerArray | None = None
        self.homes = homes(X, [raws for raws, _ in self.grid])

    def __reduce__(self) -> Any:
        # block functions hold the object they came from; the data itself must never travel with them
        return _elsewhere, ()

    def __copy__(self) -> "DaskData":
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    # -- what the base class asks --------------------------------------------------------------------

    def block(self, start: int, stop: int) -> Block:
        raise TypeError("Blocks of Dask data exist on the workers only: use map_blocks or sweep.")

    def block_moments(self, start: int, stop: int) -> tuple[Array, Array, Array, Array]:
        raise TypeError("Blocks of Dask data exist on the workers only: use stats.")

    def block_size(self) -> int:
        return max(chunks[0].features[1] - chunks[0].features[0] for _, chunks in self.grid)

    def take(self, indices: Any) -> Array:
        wanted = np.arange(self.n_features)[indices]
        out = np.empty((self.n_samples, len(wanted)), dtype=self.dtype)
        where, found = [], []
        standard = self._standard_parts()
        for (raws, chunks), some, home in zip(self.grid, standard, self.homes, strict=True):
            start, stop = chunks[0].features
            here = np.flatnonzero((wanted >= start) & (wanted < stop))
            if len(here):
                where.append(here)
                with beside(home):
                    found.append(_task(tasks.take_from, raws, chunks, some, wanted[here] - start))
        for here, part in zip(where, finished(found), strict=True):
            out[:, here] = part
        return out

    def rescaled(self, center: Array | None, scale: Array | None) -> "DataMatrix":
        view = super().rescaled(center, scale)
        assert isinstance(view, DaskData)
        view._standard = None
        return view

    # -- passes --------------------------------------------------------------------------------------

    def _run(self, work: Work[Result]) -> Iterator[Result]:
        self._shared["passes"] += 1
        job = _send(Job(work))
        yield from finished(self._each(tasks.run_group, job))

    def sweep(self, V: Array | None, fn: BlockFunction, state: Sequence[Any] = (), *, donate: bool = False) -> Sweep:
        self._shared["passes"] += 1
        nothing = None if V is None else np.empty((0, V.shape[1]), dtype=self.dtype)
        examples = fn(nothing, *(np.empty((0, *array.shape[1:]), array.dtype) for array in state))[0]
        job = _send(Job(fn, V))
        placed = [array if isinstance(array, WorkerArray) else self.place(array) for array in state]
        found: list[Any] = []
        backs: list[list[Any]] = []  # for every row of chunks
        for j, ((raws, chunks), standard) in enumerate(zip(self.grid, self._standard_parts(), strict=True)):
            here = [array.parts[j] for array in placed]
            if len(raws) == 1:
                with beside(self.homes[j]):
                    done = _task(tasks.sweep_whole, job, raws, chunks, standard, *here)
            else:
                several = list(zip(raws, chunks, strict=True))
                T = None if V is None else [_task(tasks.forward, job, *some, standard) for some in several]
                done = _task(tasks.apply, job, T, *here)
                backs.append([_task(tasks.backward, done, *some, standard) for some in several])
            found.append(done)
        if backs:
            rows = [_tree(list(row)) for row in zip(*backs, strict=True)]
            root = _task(tasks.stacked, rows, _tree([_task(tasks.sums_of, done, "total") for done in found]))
        else:
            root = _tree([_task(tasks.sums_of, done, "back", "total") for done in found])
        (back_sum, total_sum), kept = finished([root], keep=[found])
        new: list[Any] = []
        for which, example in enumerate(examples):
            parts = tuple((done, which) for done in kept[0])
            new.append(WorkerArray(parts, (self.n_features, *example.shape[1:]), example.dtype))
        return Sweep(tuple(new), back_sum, total_sum)

    def gram(self, weights: Array) -> Array:
        self._shared["passes"] += 1
        parts = self._each(tasks.gram_of, None, self.place(np.asarray(weights)))
        return np.asarray(finished([_tree(parts)])[0][0])

    # -- feature arrays ------------------------------------------------------------------------------

    def inner(self, A: Any, B: Any) -> Array:
        A, B = (array if isinstance(array, WorkerArray) else self.place(array) for array in (A, B))
        parts = [_task(tasks.inner_of, a, b) for a, b in zip(A.parts, B.parts, strict=True)]
        return np.asarray(finished([_tree(parts)])[0][0])

    def collect(self, A: Any) -> Array:
        if not isinstance(A, WorkerArray):
            return np.asarray(A)
        return np.concatenate(finished([_task(tasks.picked, part) for part in A.parts]))

    def place(self, A: Array) -> Any:
        """Send an array to the workers, or find it there: those sent last are kept for the next passes."""
        if isinstance(A, WorkerArray):
            return A
        kept: list[tuple[Array, Array, WorkerArray]] = self._shared["placed"]
        for original, seen, placed in kept:
            if original is A and np.array_equal(seen, A):
                return placed
        cut = [np.ascontiguousarray(A[slice(*chunks[0].features)]) for _, chunks in self.grid]
        sent = []
        for part, home in zip(cut, self.homes, strict=True):
            with beside(home):
                sent.append(_task(tasks.given, part))
        _, parts = finished([], keep=[sent])
        placed = WorkerArray(tuple(parts[0]), A.shape, A.dtype)
        self._shared["placed"] = [*kept[-_PLACED + 1 :], (A, A.copy(), placed)]
        return placed

    def save_array(self, A: Any, path: Path) -> None:
        out = np.lib.format.open_memmap(path, mode="w+", dtype=A.dtype, shape=A.shape)
        for part, (_, chunks) in zip(self.place(A).parts, self.grid, strict=True):
            out[slice(*chunks[0].features)] = finished([_task(tasks.picked, part)])[0]
        out.flush()

    def load_array(self, path: Path) -> Any:
        return self.place(np.load(path))

    # -- inner ---------------------------------------------------------------------------------------

    def _each(self, fn: Callable[..., Any], job: Any, *arrays: WorkerArray) -> list[Any]:
        """One task for every group of features, where its chunks are."""
        out = []
        for j, ((raws, chunks), standard) in enumerate(zip(self.grid, self._standard_parts(), strict=True)):
            with beside(self.homes[j]):
                out.append(_task(fn, job, raws, chunks, standard, *(array.parts[j] for array in arrays)))
        return out

    def _standard_parts(self) -> Sequence[Any]:
        """Centres, scales and distances from zero beside each group of features."""
        if self.center is None and self.scale is None:
            return [None] * len(self.grid)
        if self._standard is None:
            missing = np.full(self.n_features, np.nan)
            columns = [missing if part is None else part for part in (self.center, self.scale, self.far)]
            self._standard = self.place(np.column_stack(columns))
        return self._standard.parts

    def _compute_stats(self) -> ColumnStats:
        self._shared["passes"] += 1
        parts = []
        for raws, chunks in self.grid:
            some = [_task(tasks.chunk_moments, raw, chunk) for raw, chunk in zip(raws, chunks, strict=True)]
            parts.append(_task(tasks.merged_moments, some))
        found = [group.stats() for group in finished(parts)]
        return ColumnStats(
            np.concatenate([group.mean for group in found]),
            np.concatenate([group.centered_norm for group in found]),
            np.concatenate([group.finite for group in found]),
            np.concatenate([group.constant for group in found]),
            self.n_samples,
        )


def dask_data(X: Any) -> DaskData:
    """The data matrix of a Dask array or dataframe; unknown chunk sizes are found out first."""
    require("dask.array", extra="dask")
    names = None
    if hasattr(X, "to_dask_array"):
        X, names = _from_dataframe(X)
    if getattr(X, "ndim", 0) != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            "A Dask array must be 2-dimensional and numeric (samples x features). "
            f"Got {getattr(X, 'ndim', 0)} dimension(s) of type {getattr(X, 'dtype', None)} instead."
        )
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        warnings.warn(
            "The Dask array has chunks of unknown size; they are computed now, which reads the data once. "
            "Call "
            "X.compute_chunk_sizes() on the array beforehand to avoid this.",
            UserWarning,
            stacklevel=2,
        )
        X = X.copy().compute_chunk_sizes()
    if 0 in X.shape:
        raise ValueError(f"A Dask array must have at least 1 sample and 1 feature. Got shape {X.shape} instead.")
    return DaskData(X, names)


def _from_dataframe(frame: Any) -> tuple[Any, Array]:
    wrong = [str(name) for name, kind in frame.dtypes.items() if getattr(kind, "kind", "O") not in "fiub"]
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise ValueError(
            f"All columns of a Dask dataframe must be numeric. Got {', '.join(map(repr, wrong[:5]))}{more} "
            "of other types "
            "instead; drop or encode them first."
        )
    return frame.to_dask_array(lengths=True), np.asarray([str(name) for name in frame.columns], dtype=object)


def _elsewhere() -> None:
    """What a worker sees in place of the data matrix: nothing, for it must not ask."""


def _edges(sizes: Sequence[int]) -> list[tuple[int, int]]:
    edges = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    return [(int(first), int(last)) for first, last in pairwise(edges) if last > first]


def _groups(first: int, last: int, n_row_chunks: int) -> list[tuple[int, int]]:
    """Cut the features of a chunk that spans many of them, when samples are spread over several chunks."""
    if n_row_chunks == 1:
        return [(first, last)]
    count = max(-(-(last - first) // _GROUP), min(n_row_chunks, (last - first) // 1024), 1)
    edges = np.linspace(first, last, count + 1).round().astype(int)
    return [(int(start), int(stop)) for start, stop in pairwise(edges)]


def _send(value: Any) -> Any:
    """A value as one task: it goes to one worker, and from there to those that need it."""
    from dask import delayed

    return delayed(value, name=f"eigensieve-{uuid.uuid4().hex}", traverse=False)


def _task(fn: Callable[..., Any], *arguments: Any) -> Any:
    from dask import delayed

    return delayed(fn, pure=False, traverse=False)(*arguments)


def _tree(parts: list[Any]) -> Any:
    """Add up tuples of small arrays on the workers, a few at a time, always in the same order."""
    while len(parts) > 1:
        parts = [_task(tasks.sum_of, parts[at : at + _FAN]) for at in range(0, len(parts), _FAN)]
    return parts[0]
