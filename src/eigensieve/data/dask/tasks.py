"""The functions that run on the workers, for one segment: chunks of the data, and one feature array for all of its
pieces."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import vstack

from eigensieve._types import DType, FloatArray, IntArray, Raw
from eigensieve.data.kinds import as_data
from eigensieve.data.matrix import DataMatrix
from eigensieve.data.passes import BlockFunction
from eigensieve.data.stats import ColumnStats, Standard, joined_stats


@dataclass(frozen=True)
class Chunk:
    """Where a chunk lies in the whole, and which columns of the stored chunk it is cut from."""

    rows: tuple[int, int]
    features: tuple[int, int]
    columns: tuple[int, int]
    width: int  # columns of the stored chunk


@dataclass(frozen=True, eq=False)
class Job:
    """The message from the client to the workers in a pass."""

    fn: Callable[..., Any]  # the work on a block, or on the blocks of a piece
    V: FloatArray | None = None  # left side of the forward product
    examples: tuple[FloatArray, ...] = ()  # the new state of no features: its shapes and types


@dataclass(frozen=True)
class Filled:
    """A feature array of equal entries: its value is sent, not the array."""

    value: float
    shape: tuple[int, ...]
    dtype: DType

    def array(self) -> FloatArray:
        return np.full(self.shape, self.value, self.dtype)


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum in float64 whose last bit does not depend on the order in which workers add: the rounded sum and what
    rounding took off (Knuth's two-sum). It is never changed in place, because a worker may keep it."""

    high: FloatArray
    low: FloatArray

    @classmethod
    def of(cls, term: FloatArray) -> "Sum":
        high = term.astype(np.float64)
        return cls(high, np.zeros_like(high))

    def plus(self, other: "Sum") -> "Sum":
        high = self.high + other.high
        taken = high - self.high
        lost = (self.high - (high - taken)) + (other.high - taken)
        return Sum(high, self.low + other.low + lost)

    def result(self) -> FloatArray:
        return np.where(np.isfinite(self.low), self.high + self.low, self.high)  # infinities leave no remainder

    def __sizeof__(self) -> int:
        return int(self.high.nbytes + self.low.nbytes)


Sums = tuple[Sum | None, ...]
"""Several sums; None stands for nothing."""


def sums_from(*terms: FloatArray | None) -> Sums:
    return tuple(None if term is None else Sum.of(term) for term in terms)


def sum_up(terms: Sequence[Sums]) -> Sums:
    """Add up entry by entry."""
    total = terms[0]
    for term in terms[1:]:
        total = tuple(b if a is None else a if b is None else a.plus(b) for a, b in zip(total, term, strict=True))
    return total


def results(terms: Sequence[Sums]) -> list[FloatArray | None]:
    """Add up, and put the two numbers of every sum together."""
    return [None if total is None else total.result() for total in sum_up(terms)]


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a sweep over a segment: new feature arrays, sums, and W where the product back is still to come."""

    state: tuple[FloatArray, ...]
    W: FloatArray | None
    sums: Sums

    def __sizeof__(self) -> int:
        """Bytes of the arrays: the scheduler asks for it."""
        return sum(array.nbytes for array in (*self.state, *(() if self.W is None else (self.W,))))


Pieces = list[list[Any]]
"""For every piece of a segment: its chunks, samples in order."""


def cut(raw: Raw, chunk: Chunk) -> Raw:
    """Return the columns of a stored chunk that belong to a piece, once its shape is checked."""
    rows = chunk.rows[1] - chunk.rows[0]
    if getattr(raw, "shape", None) != (rows, chunk.width):
        raise ValueError(
            f"A chunk of the Dask array does not match its announced shape: samples {chunk.rows[0]} to "
            f"{chunk.rows[1] - 1} should be {rows} x {chunk.width}, got {getattr(raw, 'shape', None)}. "
            "Fix the chunks the array was built from, or call compute_chunk_sizes() on it."
        )
    return raw if chunk.columns == (0, chunk.width) else raw[:, slice(*chunk.columns)]


def piece(raw: Raw, standard: Standard | None) -> DataMatrix:
    """Return a chunk as a data matrix in memory; it works on the calling thread, because Dask runs many at a time."""
    if isinstance(raw, np.matrix):
        raw = np.asarray(raw)
    if isinstance(raw, np.ndarray) and not raw.flags.aligned:
        raw = raw.copy()  # as chunks from another worker may come; every product would make its own copy
    data = as_data(raw)
    data.n_segments = 1
    return data if standard is None else data.rescaled(standard.center, standard.scale, standard.far)


def whole(raws: list[Raw], chunks: list[Chunk], standard: Standard | None) -> DataMatrix:
    found = [cut(raw, chunk) for raw, chunk in zip(raws, chunks, strict=True)]
    if len(found) == 1:
        return piece(found[0], standard)
    if hasattr(found[0], "tocsc"):
        return piece(vstack(found, format="csc"), standard)
    return piece(np.concatenate(found), standard)


def pieces(raws: Pieces, chunks: Pieces, standard: Any) -> Iterator[tuple[slice, DataMatrix]]:
    """Yield the pieces of a segment, and their rows in its feature arrays."""
    known, start = as_standard(standard), 0
    for some, places in zip(raws, chunks, strict=True):
        first, last = places[0].features
        here = slice(start, start + last - first)
        yield here, whole(some, places, None if known is None else known.cut(here))
        start = here.stop


def as_standard(item: Any) -> Standard | None:
    """Return how to standardise: as a task made it of the statistics, or from three feature arrays."""
    if isinstance(item, list):
        return Standard(*(None if array is None else picked(array) for array in item))
    known: Standard | None = item
    return known


def given(array: FloatArray) -> FloatArray:
    """Return a feature array that the client sent: as a task, it can be asked to stay beside its chunks."""
    return array


def picked(item: Any) -> FloatArray:
    """Return a feature array of a segment: sent by the client, to be filled here, or left behind by a sweep."""
    if isinstance(item, Filled):
        return item.array()
    if not isinstance(item, list):
        return np.asarray(item)
    found, which = item
    array: FloatArray = found.state[which]
    return array


def sweep_whole(job: Job, raws: Pieces, chunks: Pieces, standard: Any, *state: Any) -> Found:
    """Sweep over a segment, when all samples of a piece are in one chunk."""
    old = [picked(item) for item in state]
    size = sum(places[0].features[1] - places[0].features[0] for places in chunks)
    # one array for all pieces: large enough for the system to give it in large pages
    new = tuple(np.empty((size, *example.shape[1:]), example.dtype) for example in job.examples)
    sums: list[Sums] = []
    for here, data in pieces(raws, chunks, standard):
        data.new_state = tuple(array[here] for array in new)
        found = data.sweep(job.V, job.fn, [array[here] for array in old])
        sums.append(sums_from(found.back, found.total))
    return Found(new, None, sum_up(sums))


def forward(job: Job, raw: Raw, chunk: Chunk, standard: Any) -> FloatArray:
    """Return the part of M V from the samples of one chunk."""
    assert job.V is not None
    return piece(cut(raw, chunk), as_standard(standard)).project(job.V[slice(*chunk.rows)])


def apply(job: Job, terms: list[FloatArray] | None, *state: Any) -> Found:
    """Apply the block function to a piece, once its projections are complete."""
    fn: BlockFunction = job.fn
    T = None if terms is None else np.sum(terms, axis=0) if len(terms) > 1 else terms[0]
    new, W, total = fn(T, *(picked(item) for item in state))
    return Found(new, W, sums_from(total))


def backward(found: Found, raw: Raw, chunk: Chunk, standard: Any) -> Sums:
    return sums_from(None if found.W is None else piece(cut(raw, chunk), as_standard(standard)).combine(found.W))


def sums_of(found: Found) -> Sums:
    """Return the sums of a sweep over a segment without its feature arrays, which must stay where they are."""
    return found.sums


def stacked(rows: list[list[Sums]], totals: list[Sums]) -> Sums:
    """Return the backward products of all samples and the small sums, for the client."""
    known = [found for row in rows for found in sum_up(row) if found is not None]
    back = None
    if known:
        back = Sum(np.concatenate([found.high for found in known]), np.concatenate([found.low for found in known]))
    return (back, *sum_up(totals))


def chunk_moments(raw: Raw, chunk: Chunk) -> ColumnStats:
    return piece(cut(raw, chunk), None).moments()


def merged_moments(found: list[ColumnStats]) -> ColumnStats:
    return reduce(ColumnStats.merged, found)


def segment_moments(raws: Pieces, chunks: Pieces) -> ColumnStats:
    """Return the statistics of all features of a segment, when all samples of a piece are in one chunk."""
    found = [chunk_moments(some[0], places[0]) for some, places in zip(raws, chunks, strict=True)]
    return joined_stats(found[0].n_samples, [(s.mean, s.centered_norm, s.finite, s.one_value) for s in found])


def flags_of(stats: ColumnStats, dtype: DType) -> tuple[IntArray, IntArray, IntArray]:
    """Return finiteness, constancy and whether the scale is extreme, one bit per feature."""
    return np.packbits(stats.finite), np.packbits(stats.constant), np.packbits(stats.extreme(dtype))


def run_pieces(job: Job, raws: Pieces, chunks: Pieces, standard: Any) -> list[Any]:
    out = []
    for (_, data), places in zip(pieces(raws, chunks, standard), chunks, strict=True):
        out.append(job.fn(data, places[0].features[0], data.segments(1)[0]))
    return out


def gram_of(raws: Pieces, chunks: Pieces, standard: Any, weights: Any) -> Sums:
    w = picked(weights)
    return sum_up([sums_from(data.gram(w[here])) for here, data in pieces(raws, chunks, standard)])


def take_from(raws: list[Raw], chunks: list[Chunk], standard: Any, first: int, columns: IntArray) -> FloatArray:
    """Return some features of a piece, all samples; `first` is where the piece begins in its segment."""
    known = as_standard(standard)
    here = None if known is None else known.cut(first + columns)
    found = [cut(raw, chunk)[:, columns] for raw, chunk in zip(raws, chunks, strict=True)]
    return np.concatenate([piece(raw, here).take(slice(None)) for raw in found])


def product_of(A: Any, right: FloatArray) -> FloatArray:
    return picked(A) @ right


def inner_of(A: Any, B: Any, edges: list[int]) -> Sums:
    """Return A'B, from one piece after the other."""
    A, B = picked(A), picked(B)
    return sum_up([sums_from(A[a:b].T @ B[a:b]) for a, b in pairwise(edges)])
