"""The data matrix of Dask collections, on the client.

A pass sends the columns V and the block function, and brings back the sum of the backward products, added up on the
workers. All of it is plain Dask tasks, so that results lost with a worker are computed again.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array, BoolArray, DType, FloatArray, IntArray, MatrixLike
from eigensieve.data.dask import graph as graphs
from eigensieve.data.dask import tasks
from eigensieve.data.dask.tasks import Filled, Job, results
from eigensieve.data.matrix import DataMatrix, Work
from eigensieve.data.passes import Block, BlockFunction, Sweep
from eigensieve.data.stats import NORMALIZATIONS, BlockMoments, ColumnStats, Standard, standardization

Result = TypeVar("Result")

_BROUGHT = 1 << 30  # bytes of samples that are brought to the client at most
_PLACED = 8  # arrays from the client that are kept on the workers for the next pass


class DaskData(DataMatrix):
    """A Dask array with dense or scipy-sparse chunks of known sizes, chunked along either axis or both."""

    def __init__(self, X: MatrixLike, feature_names: Array | None = None) -> None:
        dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        super().__init__(int(X.shape[0]), int(X.shape[1]), dtype)
        self._normalize: str | None = None
        self._here: Standard | None = Standard()
        self._there: Sequence[Any] | None = None
        self.shared.names = feature_names
        self.X = X  # chunks that were persisted are dropped with the last reference to their array
        stored = X.to_delayed()
        self.source = stored[0, 0].dask
        self.futures = graphs.futures_in(X)
        keys = np.empty(stored.shape, dtype=object)
        for place, chunk in np.ndenumerate(stored):
            keys[place] = chunk.key
        self.grid = graphs.grid_of(X, keys, self.futures)

    def __reduce__(self) -> Any:
        # a block function may hold this object, but the data must never travel with it: workers get None
        return type(None), ()

    def block(self, start: int, stop: int) -> Block:
        raise TypeError("Blocks of Dask data exist on the workers only: use map_blocks or sweep.")

    def block_moments(self, start: int, stop: int) -> BlockMoments:
        raise TypeError("Blocks of Dask data exist on the workers only: use stats.")

    def block_size(self) -> int:
        return max(last - first for segment in self.grid for first, last in segment.features)

    def take(self, indices: IntArray | slice) -> FloatArray:
        wanted = np.arange(self.n_features)[indices]
        out = np.empty((self.n_samples, len(wanted)), dtype=self.dtype)
        graph = self._graph()
        where, found = [], []
        for segment, standard in zip(self.grid, self._standards(), strict=True):
            for p, (start, stop) in enumerate(segment.features):
                here = np.flatnonzero((wanted >= start) & (wanted < stop))
                if len(here):
                    piece = (segment.raws[p], segment.chunks[p], standard, segment.edges[p], wanted[here] - start)
                    where.append(here)
                    found.append(graph.task(tasks.take_from, *piece, home=segment.home))
        for here, columns in zip(where, graph.run(found)[0], strict=True):
            out[:, here] = columns
        return out

    def samples(self, rows: IntArray) -> DataMatrix:
        """Return some samples, here where they are few enough, else on the workers."""
        if len(rows) * self.n_features * self.dtype.itemsize > _BROUGHT:
            return DaskData(self.X[rows]).rescaled(self.center, self.scale, self.far)
        return super().samples(rows)

    def moments(self) -> ColumnStats:
        """One pass. Means and norms stay on the workers; finiteness and constancy come here as bits."""
        self.shared.passes += 1
        graph = self._graph()
        made = []
        for segment in self.grid:
            if segment.in_one_chunk:
                made.append(graph.task(tasks.segment_moments, segment.raws, segment.chunks, home=segment.home))
            else:
                several = zip(segment.raws[0], segment.chunks[0], strict=True)
                some = [graph.task(tasks.chunk_moments, raw, chunk) for raw, chunk in several]
                made.append(graph.task(tasks.merged_moments, some, home=segment.home))
        flags, self.shared.kept["moments"] = graph.run(
            [graph.task(tasks.flags_of, found, self.dtype) for found in made], made
        )

        def unpacked(which: int) -> BoolArray:
            bits = [np.unpackbits(f[which], count=s.edges[-1]) for f, s in zip(flags, self.grid, strict=True)]
            return graphs.joined(self.grid, bits, (self.n_features,), bool)

        return WorkerStats([unpacked(which) for which in range(3)], self.n_samples, self._statistic)

    def _statistic(self, name: str) -> FloatArray:
        graph = self._graph()
        found = [graph.task(getattr, moments, name) for moments in self.shared.kept["moments"]]
        return graphs.joined(self.grid, graph.run(found)[0], (self.n_features,), np.float64)

    def standardized(self, normalize: str) -> "DataMatrix":
        if normalize not in NORMALIZATIONS:
            raise ValueError(f"normalize must be one of {NORMALIZATIONS}. Got {normalize!r} instead.")
        self.stats()
        return self._view(normalize, None)

    def rescaled(
        self, center: FloatArray | None, scale: FloatArray | None, far: FloatArray | None = None
    ) -> "DataMatrix":
        return self._view(None, Standard(center, scale, far))

    def _view(self, normalize: str | None, here: Standard | None) -> "DaskData":
        view = object.__new__(type(self))
        vars(view).update(vars(self))
        view._normalize, view._here, view._there = normalize, here, None
        return view

    def _standard(self) -> Standard:
        """Centres, scales and distances from zero; those that the workers made are brought here when asked for."""
        if self._here is None:
            assert self._normalize is not None
            self._here = standardization(self.stats(), self._normalize, self.dtype)
        return self._here

    center = property(lambda self: self._standard().center)
    scale = property(lambda self: self._standard().scale)
    far = property(lambda self: self._standard().far)

    def _standards(self) -> Sequence[Any]:
        """Centres, scales and distances from zero of each segment, as they are on the workers."""
        if self._there is None and self._normalize is not None:
            graph = self._graph()
            arguments = (self._normalize, self.dtype)
            made = [
                graph.task(standardization, moments, *arguments, home=segment.home)
                for moments, segment in zip(self.shared.kept["moments"], self.grid, strict=True)
            ]
            self._there = graph.run([], made)[1]
        elif self._there is None:
            known = self._standard()
            if known.center is None and known.scale is None:
                return [None] * len(self.grid)
            columns = (known.center, known.scale, known.far)
            placed = [[None] * len(self.grid) if A is None else self.place(A).held for A in columns]
            self._there = [list(some) for some in zip(*placed, strict=True)]
        return self._there

    def each_segment(self, work: Work[Result]) -> Iterator[Result]:
        self.shared.passes += 1
        graph = self._graph()
        job = graph.sent(Job(work), len(self.grid))
        found = graph.run(self._each(graph, tasks.run_pieces, job))[0]
        by_piece = [
            (features, result)
            for segment, some in zip(self.grid, found, strict=True)
            for features, result in zip(segment.features, some, strict=True)
        ]
        yield from (result for _, result in sorted(by_piece, key=lambda item: item[0]))

    def sweep(
        self, V: FloatArray | None, fn: BlockFunction, state: Sequence[Any] = (), *, donate: bool = False
    ) -> Sweep:
        self.shared.passes += 1
        nothing = None if V is None else np.empty((0, V.shape[1]), dtype=self.dtype)
        examples = fn(nothing, *(np.empty((0, *array.shape[1:]), array.dtype) for array in state))[0]
        graph = self._graph()
        placed = [self.place(array) for array in state]
        job = graph.sent(Job(fn, V, examples), len(self.grid) * len(self.grid[0].raws[0]))
        if self.grid[0].in_one_chunk:
            found = self._each(graph, tasks.sweep_whole, job, *placed)
            wanted = graph.summed([graph.task(tasks.sums_of, done) for done in found])
        else:
            found, wanted = self._sweep_by_rows(graph, job, V is not None, placed)
        sums, kept = graph.run(wanted, found)
        back_sum, total_sum = results(sums)
        new: list[Any] = []
        for which, example in enumerate(examples):
            here = tuple(graphs.Held(done.key, done.value, which) for done in kept)
            new.append(graphs.WorkerArray(here, (self.n_features, *example.shape[1:]), example.dtype))
        return Sweep(tuple(new), back_sum, total_sum)

    def _sweep_by_rows(
        self, graph: graphs.PassGraph, job: Any, forward: bool, placed: list[graphs.WorkerArray]
    ) -> tuple[list[str], list[str]]:
        """The same when samples are spread over several chunks: each product is a task of its own."""
        found: list[str] = []
        backs: list[list[str]] = []  # for every piece, the products of its chunks
        for j, (segment, standard) in enumerate(zip(self.grid, self._standards(), strict=True)):
            several = list(zip(segment.raws[0], segment.chunks[0], strict=True))
            T = [graph.task(tasks.forward, job, *some, standard) for some in several] if forward else None
            found.append(graph.task(tasks.apply, job, T, *(array.held[j] for array in placed)))
            backs.append([graph.task(tasks.backward, found[-1], *some, standard) for some in several])
        rows = [graph.summed(list(row)) for row in zip(*backs, strict=True)]
        totals = graph.summed([graph.task(tasks.sums_of, done) for done in found])
        return found, [graph.task(tasks.stacked, rows, totals)]

    def gram(self, weights: FloatArray) -> FloatArray:
        self.shared.passes += 1
        graph = self._graph()
        return _total(graph, self._each(graph, tasks.gram_of, None, self.place(np.asarray(weights))))

    def inner(self, A: graphs.PerFeature, B: graphs.PerFeature) -> FloatArray:
        graph = self._graph()
        both = zip(self.place(A).held, self.place(B).held, self.grid, strict=True)
        return _total(graph, [graph.task(tasks.inner_of, a, b, segment.edges) for a, b, segment in both])

    def collect(self, A: graphs.PerFeature | graphs.WorkerProduct) -> FloatArray:
        graph = self._graph()
        if isinstance(A, graphs.WorkerProduct):
            right, left = A.right, A.left
            found = graph.run([graph.task(tasks.product_of, held, right) for held in left.held])[0]
            return graphs.joined(
                self.grid, found, (self.n_features, *right.shape[1:]), np.result_type(left.dtype, right)
            )
        if not isinstance(A, graphs.WorkerArray):
            return np.asarray(A)
        found = graph.run([graph.task(tasks.picked, held) for held in A.held])[0]
        return graphs.joined(self.grid, found, A.shape, A.dtype)

    def place(self, A: graphs.PerFeature) -> Any:
        """Send an array to the workers, or find it there: those sent last are kept for the next passes."""
        if isinstance(A, graphs.WorkerArray):
            return A
        if A.size == 0 or (A.flat[0] == A).all():
            value = float(A.flat[0]) if A.size else 0.0
            filled = tuple(Filled(value, (segment.edges[-1], *A.shape[1:]), A.dtype) for segment in self.grid)
            return graphs.WorkerArray(filled, A.shape, A.dtype)
        kept: list[tuple[FloatArray, graphs.WorkerArray]] = self.shared.kept.get("placed", [])
        for seen, placed in kept:
            if seen.dtype == A.dtype and np.array_equal(seen[:64], A[:64]) and np.array_equal(seen, A):
                return placed
        graph = self._graph()
        parts = [np.concatenate([A[features] for features, _ in segment.rows()]) for segment in self.grid]
        sent = [graph.task(tasks.given, part, home=at.home) for part, at in zip(parts, self.grid, strict=True)]
        with warnings.catch_warnings():
            # within a task and not scattered: scattered values are lost with their worker
            warnings.filterwarnings("ignore", "Sending large graph")
            placed = graphs.WorkerArray(tuple(graph.run([], sent)[1]), A.shape, A.dtype)
        self.shared.kept["placed"] = [*kept[-_PLACED + 1 :], (A.copy(), placed)]
        return placed

    def save_array(self, A: graphs.PerFeature, path: Path) -> None:
        out = np.lib.format.open_memmap(path, mode="w+", dtype=A.dtype, shape=A.shape)
        for held, segment in zip(self.place(A).held, self.grid, strict=True):
            graph = self._graph()
            (found,) = graph.run([graph.task(tasks.picked, held)])[0]
            for features, here in segment.rows():
                out[features] = found[here]
        out.flush()

    def load_array(self, path: Path) -> Any:
        return self.place(np.load(path))

    def _graph(self) -> graphs.PassGraph:
        return graphs.PassGraph(self.source, self.futures)

    def _each(self, graph: graphs.PassGraph, fn: Any, job: Any, *arrays: graphs.WorkerArray) -> list[str]:
        out = []
        for j, (segment, standard) in enumerate(zip(self.grid, self._standards(), strict=True)):
            arguments = (segment.raws, segment.chunks, standard, *(array.held[j] for array in arrays))
            out.append(graph.task(fn, *(() if job is None else (job,)), *arguments, home=segment.home))
        return out


class WorkerStats(ColumnStats):
    """Statistics of the columns. Flags are here; means and norms are brought from the workers, by name, when asked for.
    `extreme` is for the type of the data."""

    _bring: Callable[[str], FloatArray]
    _extreme: BoolArray

    def __init__(self, flags: Sequence[BoolArray], n_samples: int, bring: Callable[[str], FloatArray]) -> None:
        finite, constant, extreme = flags
        known = {"finite": finite, "one_value": constant, "constant": constant, "_extreme": extreme}
        vars(self).update(known, n_samples=n_samples, _bring=bring)

    def extreme(self, dtype: DType) -> BoolArray:
        return self._extreme

    @cached_property
    def mean(self) -> FloatArray:
        return self._bring("mean")

    @cached_property
    def centered_norm(self) -> FloatArray:
        return self._bring("centered_norm")


def _total(graph: graphs.PassGraph, terms: list[str]) -> FloatArray:
    """Add up one small array per segment, and bring the sum here."""
    return np.asarray(results(graph.run(graph.summed(terms))[0])[0])


def dask_data(X: MatrixLike) -> DaskData:
    """Return the data matrix of a Dask array or dataframe; unknown chunk sizes are computed first."""
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
            "Call X.compute_chunk_sizes() on the array beforehand to avoid this.",
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
            f"All columns of a Dask dataframe must be numeric. Got {', '.join(map(repr, wrong[:5]))}{more} of other "
            "types instead; drop or encode them first."
        )
    names = np.asarray([str(name) for name in frame.columns], dtype=object)
    kinds = set(frame.dtypes)
    plain = {kind for kind in kinds if isinstance(kind, np.dtype)}
    if not len(kinds) == len(plain) == 1:
        # pandas would make objects of columns of several types, or of types that may miss values
        with_missing = [getattr(kind, "numpy_dtype", np.float64) for kind in kinds - plain]
        frame = frame.astype(np.result_type(*plain, *with_missing, *([np.float32] if with_missing else [])))
    return frame.to_dask_array(lengths=True), names
