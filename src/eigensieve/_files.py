"""Files and folders that appear whole or not at all."""

import errno
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PREFIX = ".eigensieve-"
"""The hidden folders in which files are written begin with this. A killed process may leave one behind."""

_TRIES = 20
_BETWEEN = 0.05  # seconds
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class CheckpointError(ValueError):
    """The checkpoint of an earlier run cannot be used: it belongs to another run, or is damaged."""


class StagedFile:
    """A file or folder that is written beside its destination and then moved there: for those who write several files.

    The folder of the destination must exist. A symbolic link is followed: its target is replaced, and the link stays.
    Devices, pipes and sockets are refused. Write to `path`: it lies in a hidden folder beside the destination, so that
    the move is a rename, and has its name, because libraries tell formats and compression by the name.
    """

    def __init__(self, destination: str | os.PathLike[str]) -> None:
        given = Path(destination)
        self.destination = Path(os.path.realpath(given)) if given.is_symlink() else given
        if is_special(self.destination):
            raise OSError(errno.EINVAL, "it is a device, pipe or socket, and is not replaced", str(given))
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.destination.parent))
        self.path = self._folder / self.destination.name

    def publish(self, *, flush: bool = False) -> None:
        """Move the written file or folder to the destination and replace anything there.

        With `flush` the system puts everything on the disk first: not even a power failure leaves half a file.
        """
        if flush:
            for file in self.path.iterdir() if self.path.is_dir() else [self.path]:
                _put_on_disk(file, os.O_RDWR)
        if self.destination.is_dir():
            if not self.path.is_dir():
                raise IsADirectoryError(
                    errno.EISDIR, "it is a folder, and a file does not replace it", str(self.destination)
                )
            # A folder cannot be replaced in one step: it is moved aside and then discarded.
            os.replace(self.destination, self._folder / f"{PREFIX}replaced")
        os.replace(self.path, self.destination)
        if flush and os.name == "posix":  # elsewhere a folder cannot be opened
            _put_on_disk(self.destination.parent, os.O_RDONLY)

    def discard(self) -> None:
        """Remove the hidden folder with everything left in it."""
        for _ in range(_TRIES):
            shutil.rmtree(self._folder, ignore_errors=True)
            if not self._folder.exists():
                return
            time.sleep(_BETWEEN)  # a thread of a writer that was interrupted may still put something in


def is_special(path: Path) -> bool:
    """Return whether a path is neither a file nor a folder but a device, a pipe or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def staged(destination: str | os.PathLike[str], *, flush: bool = False) -> Iterator[Path]:
    """Give a path to write to. It becomes the destination at the end, unless an exception or interruption occurs."""
    file = StagedFile(destination)
    try:
        yield file.path
        file.publish(flush=flush)
    finally:
        file.discard()


def _put_on_disk(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def signals_held() -> Iterator[None]:
    """Defer termination signals until the block ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[tuple[int, Any]] = []
    handlers = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number, frame in arrived[:1]:
        handlers[number](number, frame)
