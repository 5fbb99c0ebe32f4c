"""How a Dask array is laid out on the workers, and the tasks of one pass over it as one Dask graph.

Tasks and feature arrays are asked to stay beside their chunks: Dask guesses when to move one, and a wrong guess costs
more than the pass. It is only asked: tasks run elsewhere when the worker is gone. Graphs are put together by hand:
Delayed objects would each carry one, and merging these takes the client longer than small passes take the workers. A
cluster without workers is an error, not an endless wait.
"""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigensieve._types import Array, DType, FloatArray, JsonDict, MatrixLike
from eigensieve.data.dask.tasks import Chunk, Filled, sum_up
from eigensieve.data.passes import limited_blas

_PIECE = 1 << 18  # features that a piece has at most where samples are spread over several chunks
_SEGMENT = 1 << 29  # bytes of data that a task works on at most, unless one chunk has more
_FAN = 8  # terms that one task adds up, so that no worker needs them all
_FEW = 4  # up to this many sums come to the client, and up to this many tasks get their own copy of a sent value
_PATIENCE = 30.0  # seconds a cluster may be without any worker
_LOOK = 1.0


@dataclass(frozen=True, eq=False)
class Held:
    """The result of a task on the workers, or in this process if Dask runs here; `which` names one array of several."""

    key: str
    value: Any
    which: int | None = None


class PassGraph:
    """Tasks to be run together; `source` makes the chunks, `futures` are those that are on the workers already."""

    def __init__(self, source: Any, futures: Mapping[Any, Any]) -> None:
        self._name = uuid.uuid4().hex
        self._count = 0
        self._source = source
        self._sent: dict[Any, Any] = dict(futures)
        self._homes: dict[str | None, JsonDict] = {}

    def task(self, fn: Callable[..., Any], *arguments: Any, home: str | None = None) -> str:
        """Add a task and return its key; other keys, also in lists, and `Held` stand for their values."""
        self._count += 1
        key = f"{fn.__name__}-{self._name}-{self._count}"
        self._homes.setdefault(home, {})[key] = (fn, *map(self._argument, arguments))
        return key

    def sent(self, value: Any, n_tasks: int) -> Any:
        """A value for all tasks: sent within them where they are few, else once, and workers pass it on."""
        if n_tasks <= _FEW:
            return value
        key = f"eigensieve-{self._name}"
        self._sent[key] = value
        return key

    def summed(self, terms: list[str]) -> list[str]:
        """Add up small arrays on the workers, a few at a time, until few enough are left for the client."""
        while len(terms) > _FEW:
            terms = [self.task(sum_up, terms[at : at + _FAN]) for at in range(0, len(terms), _FAN)]
        return terms

    def run(self, wanted: Sequence[str], keep: Sequence[str] = ()) -> tuple[list[Any], list[Held]]:
        """Compute and return `wanted`; `keep` is computed too, but stays on the workers."""
        import dask

        with limited_blas():
            (values,) = dask.persist(_Tasks(self._graph(), [*wanted, *keep]), optimize_graph=False)
            results, rest = values[: len(wanted)], values[len(wanted) :]
            if results and hasattr(results[0], "client"):  # a future
                with _trouble_told():
                    _wait(results)
                    results = results[0].client.gather(results)
        # an error in the rest shows in the pass that needs it
        return list(results), [Held(key, value) for key, value in zip(keep, rest, strict=True)]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._argument(item) for item in value]
        if not isinstance(value, Held):
            return value
        self._sent[value.key] = value.value
        return value.key if value.which is None else [value.key, value.which]

    def _graph(self) -> Any:
        from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

        name = self._name
        below = {*self._source.layers, f"sent-{name}"}
        layers = {**self._source.layers, f"sent-{name}": MaterializedLayer(self._sent)}
        depends = {**self._source.dependencies, f"sent-{name}": set()}
        for number, (home, some) in enumerate(self._homes.items()):
            if home is not None:
                asked = {"workers": [home], "allow_other_workers": True}
                layers[f"home-{number}-{name}"] = MaterializedLayer(some, annotations=asked)
                depends[f"home-{number}-{name}"] = below
        layers[f"rest-{name}"] = MaterializedLayer(self._homes.get(None, {}))
        depends[f"rest-{name}"] = set(depends)
        return HighLevelGraph(layers, depends)


@dataclass(frozen=True, eq=False)
class _Tasks:
    """A Dask collection of tasks, of any kind, with one graph."""

    graph: Any
    keys: list[str]

    def __dask_graph__(self) -> Any:
        return self.graph

    def __dask_keys__(self) -> list[str]:
        return self.keys

    def __dask_tokenize__(self) -> list[str]:
        return self.keys

    def __dask_postcompute__(self) -> tuple[Any, tuple[()]]:
        return list, ()

    def __dask_postpersist__(self) -> tuple[Any, tuple[()]]:
        return self._values, ()

    def _values(self, found: Mapping[str, Any], *, rename: Any = None) -> list[Any]:
        return [found[key] for key in self.keys]

    @staticmethod
    def __dask_optimize__(graph: Any, keys: Any, **_: Any) -> Any:
        return graph

    @staticmethod
    def __dask_scheduler__(*arguments: Any, **settings: Any) -> Any:
        from dask.threaded import get

        return get(*arguments, **settings)


@contextmanager
def _trouble_told() -> Iterator[None]:
    """Say in our own words that the scheduler, or too many workers, have gone."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError) as gone:
        raise RuntimeError(_GONE) from gone
    except KilledWorker as killed:
        raise RuntimeError(
            "Dask gave up on a chunk because the workers that held it died one after the other, usually because they "
            "ran out of memory. Give the workers more memory or make the chunks smaller, then call fit once more."
        ) from killed


def _wait(futures: list[Any]) -> None:
    """Wait until all futures have ended. Results that died with a worker are computed again."""
    from distributed import wait

    client = futures[0].client
    seen, unfinished = time.monotonic(), futures
    while unfinished:
        try:
            wait(futures, timeout=_LOOK, return_when="ALL_COMPLETED")
        except TimeoutError:
            if client.nthreads():
                seen = time.monotonic()
            elif time.monotonic() - seen > _PATIENCE:
                raise RuntimeError(
                    f"The Dask cluster has had no workers for {_PATIENCE:.0f} seconds, so the pass cannot go on. "
                    "Start workers again and call fit once more; with checkpoint= it resumes from the last step."
                ) from None
        unfinished = [future for future in futures if future.status in ("pending", "lost")]
        lost = [future.key for future in unfinished if future.status == "lost"]
        if lost:  # the scheduler forgets tasks whose input cannot be computed again
            states = client.sync(client.scheduler.get_task_status, keys=lost)
            if any(state in (None, "lost", "forgotten") for state in states.values()):
                raise RuntimeError(_GONE)


_GONE = (
    "The Dask scheduler lost or cancelled the tasks of this pass. Check that the cluster is still running "
    "and that the input was not cancelled, then call fit once more."
)


@dataclass(frozen=True)
class Segment:
    """Pieces that one task works on: keys and places of their chunks, and the worker they are on."""

    raws: list[list[Any]]
    chunks: list[list[Chunk]]
    home: str | None

    @property
    def features(self) -> list[tuple[int, int]]:
        return [places[0].features for places in self.chunks]

    @property
    def edges(self) -> list[int]:
        """Where the pieces begin and end in the segment's feature arrays."""
        return [0, *np.cumsum([last - first for first, last in self.features]).tolist()]

    @property
    def in_one_chunk(self) -> bool:
        """Whether all samples of a piece are in one chunk."""
        return len(self.raws[0]) == 1

    def rows(self) -> Iterator[tuple[slice, slice]]:
        """For every piece: its features, and its rows in the segment's feature arrays."""
        for (first, last), (start, stop) in zip(self.features, pairwise(self.edges), strict=True):
            yield slice(first, last), slice(start, stop)


def grid_of(X: MatrixLike, keys: Array, futures: Mapping[Any, Any]) -> list[Segment]:
    """Lay out a Dask array: the keys of its chunks, and the chunks that are on workers already."""
    rows = list(_edges(X.chunks[0]))
    pieces: list[tuple[list[Any], list[Chunk]]] = []  # keys and places of the chunks of some features, samples in order
    for j, (first, last) in _edges(X.chunks[1]):
        # where samples are spread over several chunks, wide chunks are cut into pieces
        count = max(-(-(last - first) // _PIECE), min(len(rows), (last - first) // 1024), 1) if len(rows) > 1 else 1
        edges = np.linspace(first, last, count + 1).round().astype(int).tolist()
        for start, stop in pairwise(edges):
            columns = (start - first, stop - first)
            chunks = [Chunk(some, (start, stop), columns, last - first) for _, some in rows]
            pieces.append(([keys[i, j] for i, _ in rows], chunks))
    where = homes(futures, [raws for raws, _ in pieces])
    together = [[p] for p in range(len(pieces))]
    if len(rows) == 1:
        threads = dict(next(iter(futures.values())).client.nthreads()) if futures else {}
        sizes = [float(X.dtype.itemsize * X.shape[0] * chunks[0].width) for _, chunks in pieces]
        together = segments_of(where, sizes, threads)
    return [Segment([pieces[p][0] for p in some], [pieces[p][1] for p in some], where[some[0]]) for some in together]


def joined(grid: Sequence[Segment], arrays: Sequence[Array], shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Return a feature array from those of the segments."""
    out = np.empty(shape, dtype)
    for segment, array in zip(grid, arrays, strict=True):
        for features, here in segment.rows():
            out[features] = array[here]
    return out


def _edges(sizes: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield number and range of every chunk along an axis; empty ones are left out."""
    edges = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    for number, (first, last) in enumerate(pairwise(edges.tolist())):
        if last > first:
            yield number, (first, last)


def futures_in(X: MatrixLike) -> dict[Any, Any]:
    """Return the chunks of a Dask collection that are on workers already, or on their way there, by their keys."""
    try:
        from distributed import futures_of
    except ImportError:
        return {}
    return {future.key: future for future in futures_of(X)}


def homes(futures: Mapping[Any, Any], pieces: Sequence[Sequence[Any]]) -> list[str | None]:
    """Return the worker that holds most chunks of each piece; None where there is none yet. Among several with equally
    many (copies stay behind), the one with the least to do is chosen: else one might be given everything."""
    if not futures:
        return [None] * len(pieces)
    with _trouble_told():
        holders = next(iter(futures.values())).client.who_has(list(futures.values()))
    counts = [Counter(w for chunk in chunks for w in holders.get(chunk, ())) for chunks in pieces]
    choices = [[worker for worker, held in count.items() if held == max(count.values())] for count in counts]
    found: list[str | None] = [None] * len(pieces)
    given: Counter[str] = Counter()
    for p in sorted(range(len(pieces)), key=lambda p: len(choices[p])):  # those without a choice first
        if choices[p]:
            found[p] = home = min(choices[p], key=lambda worker: (given[worker], worker))
            given[home] += 1
    return found


def segments_of(homes: Sequence[str | None], sizes: Sequence[float], threads: Mapping[str, int]) -> list[list[int]]:
    """Put pieces on the same worker together, into as many segments as it has threads: a task costs more than a small
    piece. Pieces without a home stay alone. No segment is large: another worker may have to take all of it. `sizes` are
    in bytes."""
    found = [[p] for p, home in enumerate(homes) if home is None]
    for worker in sorted({home for home in homes if home is not None}):
        mine = [p for p, home in enumerate(homes) if home == worker]
        total = sum(sizes[p] for p in mine)
        count = min(len(mine), max(threads.get(worker, 1), ceil(total / _SEGMENT)))
        edges = [len(mine) * i // count for i in range(count + 1)]
        found += [mine[first:last] for first, last in pairwise(edges)]
    return sorted(found)


@dataclass(frozen=True)
class WorkerArray:
    """A feature array on the workers, cut like the data: per segment the array there, or how to fill it."""

    held: tuple[Held | Filled, ...]
    shape: tuple[int, ...]
    dtype: DType

    def __array__(self, dtype: DTypeLike | None = None, copy: Any = None) -> FloatArray:
        raise TypeError("This feature array lives on Dask workers; bring it here with data.collect(array).")

    def __matmul__(self, right: FloatArray) -> "WorkerProduct":
        return WorkerProduct(self, right)


PerFeature = FloatArray | WorkerArray


@dataclass(frozen=True)
class WorkerProduct:
    """A feature array times a small matrix, made on the workers when it is collected: only the product travels."""

    left: WorkerArray
    right: FloatArray
