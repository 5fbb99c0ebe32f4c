"""A look through an HDF5 file, in a process of its own: the library crashes, or never ends, on damaged files.

Run by :mod:`eigensieve.tables.hdf5` as a script, so it imports nothing but h5py. Whatever is wrong is printed as one
line; nothing is printed where all is well.
"""

import sys
from typing import Any

WHOLE = 64_000_000
"""Files up to this size are read entirely. Of larger ones all but the plain numbers, whose chunks are located only."""
_PIECE = 2**24
_BANDS = 8 * _PIECE
"""Rows of chunks are read together where they take no more than this; otherwise each chunk that is stored, alone."""
_DEEPEST = 100  # groups within groups that are followed: libraries take quadratic time for deep ones


_COPY = "Copy everything into one file"


class Problem(Exception):
    """A fault of the file."""


class _Survey:
    def __init__(self, h5py: Any, allowed: float, whole: bool) -> None:
        self.h5py = h5py
        self.allowed = allowed
        self.whole = whole
        self.announced = 0.0
        self.seen: set[Any] = set()

    def group(self, group: Any) -> None:
        waiting = [(group, 0)]
        while waiting:
            here, depth = waiting.pop()
            if depth > _DEEPEST:
                raise Problem(f"its groups are nested more than {_DEEPEST} deep. Store the matrix nearer to the top")
            self.attributes(here)
            for name in here:
                link = here.get(name, getlink=True)
                if isinstance(link, self.h5py.ExternalLink):
                    raise Problem(f"'{name}' is a link to another file, '{link.filename}'. {_COPY}")
                if isinstance(link, self.h5py.SoftLink) and here.get(name) is None:
                    continue
                item = here[name]
                key = self.h5py.h5o.get_info(item.id).addr
                if key in self.seen:
                    continue
                self.seen.add(key)
                if isinstance(item, self.h5py.Group):
                    waiting.append((item, depth + 1))
                elif isinstance(item, self.h5py.Dataset):
                    self.attributes(item)
                    self.dataset(item)

    def attributes(self, item: Any) -> None:
        for name in item.attrs:
            item.attrs[name]

    def dataset(self, item: Any) -> None:
        if item.external:
            raise Problem(f"the numbers of '{item.name}' are in another file, '{item.external[0][0]}'. {_COPY}")
        if item.is_virtual:
            raise Problem(f"the numbers of '{item.name}' are in other files. {_COPY}")
        if item.shape is None:
            return
        self.announced += float(item.size) * item.dtype.itemsize
        if self.announced > self.allowed:
            raise Problem(f"ANNOUNCED {self.announced:.0f}")
        item.id.get_storage_size()
        plain = item.dtype.kind in "fiub"
        if plain and item.chunks is not None:
            item.id.get_num_chunks()
        if self.whole or not plain:
            self.read(item)

    def read(self, item: Any) -> None:
        if not item.shape or 0 in item.shape:
            item[()]
            return
        if float(item.size) * item.dtype.itemsize > max(self.allowed, 10 * _PIECE) and item.id.get_storage_size() == 0:
            return  # nothing is stored, so there is nothing to read
        per_row = max(1, item.size // item.shape[0] * item.dtype.itemsize)
        height = max(1, _PIECE // per_row)
        if item.chunks is not None:  # whole chunks: each is unpacked once
            height = -(-height // item.chunks[0]) * item.chunks[0]
            if height * per_row > _BANDS:
                self.stored_chunks(item)
                return
        for first in range(0, item.shape[0], height):
            item[first : first + height]

    def stored_chunks(self, item: Any) -> None:
        """Read the chunks that the file holds. The others are not there: they stand for the fill value."""
        places: list[tuple[int, ...]] = []
        item.id.chunk_iter(lambda chunk: places.append(chunk.chunk_offset))
        for place in places:
            item[tuple(slice(first, first + length) for first, length in zip(place, item.chunks, strict=True))]


def survey(path: str, size: int, allowed: float) -> str:
    """Return the fault of a file; empty where there is none. May also crash, or go on forever."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            _Survey(h5py, allowed, size <= WHOLE).group(file)
    except Problem as problem:
        return str(problem)
    except Exception as error:
        return f"DAMAGED {type(error).__name__}: {error}"
    return ""


def limit(size: int) -> None:
    """Allow this process some memory and some seconds of computing, where the system can."""
    try:
        import resource
    except ImportError:
        return
    for what, amount in ((resource.RLIMIT_AS, 3 * 10**9 + 3 * size), (resource.RLIMIT_CPU, 2 + size // 5_000_000)):
        resource.setrlimit(what, (amount, amount))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    limit(int(sys.argv[2]))
    sys.stdout.buffer.write(survey(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])).encode("utf-8", "replace"))
