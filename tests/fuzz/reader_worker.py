"""A process that reads one file after another, under limits of time and memory, and may die of it."""

import os
import resource
import signal
import time
import traceback
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

SECONDS = 10.0
MEGABYTES = 500
_PATIENCE = 60.0  # seconds without computing
_ROOM = 3 * 10**9  # address space on top of what the worker has, so that a bomb does not take the machine along


@dataclass(frozen=True)
class Outcome:
    """What came of reading one file.

    Attributes
    ----------
    kind : str
        "read" or "refused", which are good; "exception", "crash", "hang" or "memory", which are not.
    about : str
        The message, or where the exception came from.
    seconds : float
    """

    kind: str
    about: str = ""
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.kind in ("read", "refused")


class Worker:
    """Read files in another process, which is replaced when it dies, hangs or grows."""

    def __init__(self) -> None:
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["fuzz.reader_preload"])
        self._process: Any = None
        self._pipe: Any = None

    def read(self, path: Path, how: dict[str, Any]) -> Outcome:
        """Read one file; `how` goes to ``read_table``, or, with the key "open", the file is opened in place."""
        if self._process is None:
            self._start()
        began = time.monotonic()
        self._spent = 0.0
        self._spent = self._busy()
        self._pipe.send((path, how))
        answered = self._pipe.poll(SECONDS)
        while not answered and self._busy() < SECONDS and time.monotonic() - began < _PATIENCE:
            answered = self._pipe.poll(1.0)  # the machine is busy with others
        try:
            outcome = self._pipe.recv() if answered else None
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            self.stop()
            return Outcome("crash", signal.Signals(-code).name if code and code < 0 else f"exit code {code}")
        seconds = time.monotonic() - began
        if outcome is None:
            self.stop()
            return Outcome("hang", f"more than {SECONDS:g} s", seconds)
        if outcome[0] == "memory":
            self.stop()
        return Outcome(*outcome, seconds)

    def _busy(self) -> float:
        """Seconds of computing that this file has taken so far."""
        process = psutil.Process(self._process.pid)
        times = [each.cpu_times() for each in (process, *process.children())]
        return sum(time.user + time.system for time in times) - self._spent

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _serve(pipe: Connection) -> None:
    from fuzz.reader_preload import survey_by_fork

    survey_by_fork()
    os.close(2)
    os.open(os.devnull, os.O_WRONLY)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _ROOM, size + _ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        path, how = pipe.recv()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        kind, about = _read(path, how)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
        if grown > MEGABYTES:
            kind, about = "memory", f"{grown:.0f} MB for {kind} {about}"
        pipe.send((kind, about))


def _read(path: Path, how: dict[str, Any]) -> tuple[str, str]:
    import warnings

    from eigensieve.tables import DataError, read_table

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if how.get("open"):
                return "read", _open(path)
            table = read_table(path, **how)
        return "read", f"{table.X.shape}"
    except DataError as error:
        return "refused", str(error)
    except MemoryError as error:
        return "memory", f"{error} {_where(error)}"
    except Exception as error:
        if how.get("open") and type(error) in (ValueError, OSError, FileNotFoundError):
            return "refused", str(error)
        return "exception", f"{type(error).__name__} {_where(error)}: {error}"


def _open(path: Path) -> str:
    from eigensieve.data import open_data

    data = open_data(path, max_memory="50MB")
    if data.n_samples * data.n_features < 10**7:
        data.stats()
    return f"{data.n_samples} x {data.n_features}"


def _where(error: BaseException) -> str:
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "eigensieve" in frame.filename]
    return f"in {Path(ours[-1].filename).name}:{ours[-1].name}" if ours else ""
