"""Arrays in .npy files and memory maps, read with plain reads: a mapped file that shrinks kills the process.

A file larger than memory is never found again in the operating system's cache. Copying everything through it and
freeing memory costs several times the transfer itself when rows of a matrix are read a few columns at a time. Reads of
such a file bypass the cache.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from mmap import ALLOCATIONGRANULARITY
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._types import Array, DType
from eigensieve.data.disk.sources import Source, Watch

BLOCK = 4096
"""Positions, lengths and memory of such reads are multiples of this number of bytes."""

_THREADS = 8  # reads at the same time for a piece: with fewer, the storage idles between two
_CACHED_SHARE = 0.5  # of the memory: a larger file does not stay in the cache from one pass to the next
_LIMIT = Path("/sys/fs/cgroup/memory.max")
_SHORTEST = 16 * BLOCK  # shorter rows go through the cache: around it, whole blocks are read at both ends


@dataclass(frozen=True)
class Rows:
    """Where rows are in a file: `count` rows of `size` bytes, the first at `first`, the next `step` bytes on."""

    first: int
    step: int
    count: int
    size: int

    @property
    def distance(self) -> int:
        """Bytes from one row to the next in memory: as in the file, less a multiple of the block size."""
        return self.size + 2 * BLOCK + (self.step - self.size) % BLOCK

    @property
    def memory(self) -> int:
        return self.count * self.distance + 2 * BLOCK


class NpySource(Source):
    """Plain numbers in a file from `offset` on, in C or Fortran order (whole features are contiguous)."""

    threads = 2

    def __init__(self, path: Path, shape: tuple[int, int], dtype: DType, offset: int, fortran: bool) -> None:
        super().__init__(str(path), shape, dtype)
        self.path = path
        self.offset = offset
        self.fortran = fortran
        self.watch = Watch(path)
        self.around_cache = offset % self.dtype.itemsize == 0 and goes_around(path, self.nbytes)

    def settle(self, count: int) -> None:
        self.around_cache = self.around_cache and self._rows(0, count).size >= _SHORTEST

    def largest(self, count: int) -> float:
        return self._rows(0, count).memory if self.around_cache else super().largest(count)

    def memory(self, count: int) -> Array:
        if self.around_cache:
            return aligned_memory(self._rows(0, count).memory)
        return super().memory(count)

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Array:
        n_samples, count = self.shape[0], stop - start
        memory = self.memory(count) if buffer is None else buffer
        rows = self._rows(start, stop)
        if self.around_cache:
            found = read_rows(self.path, rows, memory, self.dtype)
        else:
            found = memory[: n_samples * count].reshape(rows.count, -1)
            with open(self.path, "rb", buffering=0) as file:
                for row, target in enumerate(found):
                    _read_into(file, target, rows.first + row * rows.step)
        return found.reshape((n_samples, count), order="F") if self.fortran else found

    def _rows(self, start: int, stop: int) -> Rows:
        n_samples, n_features = self.shape
        size = self.dtype.itemsize
        if self.fortran:
            return Rows(self.offset + start * n_samples * size, 0, 1, (stop - start) * n_samples * size)
        return Rows(self.offset + start * size, n_features * size, n_samples, (stop - start) * size)


def _read_into(file: FileIO, target: Array, position: int) -> None:
    """Fill a contiguous array from a file; a short read is an error."""
    view = target.data.cast("B")
    file.seek(position)
    while len(view):
        count = file.readinto(view)
        if not count:
            raise EOFError(f"the file ends {len(view)} bytes before the data it announces")
        view = view[count:]


def npy_source(path: Path) -> NpySource:
    """Open a .npy file that holds one numeric matrix."""
    try:
        view = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise
    except Exception as error:  # damaged headers raise exceptions of many kinds
        raise ValueError(
            f"{path} cannot be read as a .npy file: {error}. It may be truncated; write it again with numpy.save."
        ) from error
    if not isinstance(view, np.memmap) or view.ndim != 2 or view.dtype.kind not in "fiub":
        raise ValueError(
            f"{path} must hold one 2-dimensional numeric array (samples x features). "
            f"Got shape {view.shape} and type {view.dtype} instead."
        )
    source = memmap_source(view)
    assert source is not None
    return source


def memmap_source(view: "np.memmap[Any, Any]") -> NpySource | None:
    """Return the file behind a memory map; None where the map skips entries of it or differs from it."""
    base = view.base
    while isinstance(base, np.ndarray):
        base = base.base
    contiguous = view.flags.c_contiguous or view.flags.f_contiguous
    gone = view.filename is None or not Path(view.filename).exists()
    if gone or view.mode == "c" or base is None or not contiguous:
        return None
    if view.mode in ("r+", "w+"):
        view.flush()
    whole = np.frombuffer(base, dtype=np.uint8).__array_interface__["data"][0]
    first = view.__array_interface__["data"][0] - whole
    offset = view.offset - view.offset % ALLOCATIONGRANULARITY + first
    fortran = not view.flags.c_contiguous
    return NpySource(Path(view.filename), (view.shape[0], view.shape[1]), view.dtype, offset, fortran)


def memory_size() -> int:
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(size, int(_LIMIT.read_text()))
    except (OSError, ValueError):  # no such limit here
        return size


def goes_around(path: Path, nbytes: float) -> bool:
    """True where a file will not stay in the cache, and its file system can bypass it."""
    if not hasattr(os, "O_DIRECT") or nbytes <= _CACHED_SHARE * memory_size():
        return False
    memory = aligned_memory(BLOCK)
    try:
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return False
    try:
        os.preadv(file, [memory.data], 0)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def aligned_memory(size: int) -> Array:
    """Memory that begins at a multiple of the block size."""
    memory = np.empty(size + BLOCK, dtype=np.uint8)
    first = -memory.ctypes.data % BLOCK
    return memory[first : first + size]


def read_rows(path: Path, rows: Rows, memory: Array, dtype: DType) -> Array:
    """Read rows into aligned memory and return them as a matrix there, with gaps between its rows. Each is read in
    whole blocks. Rows are as far apart as in the file, less a multiple of the block size, so nothing is moved."""
    lead = rows.first % BLOCK
    target = memory.data

    def read(some: range) -> None:
        for row in some:
            position = rows.first + row * rows.step
            shift = position % BLOCK
            _read(file, target[lead + row * rows.distance - shift :], position - shift, shift + rows.size)

    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        shares = [range(first, rows.count, _THREADS) for first in range(min(_THREADS, rows.count))]
        if len(shares) == 1:
            read(shares[0])
        else:
            with ThreadPoolExecutor(len(shares), thread_name_prefix="eigensieve-read") as pool:
                list(pool.map(read, shares))
    finally:
        os.close(file)
    size = np.dtype(dtype).itemsize
    return np.ndarray((rows.count, rows.size // size), dtype, target, lead, (rows.distance, size))


def _read(file: int, target: memoryview, position: int, needed: int) -> None:
    """Fill at least `needed` bytes of memory, in whole blocks."""
    done = 0
    whole = -(-needed // BLOCK) * BLOCK
    while done < needed:
        count = os.preadv(file, [target[done:whole]], position + done)
        done += count
        if count == 0 or (count % BLOCK and done < needed):
            raise EOFError(f"the file ends {needed - done} bytes before the data it announces")
