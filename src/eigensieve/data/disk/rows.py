"""Data on disk that is cheap to read along the samples only: row-chunked arrays, compressed sparse rows.

A sweep needs the projections of whole features before it can go back, so it reads the data twice: once to add up
T = sum_t x_t v_t' over the samples, once for the backward product. Projections of all features are held in memory.
Compressed rows are used as they are stored: with centres c and scales s, products of (x - c) s follow from those of the
stored x by one correction per column.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eigensieve._types import FloatArray, IntArray, Raw
from eigensieve.data.digest import place_values
from eigensieve.data.disk.sources import ALIVE, Source, too_little
from eigensieve.data.disk.stream import StreamedData, fitting
from eigensieve.data.kinds import as_data
from eigensieve.data.matrix import DataMatrix, SumFunction, joined
from eigensieve.data.passes import Block, BlockFunction, Sweep, add_up, ordered_map
from eigensieve.data.stats import ColumnStats

_SLICES = 8  # of each piece of compressed rows: fixed, so that sums do not depend on the number of threads
_FARTHEST = 100.0  # standard deviations from zero to a mean: beyond, the corrections cost too many digits


class RowStreamedData(StreamedData):
    """A stored matrix read in pieces of consecutive samples. Passes that need whole features (`map_blocks`, `gram`)
    still read along the features, in pieces as wide as the memory allows."""

    def __init__(self, source: Source, max_memory: int) -> None:
        super().__init__(source, max_memory)
        per_sample = max(1e-9, source.shape[1] * source.itemsize)
        height = int(max(1, min(max_memory / ALIVE / per_sample, source.shape[0])))
        self.height = fitting(source, height, max_memory)
        if source.largest(self.height) > max_memory / ALIVE:
            raise too_little(source.largest(1) * ALIVE, source.name, f", to hold {ALIVE} samples", max_memory)

    def take(self, indices: IntArray | slice) -> FloatArray:
        wanted = np.arange(self.n_features)[indices]
        out = np.empty((self.n_samples, len(wanted)), dtype=self.dtype)
        for first, last, piece in self._row_pieces():
            out[first:last] = piece.take(wanted)
        return out

    def samples(self, rows: IntArray) -> DataMatrix:
        if self._too_large(rows):
            return super().samples(rows)
        some = type(self)(self.source.subset(rows), self.max_memory)  # unwanted samples are read and dropped
        some.shared = self.shared
        parts = [piece for _, _, piece in some._row_pieces(of=lambda raw: raw)]
        return as_data(joined(parts, 0)).rescaled(self.center, self.scale, self.far)

    def sweep(
        self, V: FloatArray | None, fn: BlockFunction, state: Sequence[FloatArray] = (), *, donate: bool = False
    ) -> Sweep:
        segments = self._feature_segments()
        T = None if V is None else self._forward(V)[0]
        outputs = self._outputs(V, fn, state, donate)
        backs: dict[int, FloatArray] = {}

        def apply(segment: tuple[int, int]) -> FloatArray | None:
            here = slice(*segment)
            new, W, small = fn(None if T is None else T[here], *(array[here] for array in state))
            for target, value in zip(outputs, new, strict=True):
                target[here] = value
            if W is not None:
                backs[segment[0]] = W
            return small

        total: FloatArray | None = None
        for small in ordered_map(apply, segments):
            total = total if small is None else add_up(total, small)
        return Sweep(outputs, self._backward(backs) if backs else None, total)

    def sample_sums(self, fn: Callable[[Block], IntArray]) -> IntArray:
        parts = [[fn(p.block(*some)) for some in _blocks(p, 0, self.n_features)] for _, _, p in self._row_pieces()]
        return np.concatenate([np.asarray(sum(some)) for some in parts])

    def map_sums(self, V: FloatArray, weights: FloatArray, fn: SumFunction) -> FloatArray:
        return fn(slice(0, self.n_features), *self._forward(V, weights))

    def _feature_segments(self) -> list[tuple[int, int]]:
        """Ranges of features for the threads: fixed, so that sums do not depend on the number of threads."""
        edges = np.linspace(0, self.n_features, min(self.n_segments, self.n_features) + 1).round().astype(int)
        return [(int(first), int(last)) for first, last in pairwise(edges)]

    def _forward(self, V: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return M V and the weighted squares of M's rows, 0 without weights, added up over pieces of samples."""
        V, energy = np.ascontiguousarray(V), np.zeros(self.n_features)
        T = np.zeros((self.n_features, V.shape[1]), dtype=self.dtype)
        for first, last, piece in self._row_pieces():
            here = slice(first, last)

            def add(segment: tuple[int, int], piece: DataMatrix = piece, here: slice = here) -> None:
                for start, stop in _blocks(piece, *segment):
                    block = piece.block(start, stop)
                    T[start:stop] += block.forward(V[here])
                    if weights is not None:
                        energy[start:stop] += block.squares(weights[here])

            deque(ordered_map(add, self._feature_segments()), maxlen=0)
        return T, energy

    def _backward(self, backs: dict[int, FloatArray]) -> FloatArray:
        """Return M' W, a piece of samples at a time."""
        columns = next(iter(backs.values())).shape[1]
        out = np.zeros((self.n_samples, columns))
        for first, last, piece in self._row_pieces():

            def term(segment: tuple[int, int], piece: DataMatrix = piece) -> FloatArray:
                back: FloatArray | None = None
                W = backs[segment[0]]
                for start, stop in _blocks(piece, *segment):
                    back = add_up(back, piece.block(start, stop).back(W[start - segment[0] : stop - segment[0]]))
                assert back is not None
                return back

            for back in ordered_map(term, self._feature_segments()):
                out[first:last] += back
        return out

    def moments(self) -> ColumnStats:
        return reduce(ColumnStats.merged, (some for _, _, some in self._row_pieces(of=_moments)))

    def column_digests(self) -> IntArray:
        total = np.zeros(self.n_features, dtype=np.uint64)
        for first, last, piece in self._row_pieces(of=as_data):
            places = place_values(first, last)
            for start, stop in _blocks(piece, 0, self.n_features):
                total[start:stop] += piece.block_digests(start, stop, places)
        return total

    def _row_pieces(self, of: Callable[[Any], Any] | None = None) -> Iterator[tuple[int, int, Any]]:
        """One pass along the samples: the next piece is read, and passed through `of`, while this one is used."""
        self.shared.passes += 1
        self.source.check()

        def read(first: int) -> Any:
            last = min(first + self.height, self.n_samples)
            raw = self._guarded(lambda: self.source.rows(first, last), "samples", first, last)
            return as_data(raw).rescaled(self.center, self.scale, self.far) if of is None else of(raw)

        starts = range(0, self.n_samples, self.height)
        with ThreadPoolExecutor(1, thread_name_prefix="eigensieve-read") as reader:
            waiting = reader.submit(read, 0)
            for first in starts:
                piece = waiting.result()
                last = min(first + self.height, self.n_samples)
                if last < self.n_samples:
                    waiting = reader.submit(read, last)
                yield first, last, piece
                self._report(last / self.n_samples)
        self.source.check()


class SparseRowData(RowStreamedData):
    """A stored matrix in compressed rows, read in pieces of consecutive samples."""

    def _forward(self, V: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        if not self._corrections_hold():
            return super()._forward(V, weights)
        V = np.ascontiguousarray(V, dtype=self.dtype)
        center = np.zeros(self.n_features) if self.center is None else self.center
        scale = np.ones(self.n_features) if self.scale is None else self.scale
        T, energy = np.zeros((self.n_features, V.shape[1])), np.zeros(self.n_features)

        def sums(found: tuple[int, Raw]) -> tuple[FloatArray, FloatArray | None]:
            start, some = found
            here = slice(start, start + some.shape[0])
            return some.T @ V[here], None if weights is None else _squares(some, center, weights[here])

        for slices in self._slices():
            for product, own in ordered_map(sums, slices):
                T += product
                energy += 0.0 if own is None else own
        if weights is not None:
            energy = scale**2 * (energy + center**2 * weights.sum())
        T = (T - center[:, None] * V.sum(axis=0, dtype=np.float64)) * scale[:, None]
        return T.astype(self.dtype), energy

    def _backward(self, backs: dict[int, FloatArray]) -> FloatArray:
        if not self._corrections_hold():
            return super()._backward(backs)
        W = np.concatenate([backs[first] for first in sorted(backs)]).astype(np.float64)
        W = W if self.scale is None else W * self.scale[:, None]
        shift = np.zeros(W.shape[1]) if self.center is None else self.center @ W
        out, W = np.empty((self.n_samples, W.shape[1])), W.astype(self.dtype)
        for slices in self._slices():
            for (start, some), product in zip(slices, ordered_map(lambda found: found[1] @ W, slices), strict=True):
                out[start : start + some.shape[0]] = product - shift
        return out

    def _corrections_hold(self) -> bool:
        return self.center is None or (self.far is not None and bool(self.far.max(initial=0.0) <= _FARTHEST))

    def _slices(self) -> Iterator[list[tuple[int, Raw]]]:
        """One pass: the slices of each piece, with their first samples."""
        for first, last, raw in self._row_pieces(of=lambda raw: raw.astype(self.dtype, copy=False)):
            edges = np.linspace(0, last - first, min(_SLICES, last - first) + 1).round().astype(int)
            yield [(first + start, _rows(raw, start, stop)) for start, stop in pairwise(edges)]


def _moments(raw: Raw) -> ColumnStats:
    piece = as_data(raw)
    piece.n_segments = 1  # on the thread that read it
    return piece.moments()


def _blocks(piece: DataMatrix, first: int, last: int) -> Iterator[tuple[int, int]]:
    size = max(1, piece.block_size())
    return ((start, min(start + size, last)) for start in range(first, last, size))


def _rows(raw: Raw, start: int, stop: int) -> Raw:
    """Return some rows as a view; scipy's own slices are copies."""
    first, last = raw.indptr[start], raw.indptr[stop]
    arrays = (raw.data[first:last], raw.indices[first:last], raw.indptr[start : stop + 1] - first)
    return csr_array(arrays, shape=(stop - start, raw.shape[1]))


def _squares(some: Raw, center: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_t weights_t ((x_ti - c_i)^2 - c_i^2), to which zeros add nothing."""
    middle = center[some.indices]
    apart = np.square(some.data - middle) - middle**2
    return np.asarray(csr_array((apart, some.indices, some.indptr), shape=some.shape).T @ weights)
