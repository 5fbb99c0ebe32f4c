"""Progress of long work, in one place: a callback, and a plain printer for ``verbose``."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[str], None]
"""Called with one short line for each step of a long computation."""


silent: Progress = deque[str](maxlen=0).append
"""The default when nobody asked for progress: a queue of length 0, which drops every line."""


class Printer:
    """Print progress lines to standard error: at most one every half second, and every line from ``verbose=2`` on."""

    def __init__(self, name: str, verbose: int) -> None:
        self.name = name
        self.interval = 0.0 if verbose > 1 else 0.5
        self.last = -float("inf")
        self.start = time.monotonic()

    def __call__(self, message: str) -> None:
        now = time.monotonic()
        if now - self.last >= self.interval:
            self.last = now
            print(f"[{self.name}] {now - self.start:6.1f}s  {message}", file=sys.stderr, flush=True)


_listener: ContextVar[Progress | None] = ContextVar("_listener", default=None)


@contextmanager
def progress_to(listener: Progress) -> Iterator[None]:
    """Send the progress of every fit in this block to `listener`, for any value of `verbose`.

    For programs that show progress in their own way. It holds for the calling thread or task only.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def progress_for(name: str, verbose: int | bool) -> Progress:
    """Return the callback set by :func:`progress_to`, or else the printer that `verbose` asks for."""
    listener = _listener.get()
    if listener is not None:
        return listener
    return Printer(name, int(verbose)) if verbose else silent
