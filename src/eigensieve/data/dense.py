"""Dense arrays in memory: blocks are used as they are or standardised in cache; the matrix is never copied."""

from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.blocks import Block, DenseBlock
from eigensieve.data.matrix import DataMatrix
from eigensieve.data.raw_block import FARTHEST, RawBlock, StoredColumns
from eigensieve.data.stats import dense_moments
from eigensieve.data.thin import contiguous_rows

_BLOCK_BYTES = 1 << 22  # in the shared cache, and long enough for the work to outweigh the calls


class DenseData(DataMatrix):
    """A numpy array of any real type; float32 stays float32, other types are worked on as float64.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    """

    def __init__(self, X: Array) -> None:
        super().__init__(X.shape[0], X.shape[1], np.float32 if X.dtype == np.float32 else np.float64)
        self.X = X

    def block(self, start: int, stop: int) -> Block:
        here, raw = slice(start, stop), self.X[:, start:stop]
        if self.scale is None or not self._as_stored(here):
            return DenseBlock(start, stop, self._standardise(raw, here))
        center = None if self.center is None else self.center[here]
        return RawBlock(start, stop, raw, center, self.scale[here], lambda: self._standardise(raw, here))

    def stored(self, start: int, stop: int) -> StoredColumns | None:
        here = slice(start, stop)
        if self.scale is None or not self._as_stored(here):
            return None
        rows = contiguous_rows(self.X[:, here])
        if rows is None:
            return None
        center = np.zeros(stop - start) if self.center is None else self.center[here]
        return StoredColumns(rows, center, self.scale[here])

    def _as_stored(self, here: slice) -> bool:
        """Whether products of these columns may be centred afterwards."""
        near = self.far is not None and self.far[here].max(initial=0.0) <= FARTHEST[self.dtype]
        return bool(near) and self.X.dtype == self.dtype

    def block_moments(self, start: int, stop: int) -> tuple[Array, Array, Array, Array]:
        return dense_moments(self.X[:, start:stop])

    def block_size(self) -> int:
        return max(64, _BLOCK_BYTES // (self.n_samples * self.dtype.itemsize))

    def take(self, indices: Any) -> Array:
        return self._standardise(self.X[:, indices], indices)

    def _standardise(self, Z: Array, where: Any) -> Array:
        # In memory of our own from the first change on: fresh memory is cleared every time.
        own = Z if Z.base is None and Z is not self.X and Z.dtype == self.dtype else None
        if self.center is not None:
            Z = own = np.subtract(Z, self.center[where].astype(self.dtype), dtype=self.dtype, out=own)
        if self.scale is not None:
            Z = np.multiply(Z, self.scale[where].astype(self.dtype), dtype=self.dtype, out=own)
        return Z.astype(self.dtype, copy=False)
