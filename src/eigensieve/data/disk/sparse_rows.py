"""Compressed sparse rows on disk, used as they are stored: no piece is turned into columns for a product.

The stored values are x. With centres c and scales s, products of (x - c) s follow from those of x by one correction per
column.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eigensieve._types import FloatArray
from eigensieve.data.disk.rows import RowStreamedData
from eigensieve.data.passes import ordered_map

_SLICES = 8  # of each piece: fixed, so that sums do not depend on the number of threads
_FARTHEST = 100.0  # standard deviations from zero to a mean: beyond, the corrections cost too many digits


class SparseRowData(RowStreamedData):
    """A stored matrix in compressed rows, read in pieces of consecutive samples."""

    def _forward(
        self,
        V: FloatArray,
        segments: list[tuple[int, int]],
        weights: FloatArray | None = None,
        energy: FloatArray | None = None,
    ) -> FloatArray:
        if not self._corrections_hold():
            return super()._forward(V, segments, weights, energy)
        V = np.ascontiguousarray(V, dtype=self.dtype)
        center = np.zeros(self.n_features) if self.center is None else self.center
        scale = np.ones(self.n_features) if self.scale is None else self.scale
        T, squares = np.zeros((self.n_features, V.shape[1])), np.zeros(self.n_features)

        def sums(found: tuple[int, Any]) -> tuple[FloatArray, FloatArray | None]:
            start, some = found
            here = slice(start, start + some.shape[0])
            return some.T @ V[here], None if weights is None else _squares(some, center, weights[here])

        for slices in self._slices():
            for product, own in ordered_map(sums, slices):
                T += product
                squares += 0.0 if own is None else own
        if weights is not None and energy is not None:
            energy += scale**2 * (squares + center**2 * weights.sum())
        return ((T - center[:, None] * V.sum(axis=0, dtype=np.float64)) * scale[:, None]).astype(self.dtype)

    def _backward(self, backs: dict[int, FloatArray], segments: list[tuple[int, int]]) -> FloatArray:
        if not self._corrections_hold():
            return super()._backward(backs, segments)
        W = np.concatenate([backs[first] for first, _ in segments]).astype(np.float64)
        W = W if self.scale is None else W * self.scale[:, None]
        shift = np.zeros(W.shape[1]) if self.center is None else self.center @ W
        out, W = np.empty((self.n_samples, W.shape[1])), W.astype(self.dtype)
        for slices in self._slices():
            for (start, some), product in zip(slices, ordered_map(lambda found: found[1] @ W, slices), strict=True):
                out[start : start + some.shape[0]] = product - shift
        return out

    def _corrections_hold(self) -> bool:
        return self.center is None or (self.far is not None and bool(self.far.max(initial=0.0) <= _FARTHEST))

    def _slices(self) -> Iterator[list[tuple[int, Any]]]:
        """One pass: the slices of each piece, with their first samples."""
        for first, last, raw in self._row_pieces(of=lambda raw: raw.astype(self.dtype, copy=False)):
            edges = np.linspace(0, last - first, min(_SLICES, last - first) + 1).round().astype(int)
            yield [(first + start, _rows(raw, start, stop)) for start, stop in pairwise(edges)]


def _rows(raw: Any, start: int, stop: int) -> Any:
    """Return some rows as a view; scipy's own slices are copies."""
    first, last = raw.indptr[start], raw.indptr[stop]
    arrays = (raw.data[first:last], raw.indices[first:last], raw.indptr[start : stop + 1] - first)
    return csr_array(arrays, shape=(stop - start, raw.shape[1]))


def _squares(some: Any, center: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_t weights_t ((x_ti - c_i)^2 - c_i^2), to which zeros add nothing."""
    middle = center[some.indices]
    apart = np.square(some.data - middle) - middle**2
    return np.asarray(csr_array((apart, some.indices, some.indptr), shape=some.shape).T @ weights)
