"""Ordered work on threads, with the BLAS kept to one thread inside each."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looking them up is slow, so it is done once."""
    import numpy  # noqa: F401  (its BLAS must be loaded to be found)
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


@cache
def _processors() -> int:
    return int(cpu_count())


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
