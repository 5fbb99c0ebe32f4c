"""HDF5 datasets and Zarr arrays: chunked storage with numpy's slicing."""

from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.disk.sources import ALIVE, Source, Watch, show_bytes


class ChunkedSource(Source):
    """A chunked array, read along the axis that lets each chunk be read once per pass. `chunks` is the shape of the
    stored chunks; None for contiguous storage. The data is read along the features where all chunks of some features
    fit in `max_memory`, else along the samples."""

    def __init__(
        self,
        array: Any,
        name: str,
        chunks: tuple[int, int] | None,
        max_memory: int,
        path: Any = None,
        feature_names: Array | None = None,
    ) -> None:
        if len(array.shape) != 2 or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} must be a 2-dimensional numeric array (samples x features). "
                f"Got shape {array.shape} and type {array.dtype} instead."
            )
        super().__init__(name, (int(array.shape[0]), int(array.shape[1])), array.dtype)
        self.array = array
        self.feature_names = feature_names
        self.watch = None if path is None else Watch(path)
        n_samples, n_features = self.shape
        if chunks is None:
            return
        high, wide = min(chunks[0], n_samples), min(chunks[1], n_features)
        by_features, by_samples = (size * ALIVE * self.itemsize for size in (n_samples * wide, high * n_features))
        if by_features <= max_memory or wide == 1:
            self.step = wide
        elif by_samples <= max_memory:
            self.by_samples, self.step = True, high
        else:
            raise ValueError(
                "The 'max_memory' parameter of open_data must be at least "
                f"{show_bytes(min(by_features, by_samples))} for {name}: its chunks are {chunks[0]} samples x "
                f"{chunks[1]} features, and {ALIVE} rows or columns of chunks must fit, or every chunk would be "
                f"read many times per pass. Got {show_bytes(max_memory)} instead."
            )

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Array:
        where, shape = (slice(None), slice(start, stop)), (self.shape[0], stop - start)
        if buffer is None or not hasattr(self.array, "read_direct"):
            return np.asarray(self.array[where])
        out = buffer[: shape[0] * shape[1]].reshape(shape)
        self.array.read_direct(out, where)
        return out

    def rows(self, start: int, stop: int) -> Array:
        return np.asarray(self.array[start:stop])


def hdf5_source(dataset: Any, max_memory: int, feature_names: Array | None = None) -> ChunkedSource:
    """A source for an open h5py dataset."""
    path = dataset.file.filename
    return ChunkedSource(dataset, f"{path}:{dataset.name}", dataset.chunks, max_memory, path, feature_names)


def zarr_source(array: Any, max_memory: int) -> ChunkedSource:
    """A source for an open Zarr array; a shard counts as a chunk, because it is read as a whole."""
    chunks = getattr(array, "shards", None) or array.chunks
    source = ChunkedSource(array, str(array.store_path if hasattr(array, "store_path") else array), chunks, max_memory)
    source.threads = 2
    folder = getattr(getattr(array, "store", None), "root", None)  # of a store on the local disk
    source.watch = None if folder is None else Watch(folder)
    return source
