"""A process that tries one case after another, under limits of time and memory, and may die of it."""

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from multiprocessing import current_process, forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from fuzz.targets import draw, module_of

SECONDS = 10  # of processor time that a case may take, unless its module has a number of its own
MEGABYTES = 500  # that the process may grow by
_PATIENCE = 300.0  # seconds of the clock, at least, until a process that gives no answer counts as hung
_ROOM = 3 * 10**9  # address space on top of what the process has, so that a bomb does not take the machine along
_LOADING = 30  # seconds more: compiled functions are loaded the first time
_LIFE = 2000  # cases per process; what libraries keep for ever is not taken for the memory of one case

Answer = tuple[str, float, float]
"""The outcome of a case, seconds of processor time, megabytes that the process has grown by."""


class Worker:
    """Try cases in another process, which is replaced when it dies, hangs or grows."""

    def __init__(self) -> None:
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["fuzz.preload"])
        _start_forkserver()
        self._process: Any = None
        self._pipe: Any = None
        self._used = 0  # cases that the process has been given
        self._patience = _PATIENCE

    def attempt(self, target: str, case: Any) -> Answer:
        """Try one case that is at hand."""
        self._send((target, case, None, None))
        return self._answer()

    def cases(self, target: str, seed: int, first: int, last: int) -> Iterator[tuple[int, Answer]]:
        """Try the cases with these numbers. The process draws them itself, which saves the way through the pipe."""
        number = first
        while number < last:
            if self._used >= _LIFE:
                self.stop()
            stop = min(last, number + _LIFE - self._used)
            self._send((target, None, seed, range(number, stop)))
            while number < stop:
                yield number, self._answer()
                number += 1
                if self._process is None:
                    break

    def _answer(self) -> Answer:
        try:
            answer: Answer | None = self._pipe.recv() if self._pipe.poll(self._patience) else None
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            name = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
            answer = (f"FAILED over {SECONDS} seconds" if name == "SIGPROF" else f"FAILED crash {name}"), SECONDS, 0.0
        if answer is None:
            answer = f"FAILED hang: no answer in {self._patience:g} seconds", self._patience, 0.0
        if answer[0].startswith("FAILED "):
            self.stop()
        return answer

    def _send(self, task: Any) -> None:
        if self._process is None:
            self._pipe, other = self._context.Pipe()
            self._process = self._context.Process(target=_serve, args=(other,), daemon=True)
            self._process.start()
            other.close()
        self._used += 1 if task[-1] is None else len(task[-1])
        self._patience = max(_PATIENCE, 5.0 * getattr(module_of(task[0]), "SECONDS", SECONDS))
        self._pipe.send(task)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None
        self._used = 0


def _start_forkserver() -> None:
    """Start the process that the workers are forks of. It must find this folder to import what they need."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        forkserver.ensure_running()
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _serve(pipe: Connection) -> None:
    from fuzz.preload import survey_by_fork

    survey_by_fork()
    current_process()._config["daemon"] = False  # so that a case may start processes of its own
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # inherited by what a case starts
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _ROOM, size + _ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    small = _megabytes()
    try:
        while True:
            target, case, seed, numbers = pipe.recv()
            for number in (None,) if numbers is None else numbers:
                answer = _limited(target, case if number is None else draw(target, seed, number), small)
                pipe.send(answer)
    except (EOFError, BrokenPipeError):
        return


def _megabytes() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def _limited(target: str, case: Any, small: float) -> Answer:
    module = module_of(target)
    allowed = getattr(module, "SECONDS", SECONDS)
    for more in (_LOADING, 0):
        # the default action of SIGPROF ends the process: nothing that runs can prevent it
        signal.setitimer(signal.ITIMER_PROF, allowed + more)
        start = time.process_time()
        outcome = attempt(module, case)
        seconds = time.process_time() - start
        signal.setitimer(signal.ITIMER_PROF, 0)
        if seconds < allowed:
            break
    grown = _megabytes() - small
    if grown > MEGABYTES:
        outcome = f"FAILED over {MEGABYTES} MB: {grown:.0f} MB, {outcome}"
    return outcome, seconds, grown


def attempt(module: ModuleType | type, case: Any) -> str:
    """Try one case here; return the outcome, beginning with "FAILED" if a promise was broken."""
    try:
        return str(module.check(case))
    except MemoryError as error:
        return f"FAILED MemoryError{_where(error)}: {error}"
    except Exception as error:
        return f"FAILED {type(error).__name__}{_where(error)}: {str(error).strip()[:300]}"


def _where(error: BaseException) -> str:
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/eigensieve/" in frame.filename]
    return f" in {Path(ours[-1].filename).name} {ours[-1].name}" if ours else ""
