"""Data on disk, read along the features: the next pieces are read while these are used."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from typing import Any, TypeVar

import numpy as np

from eigensieve._types import Array
from eigensieve.data.blocks import Block
from eigensieve.data.disk.memory import show_bytes
from eigensieve.data.disk.samples import SampleSubset, chosen_samples
from eigensieve.data.disk.sources import ALIVE, Source, read_failure
from eigensieve.data.matrix import DataMatrix, Work
from eigensieve.data.threads import limited_blas, thread_count

Result = TypeVar("Result")

_PIECE_BYTES = 130_000_000  # long stretches of every sample, and still little memory
_SEGMENTS = 8  # parts a piece is cut into for the threads: fixed, so that sums do not depend on their number


def float_type(dtype: Any) -> Any:
    """The type products are computed in: float32 stays, everything else is float64."""
    return np.float32 if np.dtype(dtype) == np.float32 else np.float64


class StreamedData(DataMatrix):
    """A stored matrix read in pieces of consecutive features, ahead of the arithmetic.

    Parameters
    ----------
    source : Source
    max_memory : int
        Bytes all pieces together may take.
    """

    def __init__(self, source: Source, max_memory: int) -> None:
        super().__init__(source.shape[0], source.shape[1], float_type(source.dtype))
        self.source = source
        self.max_memory = max_memory
        self.width = piece_width(source, max_memory)
        self.reuses_memory = True
        self._shared["names"] = source.feature_names
        self._shared["buffers"] = []

    def block(self, start: int, stop: int) -> Block:
        piece = self._piece(start, self._read(start, stop, None))
        return piece.block(0, stop - start).moved(start)

    def block_moments(self, start: int, stop: int) -> tuple[Array, Array, Array, Array]:
        return self._piece(start, self._read(start, stop, None)).block_moments(0, stop - start)

    def block_size(self) -> int:
        return self.width

    def take(self, indices: Any) -> Array:
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
            piece = self._piece(first, self._read(first, stop, None))
            out[:, some] = piece.take(wanted[some] - first)
            position = last
        return out

    def map_blocks(self, fn: Callable[[Block], Result]) -> list[Result]:
        # what fn returns may be a view of the block, so that nothing may be read over it
        view = copy(self)
        view.reuses_memory = False
        return super(StreamedData, view).map_blocks(fn)

    def __getitem__(self, key: Any) -> DataMatrix:
        """Some samples, as data that is read in the same way: ``data[rows]``, for subsamples and folds."""
        from eigensieve.data.disk.opening import stream

        if self.center is not None or self.scale is not None:
            raise TypeError("Samples are taken from the raw data, before it is centred and scaled.")
        return stream(SampleSubset(self.source, chosen_samples(key, self.n_samples)), self.max_memory)

    def toarray(self) -> Array:
        """Everything in memory, as a dense array."""
        return self.take(np.arange(self.n_features))

    # -- inner ---------------------------------------------------------------------------------------

    def _piece(self, start: int, raw: Any) -> DataMatrix:
        """What was read, as a data matrix in memory that is centred and scaled like this one."""
        from eigensieve.data.backends import as_data

        here = slice(start, start + raw.shape[1])
        center = None if self.center is None else self.center[here]
        scale = None if self.scale is None else self.scale[here]
        piece = as_data(raw).rescaled(center, scale)
        piece.far = None if self.far is None else self.far[here]
        return piece

    def _read(self, start: int, stop: int, buffer: Array | None) -> Any:
        try:
            raw = self.source.columns(start, stop, buffer)
        except Exception as error:
            self.source.check()
            raise read_failure(self.source.name, f"features {start} to {stop - 1}", error) from error
        if raw.shape != (self.n_samples, stop - start):
            raise read_failure(self.source.name, f"features {start} to {stop - 1}", ValueError(f"got {raw.shape}"))
        return raw

    def _run(self, work: Work[Result]) -> Iterator[Result]:
        """One pass: reading threads stay in front, working threads use them in order."""
        self._shared["passes"] += 1
        self.source.check()
        threads = thread_count()
        starts = deque(range(0, self.n_features, self.width))
        free = self._buffers()
        reads: deque[tuple[int, Array | None, Future[Any]]] = deque()
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
                    piece = self._piece(start, future.result())
                    segments = piece._segments(_SEGMENTS)
                    active.append((buffer, [workers.submit(work, piece, start, spans) for spans in segments]))
                    if len(active) > 1:
                        yield from finished()
                    read_on()
                    self._report(start + piece.n_features)
                while active:
                    yield from finished()
            if self.reuses_memory:
                self._shared["buffers"] = [buffer for buffer in free if buffer is not None]
            self.source.check()
        finally:
            readers.shutdown(cancel_futures=True)
            workers.shutdown(cancel_futures=True)

    def _buffers(self) -> list[Array | None]:
        """Memory the pieces are read into, kept from pass to pass: fresh memory is cleared every time."""
        if not self.reuses_memory or self.source.itemsize != self.source.dtype.itemsize:
            return [None] * ALIVE
        buffers = self._shared.pop("buffers", [])  # taken, not lent: another pass at the same time makes its own
        while len(buffers) < ALIVE:
            buffers.append(self.source.memory(min(self.width, self.n_features)))
        return buffers

    def _report(self, done: int) -> None:
        share = done / self.n_features
        size = show_bytes(self.source.nbytes)
        self._shared["progress"](f"pass {self.n_passes}: {share:.0%} of {size} read from {self.source.name}")


def piece_width(source: Source, max_memory: int) -> int:
    """How many features a piece holds: whole stored chunks, within the memory allowed."""
    n_samples, n_features = source.shape
    per_feature = max(1e-9, n_samples * source.itemsize)
    allowed = max_memory / ALIVE / per_feature
    if allowed < 1:
        need = int(np.ceil(per_feature * ALIVE))
        raise ValueError(
            f"The 'max_memory' parameter of open_data must be at least {show_bytes(need)} for "
            f"{source.name}: {ALIVE} "
            f"pieces of one feature with {n_samples} samples each. Got {show_bytes(max_memory)} instead."
        )
    width = int(
        max(
            1,
            min(allowed, max(_PIECE_BYTES / per_feature, 1 if source.by_samples else source.step), n_features),
        )
    )
    source.settle(width)
    while width > 1 and not source.by_samples and source.largest(width) > max_memory / ALIVE:
        width = (width + 1) // 2
    if source.by_samples:
        return width
    return width // source.step * source.step if width > source.step else width
