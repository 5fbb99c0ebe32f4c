"""Dask arrays and dataframes: every pass runs where the chunks are, only thin matrices travel.

Feature arrays (weights, projections, statistics) are made on the workers and stay there. A pass sends the columns V
and the block function, and brings back the sum of the backward products, added up on the workers. All of it is plain
Dask tasks, so that a lost worker's part is computed again from what it came from.
"""

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array
from eigensieve.data.blocks import Block
from eigensieve.data.dask import tasks
from eigensieve.data.dask.graph import Held, PassGraph
from eigensieve.data.dask.layout import WorkerArray, WorkerProduct, grid_of, joined
from eigensieve.data.dask.stats import WorkerStats
from eigensieve.data.dask.sums import results
from eigensieve.data.dask.tasks import Filled, Job
from eigensieve.data.dask.where import futures_in
from eigensieve.data.disk.stream import float_type
from eigensieve.data.matrix import NORMALIZATIONS, BlockFunction, DataMatrix, Sweep, Work
from eigensieve.data.stats import ColumnStats

Result = TypeVar("Result")

_PLACED = 8  # arrays from the client that are kept on the workers for the next pass


class DaskData(DataMatrix):
    """A Dask array, chunked along either axis or both.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features)
        Dense or scipy-sparse chunks, of known sizes.
    feature_names : ndarray of str, optional
    """

    def __init__(self, X: Any, feature_names: Array | None = None) -> None:
        self._normalize: str | None = None
        self._numbers: dict[str, Array | None] | None = {}
        self._standard: Sequence[Any] | None = None
        super().__init__(int(X.shape[0]), int(X.shape[1]), float_type(X.dtype))
        self._shared["names"] = feature_names
        self._shared["placed"] = []
        self.X = X  # chunks that were persisted are dropped with the last reference to their array
        stored = X.to_delayed()
        self.source = stored[0, 0].dask
        self.futures = futures_in(X)
        keys = np.empty(stored.shape, dtype=object)
        for place, chunk in np.ndenumerate(stored):
            keys[place] = chunk.key
        self.grid = grid_of(X, keys, self.futures)

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
        return max(last - first for bundle in self.grid for first, last in bundle.spans)

    def take(self, indices: Any) -> Array:
        wanted = np.arange(self.n_features)[indices]
        out = np.empty((self.n_samples, len(wanted)), dtype=self.dtype)
        graph = self._graph()
        where, found = [], []
        for bundle, standard in zip(self.grid, self._standard_parts(), strict=True):
            for g, (start, stop) in enumerate(bundle.spans):
                here = np.flatnonzero((wanted >= start) & (wanted < stop))
                if len(here):
                    group = (bundle.raws[g], bundle.chunks[g], standard, bundle.edges[g], wanted[here] - start)
                    where.append(here)
                    found.append(graph.task(tasks.take_from, *group, home=bundle.home))
        for here, part in zip(where, graph.run(found)[0], strict=True):
            out[:, here] = part
        return out

    # -- centring and scaling ------------------------------------------------------------------------

    def standardized(self, normalize: str) -> "DataMatrix":
        if normalize not in NORMALIZATIONS:
            return super().standardized(normalize)
        self.stats()
        view = copy(self)
        view._normalize, view._numbers, view._standard = normalize, None, None
        return view

    def rescaled(self, center: Array | None, scale: Array | None) -> "DataMatrix":
        view = copy(self)
        view._normalize, view._numbers, view._standard = None, {"center": center, "scale": scale}, None
        return view

    def _number(self, name: str) -> Array | None:
        """Centres, scales or distances from zero; those the workers made are brought here when they are asked for."""
        if self._numbers is None:
            assert self._normalize is not None
            view = super().standardized(self._normalize)
            assert isinstance(view, DaskData)
            self._numbers = view._numbers
        assert self._numbers is not None
        return self._numbers.get(name)

    def _set_number(self, name: str, value: Array | None) -> None:
        self._number(name)
        self._numbers = {**(self._numbers or {}), name: value}
        self._normalize = self._standard = None

    center = property(lambda self: self._number("center"), lambda self, value: self._set_number("center", value))
    scale = property(lambda self: self._number("scale"), lambda self, value: self._set_number("scale", value))
    far = property(lambda self: self._number("far"), lambda self, value: self._set_number("far", value))

    def _standard_parts(self) -> Sequence[Any]:
        """What centring and scaling need beside each bundle."""
        if self._standard is None and self._normalize is not None:
            graph = self._graph()
            arguments = (self._normalize, self.dtype)
            made = [
                graph.task(tasks.standard_of, part, *arguments, home=bundle.home)
                for part, bundle in zip(self._shared["moments"], self.grid, strict=True)
            ]
            self._standard = graph.run([], made)[1]
        elif self._standard is None:
            numbers = [self._number(name) for name in ("center", "scale", "far")]
            if all(array is None for array in numbers[:2]):
                return [None] * len(self.grid)
            placed = [None if array is None else self.place(array).parts for array in numbers]
            self._standard = [[None if part is None else part[j] for part in placed] for j in range(len(self.grid))]
        return self._standard

    # -- passes --------------------------------------------------------------------------------------

    def _run(self, work: Work[Result]) -> Iterator[Result]:
        self._shared["passes"] += 1
        graph = self._graph()
        job = graph.sent(Job(work), len(self.grid))
        found = graph.run(self._each(graph, tasks.run_groups, job))[0]
        by_group = [
            (span, part)
            for bundle, some in zip(self.grid, found, strict=True)
            for span, part in zip(bundle.spans, some, strict=True)
        ]
        yield from (part for _, part in sorted(by_group, key=lambda item: item[0]))

    def sweep(self, V: Array | None, fn: BlockFunction, state: Sequence[Any] = (), *, donate: bool = False) -> Sweep:
        self._shared["passes"] += 1
        nothing = None if V is None else np.empty((0, V.shape[1]), dtype=self.dtype)
        examples = fn(nothing, *(np.empty((0, *array.shape[1:]), array.dtype) for array in state))[0]
        graph = self._graph()
        placed = [self.place(array) for array in state]
        standard = self._standard_parts()
        job = graph.sent(Job(fn, V), len(self.grid) * len(self.grid[0].raws[0]))
        if self.grid[0].in_one_chunk:
            found = self._each(graph, tasks.sweep_whole, job, *placed)
            wanted = graph.summed([graph.task(tasks.sums_of, done) for done in found])
        else:
            found, wanted = self._sweep_by_rows(graph, job, V is not None, placed, standard)
        parts, kept = graph.run(wanted, found)
        back_sum, total_sum = results(parts)
        new: list[Any] = []
        for which, example in enumerate(examples):
            here = tuple(Held(done.key, done.value, which) for done in kept)
            new.append(WorkerArray(here, (self.n_features, *example.shape[1:]), example.dtype))
        return Sweep(tuple(new), back_sum, total_sum)

    def _sweep_by_rows(
        self, graph: PassGraph, job: Any, forward: bool, placed: list[WorkerArray], standard: Sequence[Any]
    ) -> tuple[list[str], list[str]]:
        """The same when samples are spread over several chunks: there and back in tasks of their own."""
        found: list[str] = []
        backs: list[list[str]] = []  # for every group, the products of its chunks
        for j, bundle in enumerate(self.grid):
            several = list(zip(bundle.raws[0], bundle.chunks[0], strict=True))
            T = [graph.task(tasks.forward, job, *some, standard[j]) for some in several] if forward else None
            found.append(graph.task(tasks.apply, job, T, *(array.parts[j] for array in placed)))
            backs.append([graph.task(tasks.backward, found[-1], *some, standard[j]) for some in several])
        rows = [graph.summed(list(row)) for row in zip(*backs, strict=True)]
        totals = graph.summed([graph.task(tasks.sums_of, done) for done in found])
        return found, [graph.task(tasks.stacked, rows, totals)]

    def gram(self, weights: Array) -> Array:
        self._shared["passes"] += 1
        graph = self._graph()
        parts = self._each(graph, tasks.gram_of, None, self.place(np.asarray(weights)))
        return np.asarray(results(graph.run(graph.summed(parts))[0])[0])

    # -- feature arrays ------------------------------------------------------------------------------

    def inner(self, A: Any, B: Any) -> Array:
        graph = self._graph()
        both = zip(self.place(A).parts, self.place(B).parts, self.grid, strict=True)
        parts = [graph.task(tasks.inner_of, a, b, bundle.edges) for a, b, bundle in both]
        return np.asarray(results(graph.run(graph.summed(parts))[0])[0])

    def collect(self, A: Any) -> Array:
        graph = self._graph()
        if isinstance(A, WorkerProduct):
            right, left = A.right, A.left
            parts = graph.run([graph.task(tasks.product_of, part, right) for part in left.parts])[0]
            return joined(self.grid, parts, (self.n_features, *right.shape[1:]), np.result_type(left.dtype, right))
        if not isinstance(A, WorkerArray):
            return np.asarray(A)
        parts = graph.run([graph.task(tasks.picked, part) for part in A.parts])[0]
        return joined(self.grid, parts, A.shape, A.dtype)

    def place(self, A: Any) -> Any:
        """Send an array to the workers, or find it there: those sent last are kept for the next passes."""
        if isinstance(A, WorkerArray):
            return A
        if A.size == 0 or (A.flat[0] == A).all():
            value = A.flat[0] if A.size else 0
            filled = tuple(Filled(value, (bundle.size, *A.shape[1:]), A.dtype) for bundle in self.grid)
            return WorkerArray(filled, A.shape, A.dtype)
        kept: list[tuple[Array, WorkerArray]] = self._shared["placed"]
        for seen, placed in kept:
            if seen.dtype == A.dtype and np.array_equal(seen[:64], A[:64]) and np.array_equal(seen, A):
                return placed
        graph = self._graph()
        sent = [graph.task(tasks.given, bundle.cut(A), home=bundle.home) for bundle in self.grid]
        with warnings.catch_warnings():
            # within a task and not scattered, for what is scattered is gone with its worker
            warnings.filterwarnings("ignore", "Sending large graph")
            placed = WorkerArray(tuple(graph.run([], sent)[1]), A.shape, A.dtype)
        self._shared["placed"] = [*kept[-_PLACED + 1 :], (A.copy(), placed)]
        return placed

    def save_array(self, A: Any, path: Path) -> None:
        out = np.lib.format.open_memmap(path, mode="w+", dtype=A.dtype, shape=A.shape)
        for part, bundle in zip(self.place(A).parts, self.grid, strict=True):
            graph = self._graph()
            (found,) = graph.run([graph.task(tasks.picked, part)])[0]
            for features, here in bundle.rows():
                out[features] = found[here]
        out.flush()

    def load_array(self, path: Path) -> Any:
        return self.place(np.load(path))

    # -- inner ---------------------------------------------------------------------------------------

    def _graph(self) -> PassGraph:
        return PassGraph(self.source, self.futures)

    def _each(self, graph: PassGraph, fn: Any, job: Any, *arrays: WorkerArray) -> list[str]:
        """One task for every bundle, where its chunks are."""
        out = []
        for j, (bundle, standard) in enumerate(zip(self.grid, self._standard_parts(), strict=True)):
            arguments = (bundle.raws, bundle.chunks, standard, *(array.parts[j] for array in arrays))
            out.append(graph.task(fn, *(() if job is None else (job,)), *arguments, home=bundle.home))
        return out

    def _compute_stats(self) -> ColumnStats:
        self._shared["passes"] += 1
        graph = self._graph()
        made = []
        for bundle in self.grid:
            if bundle.in_one_chunk:
                made.append(graph.task(tasks.bundle_moments, bundle.raws, bundle.chunks, home=bundle.home))
            else:
                several = zip(bundle.raws[0], bundle.chunks[0], strict=True)
                some = [graph.task(tasks.chunk_moments, raw, chunk) for raw, chunk in several]
                made.append(graph.task(tasks.merged_moments, some, home=bundle.home))
        flags, held = graph.run([graph.task(tasks.flags_of, part) for part in made], made)
        self._shared["moments"] = held
        sizes = [bundle.size for bundle in self.grid]
        finite, constant = (
            joined(
                self.grid,
                [np.unpackbits(part[which], count=size) for part, size in zip(flags, sizes, strict=True)],
                (self.n_features,),
                bool,
            )
            for which in (0, 1)
        )
        return WorkerStats(finite, constant, self.n_samples, self._statistic)

    def _statistic(self, name: str) -> Array:
        """A statistic of all features, brought here."""
        graph = self._graph()
        parts = [graph.task(tasks.statistic_of, part, name) for part in self._shared["moments"]]
        return joined(self.grid, graph.run(parts)[0], (self.n_features,), np.float64)


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
