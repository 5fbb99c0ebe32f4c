"""The parts of a pass: blocks of consecutive features, sums over them, and ordered work on threads.

A block holds the rows m_i of M (features x samples) with start <= i < stop. Inside each thread the BLAS uses one.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import cpu_count
from scipy.sparse import csr_array
from threadpoolctl import ThreadpoolController

from eigensieve._types import FloatArray, IntArray

Item = TypeVar("Item")
Result = TypeVar("Result")


class Block(Protocol):
    """The interface of a block of features."""

    start: int
    stop: int

    def forward(self, V: FloatArray) -> FloatArray:
        """Return M_b V (features of the block x columns of V)."""

    def back(self, W: FloatArray) -> FloatArray:
        """Return M_b' W (samples x columns of W)."""

    def add_back(self, W: FloatArray, values: FloatArray, shift: FloatArray) -> None:
        """Add M_b' W to `values` minus `shift`, the two arrays of a `BackwardSum`."""

    def gram(self, weights: FloatArray) -> FloatArray:
        """Return M_b' diag(weights) M_b (samples x samples)."""

    def quadratic(self, S: csr_array) -> FloatArray:
        """Return m_i' S m_i for every feature of the block; S is symmetric and sparse."""

    def squares(self, weights: FloatArray) -> FloatArray:
        """Return sum_t weights_t m_it^2 for every feature of the block."""

    def grouped_sums(self, codes: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Add up every feature over groups of samples, in float64; group -1 is left out. Returns the sums (groups x
        features) of u_t, per feature the sum of u_t^2, and per feature a unit. The feature is u_t * unit plus an
        offset, chosen so that little is lost to rounding. Copies of a feature get the same sums, bit by bit."""

    def toarray(self) -> FloatArray:
        """Return M_b' as a dense array (samples x features of the block)."""


def numbered(block: Block, start: int) -> Block:
    """Number the features of a block as in the whole data, not as in its piece."""
    block.start, block.stop = start, start + block.stop - block.start
    return block


def add_up(total: FloatArray | None, term: FloatArray) -> FloatArray:
    """Add to a sum in float64, in place once it is there."""
    return term.astype(np.float64) if total is None else np.add(total, term, out=total)


class BackwardSum:
    """The sum of M_b' W_b over blocks, in float64."""

    def __init__(self) -> None:
        self.values: FloatArray | None = None  # samples x columns
        self.shift: FloatArray | None = None  # subtracted from every sample once: implicit centring of all blocks

    def room(self, n_samples: int, n_columns: int) -> tuple[FloatArray, FloatArray]:
        """Return values and shift as arrays to add to."""
        if self.values is None or self.shift is None:
            self.values, self.shift = np.zeros((n_samples, n_columns)), np.zeros(n_columns)
        return self.values, self.shift

    def result(self) -> FloatArray | None:
        """Return the sum; None when there was no block."""
        if self.values is not None and self.shift is not None:
            self.values -= self.shift
            self.shift = np.zeros_like(self.shift)
        return self.values


@dataclass(frozen=True)
class Sweep:
    """The result of a sweep."""

    state: tuple[FloatArray, ...]  # feature arrays from the block function
    back: FloatArray | None  # sum over blocks of M_b' W_b, samples x columns, in float64
    total: FloatArray | None  # sum over blocks of the small arrays, in float64


BlockFunction = Callable[..., tuple[tuple[FloatArray, ...], FloatArray | None, FloatArray | None]]
"""fn(T_b, *state_b) -> (new state of the block, W_b or None, small array to be summed or None).

It may have a method ``fused(columns, V, state_b, new state to fill, backward sum to add to)``. This does the same for
dense columns as they are stored, products included, and returns the small array; None where it does not apply.
"""


@cache
def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looking them up is slow, so it is done once."""
    import numpy  # noqa: F401  (its BLAS must be loaded to be found)
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


_processors = cache(cpu_count)
_pool_size: ContextVar[int | None] = ContextVar("pool_size", default=None)


def thread_count() -> int:
    """Return how many threads to use: as many as the BLAS may, and no more than this process has processors."""
    remembered = _pool_size.get()
    if remembered is not None:
        return remembered
    allowed = [lib["num_threads"] for lib in _controller().info() if lib["user_api"] == "blas"]
    return max(1, min([_processors(), *allowed]))


def limited_blas() -> Any:
    """Return a context in which the BLAS uses one thread: the blocks already run on all of them."""
    return _controller().limit(limits=1, user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context in which the BLAS uses one thread, while passes over the data use as many as before. The BLAS's own
    threads keep spinning for a while after every product, on cores that the passes need. For the small matrices between
    two passes they gain nothing."""
    token = _pool_size.set(thread_count())
    try:
        with limited_blas():
            yield
    finally:
        _pool_size.reset(token)


def ordered_map(fn: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Yield ``fn(item)`` in the order of `items`, computed on threads. At most one result more than there are threads
    is alive at a time, so that adding them up needs little memory. The order is fixed, so that the sum is the same on
    every run and for every number of threads."""
    return _on_threads(fn, items) if len(items) > 1 else map(fn, items)


def _on_threads(fn: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    threads = min(thread_count(), len(items))
    with limited_blas():
        if threads == 1:
            yield from map(fn, items)
            return
        with ThreadPoolExecutor(threads, thread_name_prefix="eigensieve") as pool:
            waiting: deque[Future[Result]] = deque()
            try:
                for item in items:
                    waiting.append(pool.submit(fn, item))
                    if len(waiting) > threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()
