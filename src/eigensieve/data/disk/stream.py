"""Data on disk, read along the features: the next pieces are read while these are used."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from typing import Any, TypeVar

import numpy as np

from eigensieve._types import Array, FloatArray, IntArray, Raw
from eigensieve.data.disk.sources import ALIVE, Source, chosen_samples, show_bytes, too_little
from eigensieve.data.kinds import as_data
from eigensieve.data.matrix import DataMatrix, Work
from eigensieve.data.passes import Block, limited_blas, numbered, thread_count
from eigensieve.data.stats import BlockMoments

Result = TypeVar("Result")

_PIECE_BYTES = 130_000_000  # long reads of every sample, and still little memory
_SEGMENTS = 8  # of each piece: fixed, so that sums do not depend on the number of threads


class StreamedData(DataMatrix):
    """A stored matrix read in pieces of consecutive features, ahead of the arithmetic, within `max_memory` bytes."""

    def __init__(self, source: Source, max_memory: int) -> None:
        super().__init__(*source.shape, np.dtype(np.float32 if source.dtype == np.float32 else np.float64))
        self.source = source
        self.max_memory = max_memory
        self.width = piece_width(source, max_memory)
        self.reuses_memory = True
        self.shared.names = source.feature_names

    def block(self, start: int, stop: int) -> Block:
        return numbered(self._piece(start, stop).block(0, stop - start), start)

    def block_moments(self, start: int, stop: int) -> BlockMoments:
        return self._piece(start, stop).block_moments(0, stop - start)

    def block_size(self) -> int:
        return self.width

    def take(self, indices: IntArray | slice) -> FloatArray:
        self.source.check()
        wanted = np.arange(self.n_features)[indices]
        order = np.argsort(wanted, kind="stable")
        out = np.empty((self.n_samples, len(wanted)), dtype=self.dtype)
        position = 0
        while position < len(order):
            first = int(wanted[order[position]])
            last = position + int(np.searchsorted(wanted[order[position:]], first + self.width))
            some = order[position:last]
            stop = int(wanted[some[-1]]) + 1
            out[:, some] = self._piece(first, stop).take(wanted[some] - first)
            position = last
        return out

    def map_blocks(self, fn: Callable[[Block], Result]) -> list[Result]:
        # the result of fn may be a view of the block, whose memory must not be used again
        view = copy(self)
        view.reuses_memory = False
        return super(StreamedData, view).map_blocks(fn)

    def __getitem__(self, key: Any) -> DataMatrix:
        """Return some samples, as data that is read in the same way: ``data[rows]``, for subsamples and folds."""
        if self.center is not None or self.scale is not None:
            raise TypeError("Samples are taken from the raw data, before it is centred and scaled.")
        return type(self)(self.source.subset(chosen_samples(key, self.n_samples)), self.max_memory)

    def samples(self, rows: IntArray) -> DataMatrix:
        """Return some samples, in memory where the memory allowed suffices, else read from disk in every pass."""
        if self._too_large(rows):
            some = type(self)(self.source.subset(rows), self.max_memory)
            some.report_to(self.shared.progress)
            return some.rescaled(self.center, self.scale, self.far)
        return super().samples(rows)

    def toarray(self) -> FloatArray:
        """Return everything as a dense array in memory."""
        return self.take(np.arange(self.n_features))

    def _too_large(self, rows: IntArray) -> bool:
        return self.source.nbytes * len(rows) / self.n_samples > self.max_memory / 2  # while it is put together: twice

    def _piece(self, start: int, stop: int) -> DataMatrix:
        return self._standardised(start, self._read(start, stop, None))

    def _standardised(self, start: int, raw: Raw) -> DataMatrix:
        """Return raw values as a data matrix in memory that is centred and scaled like this one."""
        here = slice(start, start + raw.shape[1])
        columns = (self.center, self.scale, self.far)
        return as_data(raw).rescaled(*(None if column is None else column[here] for column in columns))

    def _read(self, start: int, stop: int, buffer: Array | None) -> Raw:
        return self._guarded(lambda: self.source.columns(start, stop, buffer), "features", start, stop)

    def _guarded(self, read: Callable[[], Raw], axis: str, start: int, stop: int) -> Raw:
        """Read; an error names the part that failed."""
        shape = (self.n_samples, stop - start) if axis == "features" else (stop - start, self.n_features)
        try:
            raw = read()
            if raw.shape != shape:
                raise ValueError(f"got {raw.shape}")
        except Exception as error:
            self.source.check()
            raise OSError(
                f"Reading {axis} {start} to {stop - 1} of {self.source.name} failed: {error}. The file may be "
                "truncated, damaged or still being written; check it, then open it again."
            ) from error
        return raw

    def each_segment(self, work: Work[Result]) -> Iterator[Result]:
        """One pass: some threads read ahead, others work on the pieces, in order."""
        self.shared.passes += 1
        self.source.check()
        threads = thread_count()
        starts = deque(range(0, self.n_features, self.width))
        free = self._buffers()
        reads: deque[tuple[int, Array | None, Future[Raw]]] = deque()
        active: deque[tuple[Array | None, list[Future[Result]]]] = deque()
        readers = ThreadPoolExecutor(self.source.threads, thread_name_prefix="eigensieve-read")
        workers = ThreadPoolExecutor(threads, thread_name_prefix="eigensieve")

        def read_on() -> None:
            while starts and free:
                start, buffer = starts.popleft(), free.pop()
                stop = min(start + self.width, self.n_features)
                reads.append((start, buffer, readers.submit(self._read, start, stop, buffer)))

        def finished() -> Iterator[Result]:
            buffer, futures = active.popleft()
            yield from (future.result() for future in futures)
            free.append(buffer)

        try:
            with limited_blas():
                read_on()
                while reads:
                    start, buffer, future = reads.popleft()
                    piece = self._standardised(start, future.result())
                    segments = piece.segments(_SEGMENTS)
                    active.append((buffer, [workers.submit(work, piece, start, ranges) for ranges in segments]))
                    if len(active) > 1:
                        yield from finished()
                    read_on()
                    self._report((start + piece.n_features) / self.n_features)
                while active:
                    yield from finished()
            if self.reuses_memory:
                self.shared.kept["buffers"] = [buffer for buffer in free if buffer is not None]
            self.source.check()
        finally:
            readers.shutdown(cancel_futures=True)
            workers.shutdown(cancel_futures=True)

    def _buffers(self) -> list[Array | None]:
        """Memory that pieces are read into, kept from pass to pass: fresh memory is cleared every time."""
        if not self.reuses_memory or self.source.itemsize != self.source.dtype.itemsize:
            return [None] * ALIVE
        buffers = self.shared.kept.pop("buffers", [])  # taken, not lent: another pass at the same time makes its own
        while len(buffers) < ALIVE:
            buffers.append(self.source.memory(min(self.width, self.n_features)))
        return buffers

    def _report(self, share: float) -> None:
        size = show_bytes(self.source.nbytes)
        self.shared.progress(f"pass {self.n_passes}: {share:.0%} of {size} read from {self.source.name}")


def piece_width(source: Source, max_memory: int) -> int:
    """Return how many features a piece holds: whole chunks, within the memory allowed."""
    n_samples, n_features = source.shape
    per_feature = max(1e-9, n_samples * source.itemsize)
    allowed = max_memory / ALIVE / per_feature
    if allowed < 1:
        why = f": {ALIVE} pieces of one feature with {n_samples} samples each"
        raise too_little(np.ceil(per_feature * ALIVE), source.name, why, max_memory)
    wanted = max(_PIECE_BYTES / per_feature, 1 if source.by_samples else source.step)
    width = int(max(1, min(allowed, wanted, n_features)))
    source.settle(width)
    return width if source.by_samples else fitting(source, width, max_memory)


def fitting(source: Source, count: int, max_memory: int) -> int:
    """Return how many of `count` features (or samples, with `by_samples`) fit, in whole chunks."""
    while count > 1 and source.largest(count) > max_memory / ALIVE:
        count = (count + 1) // 2
    return count // source.step * source.step if count > source.step else count
