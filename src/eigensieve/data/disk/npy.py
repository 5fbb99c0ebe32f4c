"""Arrays in .npy files and memory maps, read with plain reads: a mapped file that shrinks kills the process."""

from io import FileIO
from mmap import ALLOCATIONGRANULARITY
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._types import Array, DType
from eigensieve.data.disk.direct import BLOCK, Rows, aligned_memory, goes_around, read_rows
from eigensieve.data.disk.sources import Source, Watch

_SHORTEST = 16 * BLOCK  # shorter rows go through the cache: around it, whole blocks are read at both ends


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
        """Where the features are in the file."""
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
