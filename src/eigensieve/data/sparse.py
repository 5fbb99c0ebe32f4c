"""Scipy sparse matrices and arrays: compressed columns, centring and scaling never applied to the values."""

from itertools import pairwise
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data.blocks import Block, SparseBlock
from eigensieve.data.matrix import DataMatrix, Spans

_BLOCK_NONZEROS = 1 << 17
_BLOCK_FEATURES = 1 << 10
_FEATURE_COST = 16  # what a feature costs beside its non-zeros, in non-zeros


class SparseData(DataMatrix):
    """A sparse matrix in compressed columns.

    Compressed columns are used as they are; any other layout is converted once (one copy of the non-zeros).

    Parameters
    ----------
    X : scipy sparse matrix or array of shape (n_samples, n_features)
    """

    def __init__(self, X: Any) -> None:
        super().__init__(X.shape[0], X.shape[1], np.float32 if X.dtype == np.float32 else np.float64)
        columns = X.tocsc()
        if not columns.has_canonical_format:
            columns = columns.copy() if columns is X else columns
            columns.sum_duplicates()
        self.indptr, self.indices, self.values = columns.indptr, columns.indices, columns.data
        if columns is not X:  # a copy of our own, made as small as it can be
            del columns
            self.values = _smallest_exact(self.values)
            self.indices = _smallest_index(self.indices, self.n_samples)
        # each segment adds up a result with one row a sample, so it should hold many more non-zeros than samples
        self.n_segments = int(np.clip(len(self.values) // (64 * self.n_samples), 2, self.n_segments))

    def block(self, start: int, stop: int) -> Block:
        return SparseBlock(
            start,
            stop,
            self.indptr[start : stop + 1],
            self.indices,
            self.values,
            self.n_samples,
            None if self.center is None else self.center[start:stop],
            None if self.scale is None else self.scale[start:stop],
            self.dtype,
        )

    def block_moments(self, start: int, stop: int) -> tuple[Array, Array, Array, Array]:
        from eigensieve.data._blocks_numba import csc_moments

        size = stop - start
        mean, centered_norm = np.empty(size), np.empty(size)
        finite, constant = np.empty(size, dtype=bool), np.empty(size, dtype=bool)
        csc_moments(
            self.indptr[start : stop + 1],
            self.indices,
            self.values,
            self.n_samples,
            mean,
            centered_norm,
            finite,
            constant,
        )
        return mean, centered_norm, finite, constant

    def block_size(self) -> int:
        per_feature = max(1.0, len(self.values) / max(1, self.n_features))
        return max(64, int(_BLOCK_NONZEROS / per_feature))

    def _spans(self) -> Spans:
        """Blocks of about equal numbers of non-zeros: in counts of words a few columns hold most of them."""
        count = max(1, round(len(self.values) / _BLOCK_NONZEROS))
        heavy = np.searchsorted(self.indptr, np.linspace(0, self.indptr[-1], count + 1)[1:-1])
        light = np.arange(_BLOCK_FEATURES, self.n_features, _BLOCK_FEATURES)
        edges = np.unique(np.concatenate([[0, self.n_features], heavy, light])).tolist()
        return list(pairwise(edges))

    def _segments(self, count: int) -> list[Spans]:
        """Groups of blocks that take about equal time: they run side by side."""
        spans = self._spans()
        stops = np.array([stop for _, stop in spans])
        cost = self.indptr[stops] + _FEATURE_COST * stops
        edges = np.searchsorted(cost, np.linspace(0, cost[-1], min(count, len(spans)) + 1)[1:-1]) + 1
        return [spans[first:last] for first, last in pairwise([0, *edges.tolist(), len(spans)]) if last > first]

    def take(self, indices: Any) -> Array:
        from scipy.sparse import csc_array

        raw = csc_array(
            (self.values, self.indices.astype(self.indptr.dtype, copy=False), self.indptr),
            shape=(self.n_samples, self.n_features),
        )
        Z = raw[:, indices].toarray().astype(self.dtype, copy=False)
        if self.center is not None:
            Z = Z - self.center[indices].astype(self.dtype)
        if self.scale is not None:
            Z = Z * self.scale[indices].astype(self.dtype)
        return Z


def _smallest_index(indices: Array, count: int) -> Array:
    """Return row numbers below `count` in two bytes where they fit."""
    return indices.astype(np.uint16) if count <= np.iinfo(np.uint16).max else indices


def _smallest_exact(values: Array) -> Array:
    """Return the values in single precision where that changes none of them (counts, for example), else as they are."""
    single = np.empty(len(values), dtype=np.float32)
    for start in range(0, len(values), _BLOCK_NONZEROS):
        part = slice(start, start + _BLOCK_NONZEROS)
        single[part] = values[part]
        if not np.array_equal(single[part], values[part]):
            return values if values.dtype.kind == "f" else values.astype(np.float64)
    return single
