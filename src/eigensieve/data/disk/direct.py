"""Reads that bypass the operating system's cache of files.

A file larger than memory is never found there again. Copying everything through it and freeing memory costs several
times the transfer itself when rows of a matrix are read a few columns at a time.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eigensieve._types import Array, DType

BLOCK = 4096
"""Positions, lengths and memory of such reads are multiples of this number of bytes."""

_THREADS = 8  # reads at the same time for a piece: with fewer, the storage idles between two
_CACHED_SHARE = 0.5  # of the memory: a larger file does not stay in the cache from one pass to the next
_LIMIT = Path("/sys/fs/cgroup/memory.max")


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


def memory_size() -> int:
    """Bytes of memory this process may use."""
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
