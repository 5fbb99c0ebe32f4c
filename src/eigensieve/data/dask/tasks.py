"""What runs on the workers: functions of chunks of the data and the feature arrays that live beside them.

A task works on a bundle: one group of features or several that are on the same worker. Their feature arrays are one
array, a group's rows after those of the one before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.dask.sums import Sum, Sums, sum_up, sums_from
from eigensieve.data.matrix import BlockFunction, DataMatrix
from eigensieve.data.moments import Moments, moments
from eigensieve.data.stats import ColumnStats

_FEATURES = 8192


@dataclass(frozen=True)
class Chunk:
    """Where a chunk lies in the whole, and which columns of the stored chunk it is cut from."""

    rows: tuple[int, int]
    features: tuple[int, int]
    columns: tuple[int, int]
    width: int
    """Columns of the stored chunk."""


@dataclass(frozen=True, eq=False)
class Job:
    """What the client sends to the workers in a pass: thin matrices and the function of a block."""

    fn: Callable[..., Any]
    V: Array | None = None


@dataclass(frozen=True)
class Filled:
    """A feature array of equal entries: nothing that would have to be sent."""

    value: float
    shape: tuple[int, ...]
    dtype: Any

    def array(self) -> Array:
        return np.full(self.shape, self.value, self.dtype)


@dataclass(frozen=True, eq=False)
class Standard:
    """Centres, scales and distances from zero of the features of a bundle."""

    center: Array | None
    scale: Array | None
    far: Array | None

    def cut(self, where: Any) -> "Standard":
        return Standard(*(None if part is None else part[where] for part in (self.center, self.scale, self.far)))

    def __sizeof__(self) -> int:
        return sum(part.nbytes for part in (self.center, self.scale, self.far) if part is not None)


@dataclass(frozen=True, eq=False)
class Found:
    """What a pass leaves of a bundle: new feature arrays, W where the way back is still to come, and the sums."""

    state: tuple[Array, ...]
    W: Array | None
    sums: Sums

    def __sizeof__(self) -> int:
        """Bytes of the arrays: the scheduler asks for it."""
        return sum(array.nbytes for array in (*self.state, *(() if self.W is None else (self.W,))))


Groups = list[list[Any]]
"""For every group of a bundle: its chunks, samples in order."""


def cut(raw: Any, chunk: Chunk) -> Any:
    """The columns of a stored chunk that belong to a group of features, once its shape is checked."""
    rows = chunk.rows[1] - chunk.rows[0]
    if getattr(raw, "shape", None) != (rows, chunk.width):
        raise ValueError(
            f"A chunk of the Dask array does not match its announced shape: samples {chunk.rows[0]} to "
            f"{chunk.rows[1] - 1} should be {rows} x {chunk.width}, got {getattr(raw, 'shape', None)}. Fix "
            "the chunks "
            "the array was built from, or call compute_chunk_sizes() on it."
        )
    return raw if chunk.columns == (0, chunk.width) else raw[:, slice(*chunk.columns)]


def piece(raw: Any, standard: Standard | None) -> DataMatrix:
    """A chunk as a data matrix in memory; it works on the calling thread, for Dask runs many at a time."""
    from eigensieve.data.backends import as_data

    if isinstance(raw, np.matrix):
        raw = np.asarray(raw)
    if isinstance(raw, np.ndarray) and not raw.flags.aligned:
        raw = raw.copy()  # as chunks from another worker may come; every product would make its own copy
    data = as_data(raw)
    data.n_segments = 1
    if standard is not None:
        data = data.rescaled(standard.center, standard.scale)
        data.far = standard.far
    return data


def whole(raws: list[Any], chunks: list[Chunk], standard: Standard | None) -> DataMatrix:
    """All samples of a group of features."""
    parts = [cut(raw, chunk) for raw, chunk in zip(raws, chunks, strict=True)]
    if len(parts) == 1:
        return piece(parts[0], standard)
    if hasattr(parts[0], "tocsc"):
        from scipy.sparse import vstack

        return piece(vstack(parts, format="csc"), standard)
    return piece(np.concatenate(parts), standard)


def pieces(raws: Groups, chunks: Groups, standard: Any) -> Iterator[tuple[slice, DataMatrix]]:
    """The groups of a bundle, one by one, and their rows in its feature arrays."""
    known, start = as_standard(standard), 0
    for some, places in zip(raws, chunks, strict=True):
        first, last = places[0].features
        here = slice(start, start + last - first)
        yield here, whole(some, places, None if known is None else known.cut(here))
        start = here.stop


def as_standard(item: Any) -> Standard | None:
    """What a task made of the statistics, or three feature arrays."""
    if isinstance(item, list):
        return Standard(*(None if part is None else picked(part) for part in item))
    known: Standard | None = item
    return known


def standard_of(found: Moments, normalize: str, dtype: Any) -> Standard:
    """What centring and scaling need, from the statistics; a few features at a time, whose numbers stay in cache."""
    from eigensieve.data.backends import as_data

    stats, size = found.stats(), len(found.mean)
    out: dict[str, Array] = {}
    for start in range(0, size, _FEATURES):
        here = slice(start, min(start + _FEATURES, size))
        # values that nobody reads: the formulas are the data matrix's own
        like = as_data(np.broadcast_to(np.zeros((), dtype), (found.count, here.stop - start)))
        columns = (stats.mean[here], stats.centered_norm[here], stats.finite[here], stats.constant[here])
        like._shared["stats"] = ColumnStats(*columns, found.count)
        view = like.standardized(normalize)
        for name in ("center", "scale", "far"):
            values: Array | None = getattr(view, name)
            if values is not None:
                out.setdefault(name, np.empty(size, values.dtype))[here] = values
    return Standard(out.get("center"), out.get("scale"), out.get("far"))


def given(part: Array) -> Array:
    """A part of a feature array that the client sent: as a task, it can be asked to stay beside its chunks."""
    return part


def picked(item: Any) -> Array:
    """A feature array of a bundle: sent by the client, to be filled here, or one of those a pass left behind."""
    if isinstance(item, Filled):
        return item.array()
    if not isinstance(item, list):
        return np.asarray(item)
    found, which = item
    array: Array = found.state[which]
    return array


def sweep_whole(job: Job, raws: Groups, chunks: Groups, standard: Any, *state: Any) -> Found:
    """The fused pass over a bundle, when all samples of a group are in one chunk."""
    old = [picked(item) for item in state]
    new: list[Array] = []
    sums: list[Sums] = []
    n_features = sum(places[0].features[1] - places[0].features[0] for places in chunks)

    for here, data in pieces(raws, chunks, standard):
        made = iter(range(len(new))) if new else None

        def room(shape: tuple[int, ...], dtype: Any, here: slice = here, made: Any = made) -> Array:
            # one array for all groups: large enough for the system to give it in large pages
            if made is None:
                new.append(np.empty((n_features, *shape[1:]), dtype))
                return new[-1][here]
            return new[next(made)][here]

        data.fresh = room
        found = data.sweep(job.V, job.fn, [array[here] for array in old])
        sums.append(sums_from(found.back, found.total))
    return Found(tuple(new), None, sum_up(sums))


def forward(job: Job, raw: Any, chunk: Chunk, standard: Any) -> Array:
    """The part of M V that the samples of one chunk add."""
    assert job.V is not None
    return piece(cut(raw, chunk), as_standard(standard)).project(job.V[slice(*chunk.rows)])


def apply(job: Job, parts: list[Array] | None, *state: Any) -> Found:
    """The block function on a group, once its projections are complete."""
    fn: BlockFunction = job.fn
    T = None if parts is None else np.sum(parts, axis=0) if len(parts) > 1 else parts[0]
    new, W, total = fn(T, *(picked(item) for item in state))
    return Found(new, W, sums_from(total))


def backward(found: Found, raw: Any, chunk: Chunk, standard: Any) -> Sums:
    """M_b' W_b for the samples of one chunk."""
    return sums_from(None if found.W is None else piece(cut(raw, chunk), as_standard(standard)).combine(found.W))


def sums_of(found: Found) -> Sums:
    """The small arrays of a pass over a bundle, apart from the feature arrays, which must stay where they are."""
    return found.sums


def sum_of(parts: list[Sums]) -> Sums:
    return sum_up(parts)


def stacked(rows: list[list[Sums]], totals: list[Sums]) -> Sums:
    """The backward products of all samples and the small sums: what goes to the client."""
    known = [part for row in rows for part in sum_up(row) if part is not None]
    back = None
    if known:
        back = Sum(np.concatenate([part.high for part in known]), np.concatenate([part.low for part in known]))
    return (back, *sum_up(totals))


def chunk_moments(raw: Any, chunk: Chunk) -> Moments:
    return moments(piece(cut(raw, chunk), None))


def merged_moments(parts: list[Moments]) -> Moments:
    found = parts[0]
    for part in parts[1:]:
        found = found.merged(part)
    return found


def bundle_moments(raws: Groups, chunks: Groups) -> Moments:
    """Statistics of all features of a bundle, when all samples of a group are in one chunk."""
    parts = [chunk_moments(some[0], places[0]) for some, places in zip(raws, chunks, strict=True)]
    columns = zip(*((part.mean, part.centered_norm, part.finite, part.constant) for part in parts), strict=True)
    mean, norm, finite, constant = (np.concatenate(column) for column in columns)
    return Moments(parts[0].count, mean, norm, finite, constant, mean)


def flags_of(found: Moments) -> tuple[Array, Array]:
    """Finiteness and constancy, a bit a feature."""
    stats = found.stats()
    return np.packbits(stats.finite), np.packbits(stats.constant)


def statistic_of(found: Moments, name: str) -> Array:
    stats: ColumnStats = found.stats()
    return np.asarray(getattr(stats, name))


def run_groups(job: Job, raws: Groups, chunks: Groups, standard: Any) -> list[Any]:
    """What a pass does with the blocks of each group."""
    out = []
    for (_, data), places in zip(pieces(raws, chunks, standard), chunks, strict=True):
        out.append(job.fn(data, places[0].features[0], data._segments(1)[0]))
    return out


def gram_of(raws: Groups, chunks: Groups, standard: Any, weights: Any) -> Sums:
    w = picked(weights)
    return sum_up([sums_from(data.gram(w[here])) for here, data in pieces(raws, chunks, standard)])


def take_from(raws: list[Any], chunks: list[Chunk], standard: Any, first: int, columns: Array) -> Array:
    """Some features of a group, all samples; `first` is where the group begins in its bundle."""
    known = as_standard(standard)
    parts = []
    for raw, chunk in zip(raws, chunks, strict=True):
        raw = cut(raw, chunk)[:, columns]
        parts.append(piece(raw, None if known is None else known.cut(first + columns)).take(slice(None)))
    return np.concatenate(parts)


def product_of(A: Any, right: Array) -> Array:
    """A feature array times a small matrix."""
    return picked(A) @ right


def inner_of(A: Any, B: Any, edges: list[int]) -> Sums:
    """A'B, from one group after the other."""
    A, B = picked(A), picked(B)
    return sum_up([sums_from(A[a:b].T @ B[a:b]) for a, b in pairwise(edges)])
