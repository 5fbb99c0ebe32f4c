"""What runs on the workers: functions of one chunk of the data and the feature arrays that live beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigensieve.data._matrix import BlockFunction, DataMatrix, Sweep, add_up
from eigensieve.data._moments import Moments, moments

Array = NDArray[Any]


@dataclass(frozen=True)
class Chunk:
    """Where a chunk lies in the whole, and which columns of the stored chunk it is cut from."""

    rows: tuple[int, int]
    features: tuple[int, int]
    columns: tuple[int, int]
    width: int
    """Columns of the stored chunk."""


@dataclass(frozen=True)
class Job:
    """What the client sends to the workers in a pass: thin matrices and the function of a block."""

    fn: Callable[..., Any]
    V: Array | None = None


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


def piece(raw: Any, standard: Array | None) -> DataMatrix:
    """A chunk as a data matrix in memory; it works on the calling thread, for Dask runs many at a time."""
    from eigensieve.data import as_data

    if isinstance(raw, np.matrix):
        raw = np.asarray(raw)
    if isinstance(raw, np.ndarray) and not raw.flags.aligned:
        raw = raw.copy()  # as chunks from another worker may come; every product would make its own copy
    data = as_data(raw)
    data.n_segments = 1
    if standard is not None:
        data = data.rescaled(_column(standard, 0), _column(standard, 1))
        data.far = _column(standard, 2)
    return data


def _column(standard: Array, which: int) -> Array | None:
    """Centres, scales or distances from zero of a group; a missing kind is marked by NaN."""
    column = standard[:, which]
    return None if len(column) and np.isnan(column[0]) else np.ascontiguousarray(column)


def whole(raws: list[Any], chunks: list[Chunk], standard: Array | None) -> DataMatrix:
    """All samples of a group of features."""
    parts = [cut(raw, chunk) for raw, chunk in zip(raws, chunks, strict=True)]
    if len(parts) == 1:
        return piece(parts[0], standard)
    if hasattr(parts[0], "tocsc"):
        from scipy.sparse import vstack

        return piece(vstack(parts, format="csc"), standard)
    return piece(np.concatenate(parts), standard)


def given(part: Array) -> Array:
    """A part of a feature array that the client sent: as a task, it can be asked to stay beside its chunk."""
    return part


def picked(item: Any) -> Array:
    """A feature array of a group: sent by the client as it is, or one of those a pass left behind."""
    if not isinstance(item, tuple):
        return np.asarray(item)
    found, which = item
    array: Array = found.state[which]
    return array


def sweep_whole(job: Job, raws: list[Any], chunks: list[Chunk], standard: Array | None, *state: Array) -> Sweep:
    """The fused pass over one group, when all its samples are in one chunk."""
    return whole(raws, chunks, standard).sweep(job.V, job.fn, [picked(item) for item in state])


def forward(job: Job, raw: Any, chunk: Chunk, standard: Array | None) -> Array:
    """The part of M V that the samples of one chunk add."""
    assert job.V is not None
    return piece(cut(raw, chunk), standard).project(job.V[slice(*chunk.rows)])


def apply(job: Job, parts: list[Array] | None, *state: Any) -> Sweep:
    """The block function on a group, once its projections are complete; `back` holds W for the way back."""
    fn: BlockFunction = job.fn
    T = None if parts is None else np.sum(parts, axis=0) if len(parts) > 1 else parts[0]
    new, W, total = fn(T, *(picked(item) for item in state))
    return Sweep(new, W, total)


def backward(found: Sweep, raw: Any, chunk: Chunk, standard: Array | None) -> tuple[Array | None]:
    """M_b' W_b for the samples of one chunk."""
    return (None if found.back is None else piece(cut(raw, chunk), standard).combine(found.back),)


def sums_of(found: Sweep, *fields: str) -> tuple[Array | None, ...]:
    """The small arrays of a pass over a group, apart from the feature arrays, which must stay where they are."""
    return tuple(getattr(found, field) for field in fields)


def sum_of(parts: list[tuple[Array | None, ...]]) -> tuple[Array | None, ...]:
    """Add up entry by entry, in the given order; None stands for nothing."""
    # copies: what is added to must not be what a worker keeps, for a lost sum is made again from it
    totals = [None if part is None else part.astype(np.float64) for part in parts[0]]
    for part in parts[1:]:
        totals = [a if b is None else add_up(a, b) for a, b in zip(totals, part, strict=True)]
    return tuple(totals)


def stacked(parts: list[tuple[Array | None]], totals: tuple[Array | None]) -> tuple[Array | None, Array | None]:
    """The backward products of all samples and the small sums: what goes to the client."""
    known = [part[0] for part in parts if part[0] is not None]
    return (np.concatenate(known) if known else None), totals[0]


def chunk_moments(raw: Any, chunk: Chunk) -> Moments:
    return moments(piece(cut(raw, chunk), None))


def merged_moments(parts: list[Moments]) -> Moments:
    found = parts[0]
    for part in parts[1:]:
        found = found.merged(part)
    return found


def run_group(job: Job, raws: list[Any], chunks: list[Chunk], standard: Array | None) -> Any:
    """What a pass does with the blocks of a group."""
    data = whole(raws, chunks, standard)
    return job.fn(data, chunks[0].features[0], data._segments(1)[0])


def gram_of(_: None, raws: list[Any], chunks: list[Chunk], standard: Array | None, weights: Any) -> tuple[Array]:
    return (whole(raws, chunks, standard).gram(picked(weights)),)


def take_from(raws: list[Any], chunks: list[Chunk], standard: Array | None, columns: Array) -> Array:
    """Some features of a group, all samples."""
    parts = []
    for raw, chunk in zip(raws, chunks, strict=True):
        raw = cut(raw, chunk)[:, columns]
        parts.append(piece(raw, None if standard is None else standard[columns]).take(slice(None)))
    return np.concatenate(parts)


def inner_of(A: Any, B: Any) -> tuple[Array]:
    return (picked(A).T @ picked(B),)
