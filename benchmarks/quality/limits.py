"""Calls in a process of their own, within a time and a memory limit."""

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import psutil

_LOOK = 0.02  # seconds between two looks at the process
_PATIENCE = 10.0  # wall time, in processor times


class OverLimit(RuntimeError):
    """A call took longer, or more memory, than it was given."""


class Worker:
    """A process that runs one call after another. It is ended, and begun anew, when a call is over a limit.

    Parameters
    ----------
    seconds : float or None
        Most processor time of a call, so that other work on the machine does not count. A call that waits is ended
        after ten times as much wall time.
    megabytes : float or None
        Most memory of a call, on top of what the process holds before it.
    """

    def __init__(self, seconds: float | None = None, megabytes: float | None = None) -> None:
        self.seconds, self.megabytes = seconds, megabytes
        self._process: multiprocessing.process.BaseProcess | None = None
        self._line: Connection | None = None

    def call(self, function: Callable, *arguments: object) -> object:
        """Run a function of a module, and return its result. Without limits it runs here.

        Raises
        ------
        OverLimit
            When the call is over a limit, or its process died.
        """
        if self.seconds is None and self.megabytes is None:
            return function(*arguments)
        if self._process is None:
            self._begin()
        assert self._process is not None and self._line is not None
        self._line.send((function, arguments))
        problem, result = self._wait(psutil.Process(self._process.pid), time.monotonic())
        if isinstance(problem, Exception):
            raise problem
        return result

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None

    def _begin(self) -> None:
        # A forked child could inherit locks of OpenMP threads that are not there any more.
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._line.recv()

    def _wait(self, process: psutil.Process, begin: float) -> tuple:
        assert self._line is not None
        before, used = process.memory_info().rss, _processor_time(process)
        while not self._line.poll(_LOOK):
            over = ""
            waited, worked = time.monotonic() - begin, _processor_time(process) - used
            if self.seconds is not None and (worked > self.seconds or waited > _PATIENCE * self.seconds):
                over = f"over {self.seconds:g} s"
            if self.megabytes is not None and process.memory_info().rss - before > self.megabytes * 2**20:
                over = f"over {self.megabytes:g} MB"
            if over:
                self.close()
                raise OverLimit(over)
        try:
            return self._line.recv()
        except EOFError:
            self.close()
            raise OverLimit("its process ended") from None


def _processor_time(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _serve(line: Connection) -> None:
    line.send("ready")
    while True:
        try:
            function, arguments = line.recv()
        except EOFError:
            return
        try:
            answer = (None, function(*arguments))
        except Exception as problem:
            answer = (RuntimeError(f"{type(problem).__name__}: {problem}"), None)
        line.send(answer)
