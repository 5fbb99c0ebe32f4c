"""Compressed sparse matrices in HDF5 or Zarr groups, as AnnData stores them."""

from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from eigensieve._types import Array, IntArray
from eigensieve.data.disk.sources import Source, Watch

_SCAN = 1 << 22  # non-zeros read at once when features must be picked out of compressed rows


class SparseSource(Source):
    """Compressed columns (read along the features) or compressed rows (read along the samples). `group` has the members
    ``data``, ``indices``, ``indptr``. Only the pointers, one per column or row, are held in memory."""

    def __init__(
        self,
        group: Any,
        shape: tuple[int, int],
        by_rows: bool,
        name: str,
        watch: Watch,
        feature_names: Array | None = None,
    ) -> None:
        self.values, self.indices = group["data"], group["indices"]
        self.indptr = np.asarray(group["indptr"][:], dtype=np.int64)
        dtype = np.dtype(self.values.dtype)
        stored = int(self.indptr[-1])
        rising = self.indptr[0] == 0 and bool(np.all(np.diff(self.indptr) >= 0))
        if len(self.indptr) != shape[0 if by_rows else 1] + 1 or stored != self.values.shape[0] or not rising:
            raise ValueError(
                f"{name} is not a whole compressed matrix: shape {shape}, {len(self.indptr)} pointers, {stored} "
                f"entries announced, {self.values.shape[0]} stored. The file may be truncated; write it again."
            )
        # Compressed rows take twice the memory: each piece is turned into columns.
        entry = (dtype.itemsize + np.dtype(self.indices.dtype).itemsize) * (2 if by_rows else 1)
        super().__init__(name, shape, dtype, entry * max(1, stored) / max(1, shape[0] * shape[1]))
        self.entry = entry
        self.by_samples, self.sparse = by_rows, True
        self.feature_names = feature_names
        self.watch = watch

    @property
    def nbytes(self) -> float:
        return float(self.indptr[-1]) * self.entry

    def largest(self, count: int) -> float:
        along = self.indptr[:: max(1, count)]
        return float(np.diff(np.append(along, self.indptr[-1])).max(initial=0)) * self.entry

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Any:
        if not self.by_samples:
            return csc_array(self._cut(start, stop), shape=(self.shape[0], stop - start))
        height = max(1, int(_SCAN / max(1.0, self.indptr[-1] / self.shape[0])))
        rows = (self.rows(at, min(at + height, self.shape[0])) for at in range(0, self.shape[0], height))
        return vstack([some[:, start:stop] for some in rows], format="csc")

    def rows(self, start: int, stop: int) -> Any:
        found = csr_array(self._cut(start, stop), shape=(stop - start, self.shape[1]))
        found.sum_duplicates()  # does nothing where there are none
        return found

    def _cut(self, start: int, stop: int) -> tuple[Array, IntArray, IntArray]:
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        indices = np.asarray(self.indices[first:last])
        # scipy would turn all indices into the larger type of the two
        pointers = (self.indptr[start : stop + 1] - first).astype(indices.dtype if last - first < 2**31 else np.int64)
        if len(indices) and not 0 <= indices.min() <= indices.max() < self.shape[1 if self.by_samples else 0]:
            raise ValueError("an index is beyond the shape")  # computing with it would crash
        return np.asarray(self.values[first:last]), indices, pointers


def sparse_source(group: Any, name: str, path: Any, feature_names: Array | None = None) -> SparseSource:
    """Return a source for a group in AnnData's encoding of sparse matrices; `path` is watched for changes."""
    kind = group.attrs.get("encoding-type", "")
    if kind not in ("csr_matrix", "csc_matrix"):
        raise ValueError(
            f"{name} must be a dense array or a sparse matrix in AnnData's encoding ('csr_matrix', 'csc_matrix'). "
            f"Got encoding {kind!r} instead."
        )
    rows, columns = (int(size) for size in group.attrs["shape"])
    return SparseSource(group, (rows, columns), kind == "csr_matrix", name, Watch(path), feature_names)
