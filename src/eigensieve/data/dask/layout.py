"""How a Dask array is laid out in tasks: groups of features, bundles of groups, and feature arrays cut like them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.dask.graph import Held
from eigensieve.data.dask.tasks import Chunk, Filled
from eigensieve.data.dask.where import bundles, homes, threads_of

_GROUP = 1 << 18  # features a group has at most where chunks span all features


@dataclass(frozen=True)
class Bundle:
    """Groups of features that one task works on: keys and places of their chunks, and where they are."""

    raws: list[list[Any]]
    chunks: list[list[Chunk]]
    home: str | None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The features of every group."""
        return [places[0].features for places in self.chunks]

    @property
    def edges(self) -> list[int]:
        """Where the groups begin and end in the bundle's feature arrays."""
        return [0, *np.cumsum([last - first for first, last in self.spans]).tolist()]

    @property
    def size(self) -> int:
        """Number of features."""
        return self.edges[-1]

    @property
    def in_one_chunk(self) -> bool:
        """Whether all samples of a group are in one chunk."""
        return len(self.raws[0]) == 1

    def rows(self) -> Iterator[tuple[slice, slice]]:
        """For every group: its features, and its rows in the bundle's feature arrays."""
        for (first, last), (start, stop) in zip(self.spans, pairwise(self.edges), strict=True):
            yield slice(first, last), slice(start, stop)

    def cut(self, A: Array) -> Array:
        """The rows of a feature array that belong to the bundle."""
        return np.concatenate([A[features] for features, _ in self.rows()])


def grid_of(X: Any, keys: Array, futures: Mapping[Any, Any]) -> list[Bundle]:
    """Lay out an array.

    Parameters
    ----------
    X : dask.array.Array
    keys : ndarray of tuples
        Of its chunks.
    futures : mapping
        The chunks that are on workers already.
    """
    rows = list(_edges(X.chunks[0]))
    groups: list[tuple[list[Any], list[Chunk]]] = []  # the chunks that hold some features, samples in order
    for j, (first, last) in _edges(X.chunks[1]):
        for start, stop in _groups(first, last, len(rows)):
            columns = (start - first, stop - first)
            chunks = [Chunk(some, (start, stop), columns, last - first) for _, some in rows]
            groups.append(([keys[i, j] for i, _ in rows], chunks))
    where = homes(futures, [raws for raws, _ in groups])
    together = [[g] for g in range(len(groups))]
    if len(rows) == 1:
        sizes = [float(X.dtype.itemsize * X.shape[0] * chunks[0].width) for _, chunks in groups]
        together = bundles(where, sizes, threads_of(futures))
    return [Bundle([groups[g][0] for g in some], [groups[g][1] for g in some], where[some[0]]) for some in together]


def joined(grid: Sequence[Bundle], parts: Sequence[Array], shape: tuple[int, ...], dtype: Any) -> Array:
    """A feature array from those of the bundles."""
    out = np.empty(shape, dtype)
    for bundle, part in zip(grid, parts, strict=True):
        for features, here in bundle.rows():
            out[features] = part[here]
    return out


def _edges(sizes: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Number and range of every chunk along an axis; empty ones are left out."""
    edges = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    for number, (first, last) in enumerate(pairwise(edges.tolist())):
        if last > first:
            yield number, (first, last)


def _groups(first: int, last: int, n_row_chunks: int) -> list[tuple[int, int]]:
    """Cut the features of a chunk that spans many of them, when samples are spread over several chunks."""
    if n_row_chunks == 1:
        return [(first, last)]
    count = max(-(-(last - first) // _GROUP), min(n_row_chunks, (last - first) // 1024), 1)
    edges = np.linspace(first, last, count + 1).round().astype(int)
    return [(int(start), int(stop)) for start, stop in pairwise(edges)]


@dataclass(frozen=True)
class WorkerArray:
    """A feature array on the workers, cut like the data: for every bundle what is held there, or how to fill it."""

    parts: tuple[Held | Filled, ...]
    shape: tuple[int, ...]
    dtype: Any

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise TypeError("This feature array lives on Dask workers; bring it here with data.collect(array).")

    def __matmul__(self, right: Array) -> "WorkerProduct":
        return WorkerProduct(self, right)


@dataclass(frozen=True)
class WorkerProduct:
    """A feature array times a small matrix, to be collected: made on the workers, so that no more than it travels."""

    left: WorkerArray
    right: Array
