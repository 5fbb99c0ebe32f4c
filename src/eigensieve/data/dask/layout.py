"""How a Dask array is laid out: pieces, segments, the workers they are on, and feature arrays cut like them.

Tasks and feature arrays are asked to stay beside their chunks: Dask guesses when to move one, and a wrong guess costs
more than the pass. It is only asked: tasks run elsewhere when the worker is gone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigensieve._types import Array, DType, FloatArray
from eigensieve.data.dask.graph import Held
from eigensieve.data.dask.tasks import Chunk, Filled

_PIECE = 1 << 18  # features that a piece has at most where samples are spread over several chunks
_SEGMENT = 1 << 29  # bytes of data that a task works on at most, unless one chunk has more


@dataclass(frozen=True)
class Segment:
    """Pieces that one task works on: keys and places of their chunks, and the worker they are on."""

    raws: list[list[Any]]
    chunks: list[list[Chunk]]
    home: str | None

    @property
    def features(self) -> list[tuple[int, int]]:
        """The features of every piece."""
        return [places[0].features for places in self.chunks]

    @property
    def edges(self) -> list[int]:
        """Where the pieces begin and end in the segment's feature arrays."""
        return [0, *np.cumsum([last - first for first, last in self.features]).tolist()]

    @property
    def size(self) -> int:
        """Number of features."""
        return self.edges[-1]

    @property
    def in_one_chunk(self) -> bool:
        """Whether all samples of a piece are in one chunk."""
        return len(self.raws[0]) == 1

    def rows(self) -> Iterator[tuple[slice, slice]]:
        """For every piece: its features, and its rows in the segment's feature arrays."""
        for (first, last), (start, stop) in zip(self.features, pairwise(self.edges), strict=True):
            yield slice(first, last), slice(start, stop)

    def cut(self, A: Array) -> Array:
        """Return the rows of a feature array that belong to the segment."""
        return np.concatenate([A[features] for features, _ in self.rows()])


def grid_of(X: Any, keys: Array, futures: Mapping[Any, Any]) -> list[Segment]:
    """Lay out a Dask array: the keys of its chunks, and the chunks that are on workers already."""
    rows = list(_edges(X.chunks[0]))
    pieces: list[tuple[list[Any], list[Chunk]]] = []  # keys and places of the chunks of some features, samples in order
    for j, (first, last) in _edges(X.chunks[1]):
        for start, stop in _cut_wide(first, last, len(rows)):
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


def _cut_wide(first: int, last: int, n_row_chunks: int) -> list[tuple[int, int]]:
    """Cut the features of a chunk into pieces where samples are spread over several chunks."""
    if n_row_chunks == 1:
        return [(first, last)]
    count = max(-(-(last - first) // _PIECE), min(n_row_chunks, (last - first) // 1024), 1)
    edges = np.linspace(first, last, count + 1).round().astype(int)
    return [(int(start), int(stop)) for start, stop in pairwise(edges)]


def futures_in(X: Any) -> dict[Any, Any]:
    """Return the chunks of a Dask collection that are on workers already, or on their way there, by their keys."""
    try:
        from distributed import futures_of
    except ImportError:
        return {}
    return {future.key: future for future in futures_of(X)}


def homes(futures: Mapping[Any, Any], pieces: Sequence[Sequence[Any]]) -> list[str | None]:
    """Return the worker that holds most chunks of each piece; None where there is none yet. Of several with equally
    many (copies stay behind), the one with the least to do is chosen: else one might be given everything."""
    if not futures:
        return [None] * len(pieces)
    holders = next(iter(futures.values())).client.who_has(list(futures.values()))
    counts = [Counter(w for chunk in chunks for w in holders.get(chunk, ())) for chunks in pieces]
    choices = [[worker for worker, held in count.items() if held == max(count.values())] for count in counts]
    found: list[str | None] = [None] * len(pieces)
    given: Counter[str] = Counter()
    for p in sorted(range(len(pieces)), key=lambda p: len(choices[p])):  # those without a choice first
        if choices[p]:
            home = min(choices[p], key=lambda worker: (given[worker], worker))
            found[p] = home
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


@dataclass(frozen=True)
class WorkerProduct:
    """A feature array times a small matrix, made on the workers when it is collected: only the product travels."""

    left: WorkerArray
    right: FloatArray
