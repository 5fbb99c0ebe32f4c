"""Scipy sparse matrices and arrays: compressed columns, whose values are never centred or scaled."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from eigensieve._types import Array, DType, FloatArray, IntArray, MatrixLike, Raw
from eigensieve.data.dense import FARTHEST, at, standardised
from eigensieve.data.digest import sparse_digests
from eigensieve.data.matrix import DataMatrix, Ranges, Shared
from eigensieve.data.passes import Block
from eigensieve.data.stats import BlockMoments

_BLOCK_NONZEROS = 1 << 17
_BLOCK_FEATURES = 1 << 10
_FEATURE_COST = 16  # a feature costs as much time as so many non-zeros, on top of its own


class SparseData(DataMatrix):
    """A sparse matrix in compressed columns. Compressed columns are used as they are; any other layout is converted
    once (one copy of the non-zeros)."""

    def __init__(self, X: MatrixLike) -> None:
        super().__init__(X.shape[0], X.shape[1], np.dtype(np.float32 if X.dtype == np.float32 else np.float64))
        columns = X.tocsc()
        if not columns.has_canonical_format:
            columns = columns.copy() if columns is X else columns
            columns.sum_duplicates()
        self.indptr, self.indices, self.values = columns.indptr, columns.indices, columns.data
        self.copied = columns is not X
        if self.copied:  # a copy of our own, made as small as it can be
            del columns
            self.values = _smallest_exact(self.values)
            if self.n_samples <= np.iinfo(np.uint16).max:
                self.indices = self.indices.astype(np.uint16)
        self.near: tuple[FloatArray, FloatArray] | None = None
        # each segment adds up a result with one row per sample, so it should hold many more non-zeros than samples
        self.n_segments = int(np.clip(len(self.values) // (64 * self.n_samples), 2, self.n_segments))

    def recentered(self) -> Self:
        self.near = None if self.center is None else self._near(self.center)
        return self

    def mapped(self, function: Callable[[FloatArray, IntArray], FloatArray], *, own: bool) -> "SparseData":
        """Return sparse data of the values function(values, rows), computed a few at a time. 0 must stay 0. With `own`
        this object is not used any more: if it holds a copy of the non-zeros, they are written over."""
        made = copy(self)
        made.shared = Shared(names=self.shared.names)
        in_place = own and self.copied and self.values.dtype == self.dtype
        made.values = self.values if in_place else np.empty(len(self.values), dtype=self.dtype)
        for start in range(0, len(self.values), _BLOCK_NONZEROS):
            some = slice(start, start + _BLOCK_NONZEROS)
            made.values[some] = function(self.values[some].astype(self.dtype, copy=False), self.indices[some])
        return made

    def _near(self, center: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return values and centres of columns moved towards zero; None if there is no need. Centring by products
        subtracts two sums. Where the mean is many times the spread, their difference is rounding. Only a column without
        zeros can be that far from zero, so all of its values are there to be moved."""
        far = {}
        for i in np.flatnonzero(np.diff(self.indptr) == self.n_samples):
            here = slice(self.indptr[i], self.indptr[i + 1])
            spread = float(self.values[here].max()) - float(self.values[here].min())
            if abs(center[i]) > FARTHEST[self.dtype] * spread:
                far[i] = here
        if not far:
            return None
        values, center = self.values.astype(self.dtype), center.astype(np.float64)
        for i, here in far.items():
            near = float(self.dtype.type(center[i]))  # of the values' type, so that the difference is exact
            values[here] -= near
            center[i] -= near
        return values, center

    def block(self, start: int, stop: int) -> Block:
        values, center = (self.values, self.center) if self.near is None else self.near
        arrays, here = (self.indptr[start : stop + 1], self.indices, values), slice(start, stop)
        center = np.zeros(stop - start) if center is None else center[here]
        scale = np.ones(stop - start) if self.scale is None else self.scale[here]
        return SparseBlock(start, stop, *arrays, self.n_samples, center, scale, self.dtype)

    def block_moments(self, start: int, stop: int) -> BlockMoments:
        from eigensieve.data._sparse_numba import csc_moments

        size = stop - start
        mean, centered_norm = np.empty(size), np.empty(size)
        finite, constant = np.empty(size, dtype=bool), np.empty(size, dtype=bool)
        found = mean, centered_norm, finite, constant
        csc_moments(self.indptr[start : stop + 1], self.indices, self.values, self.n_samples, *found)
        return found

    def block_digests(self, start: int, stop: int, places: IntArray) -> IntArray:
        return sparse_digests(self.indptr[start : stop + 1], self.indices, self.values, places)

    def block_size(self) -> int:
        per_feature = max(1.0, len(self.values) / max(1, self.n_features))
        return max(64, int(_BLOCK_NONZEROS / per_feature))

    def _ranges(self) -> Ranges:
        """Blocks of about equal numbers of non-zeros: in counts of words a few columns hold most of them."""
        count = max(1, round(len(self.values) / _BLOCK_NONZEROS))
        heavy = np.searchsorted(self.indptr, np.linspace(0, self.indptr[-1], count + 1)[1:-1])
        light = np.arange(_BLOCK_FEATURES, self.n_features, _BLOCK_FEATURES)
        edges = np.unique(np.concatenate([[0, self.n_features], heavy, light])).tolist()
        return list(pairwise(edges))

    def segments(self, count: int) -> list[Ranges]:
        """Segments that take about equal time: they run side by side."""
        ranges = self._ranges()
        stops = np.array([stop for _, stop in ranges])
        cost = self.indptr[stops] + _FEATURE_COST * stops
        edges = np.searchsorted(cost, np.linspace(0, cost[-1], min(count, len(ranges)) + 1)[1:-1]) + 1
        return [ranges[first:last] for first, last in pairwise([0, *edges.tolist(), len(ranges)]) if last > first]

    def take(self, indices: IntArray | slice) -> FloatArray:
        pointed = self.indices.astype(self.indptr.dtype, copy=False)
        whole: Raw = csc_array((self.values, pointed, self.indptr), shape=(self.n_samples, self.n_features))
        return standardised(whole[:, indices].toarray(), at(self.center, indices), at(self.scale, indices), self.dtype)

    def raw_samples(self, rows: IntArray, start: int, stop: int) -> Raw:
        # scipy would copy all non-zeros on the way
        place = np.full(self.n_samples, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        wanted = [
            at + np.flatnonzero(place[self.indices[at : min(at + _BLOCK_NONZEROS, self.indptr[stop])]] >= 0)
            for at in range(int(self.indptr[start]), int(self.indptr[stop]), _BLOCK_NONZEROS)
        ]
        kept = np.concatenate([np.empty(0, dtype=np.intp), *wanted])
        pointers = np.searchsorted(kept, self.indptr[start : stop + 1])
        arrays = self.values[kept].astype(self.dtype, copy=False), place[self.indices[kept]], pointers
        return csc_array(arrays, shape=(len(rows), stop - start))


@dataclass(eq=False)
class SparseBlock:
    """A block in compressed sparse columns with *implicit* centring and scaling. The standardised column is
    (x_i - mean_i) * scale_i; the mean is a rank-one correction of every product, so nothing is ever densified."""

    start: int
    stop: int
    indptr: IntArray  # of this range; it may start anywhere in `indices`
    indices: IntArray
    values: FloatArray
    n_samples: int
    center: FloatArray
    scale: FloatArray
    dtype: DType  # of all results

    def forward(self, V: FloatArray) -> FloatArray:
        from eigensieve.data._sparse_numba import csc_forward, csc_forward_narrow

        V = np.ascontiguousarray(V, dtype=self.dtype)
        out = np.empty((self.stop - self.start, V.shape[1]), dtype=self.dtype)
        sums = np.ones(len(V)) @ V  # a product with ones is far faster than a sum along the first axis
        product = csc_forward_narrow if 4 <= V.shape[1] <= 8 else csc_forward
        product(self.indptr, self.indices, self.values, self.center, self.scale, V, sums, out)
        return out

    def back(self, W: FloatArray) -> FloatArray:
        values, shift = np.zeros((self.n_samples, W.shape[1])), np.zeros(W.shape[1])
        self.add_back(W, values, shift)
        return values - shift

    def add_back(self, W: FloatArray, values: FloatArray, shift: FloatArray) -> None:
        from eigensieve.data._sparse_numba import csc_back

        W = np.ascontiguousarray(W, dtype=self.dtype)
        csc_back(self.indptr, self.indices, self.values, self.center, self.scale, W, shift, values)

    def gram(self, weights: FloatArray) -> FloatArray:
        weights = np.asarray(weights, dtype=np.float64) * self.scale**2
        raw = self._matrix()
        out = (raw.multiply(weights[None, :]) @ raw.T).toarray().astype(np.float64)
        shift = np.asarray(raw @ (weights * self.center)).reshape(-1)
        return out - np.add.outer(shift, shift) + float(np.sum(weights * self.center**2))

    def quadratic(self, S: csr_array) -> FloatArray:
        raw = self._matrix()
        energy = np.asarray(raw.multiply(S @ raw).sum(axis=0)).reshape(-1)
        degree = np.asarray(S.sum(axis=1)).reshape(-1)
        cross = np.asarray(raw.T @ degree).reshape(-1)
        energy = energy - 2.0 * self.center * cross + self.center**2 * degree.sum()
        return np.asarray(energy * self.scale**2, dtype=np.float64)

    def squares(self, weights: FloatArray) -> FloatArray:
        from eigensieve.data._sparse_numba import csc_squares

        out = np.empty(self.stop - self.start)
        weights = np.asarray(weights, dtype=np.float64)
        csc_squares(self.indptr, self.indices, self.values, self.center, self.scale, weights, weights.sum(), out)
        return out

    def grouped_sums(self, codes: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        from eigensieve.data._sparse_numba import csc_grouped_sums

        size = self.stop - self.start
        sums, squares = np.zeros((n_groups, size)), np.zeros(size)
        csc_grouped_sums(self.indptr, self.indices, self.values, codes, sums, squares)
        return sums, squares, self.scale

    def raw_stored(self) -> tuple[int, IntArray, IntArray, FloatArray] | None:
        """Return the number of samples and the stored rows, columns and values; None if centred or scaled."""
        if self.center.any() or (self.scale != 1.0).any():
            return None
        here = slice(int(self.indptr[0]), int(self.indptr[-1]))
        columns = np.repeat(np.arange(self.stop - self.start), np.diff(self.indptr))
        return self.n_samples, self.indices[here], columns, self.values[here].astype(self.dtype, copy=False)

    def toarray(self) -> FloatArray:
        return standardised(self._matrix().toarray(), self.center, self.scale, self.dtype)

    def _matrix(self) -> Raw:
        """Return the raw values of this block as a scipy matrix in compressed columns."""
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        rows = self.indices[first:last].astype(self.indptr.dtype, copy=False)
        arrays = (self.values[first:last], rows, self.indptr - first)
        return csc_array(arrays, shape=(self.n_samples, self.stop - self.start)).astype(np.float64, copy=False)


def near_zero(X: MatrixLike) -> Raw:
    """Return samples as far apart as those of X, moved so that their inner products keep the digits of the distances.
    Columns far from zero are moved by their mean. A sparse result holds no entry twice."""
    if not issparse(X):
        mean = X.mean(axis=0, dtype=np.float64)
        return X - mean if np.any(np.abs(mean) > FARTHEST[mean.dtype] * np.ptp(X, axis=0)) else X
    X = without_repeats(X)
    data = SparseData(X)
    moved = data._near(data.stats().mean)
    if moved is None:
        return X
    return csc_array((moved[0], data.indices.astype(np.int64), data.indptr), shape=data.shape).tocsr()


def without_repeats(X: MatrixLike) -> Raw:
    """Return a sparse matrix in compressed rows or columns that holds no entry twice: X itself where it is one. Entries
    that are stored several times count as their sum. Code that reads the stored values one by one would take each for a
    value of its own. X is never changed."""
    X = X if X.format in ("csr", "csc") else X.tocsr()
    if X.has_canonical_format:
        return X
    found = X.copy()
    found.sum_duplicates()
    return found


def _smallest_exact(values: Array) -> FloatArray:
    """Return the values in single precision where that changes none of them (counts, for example), else as they are."""
    if values.dtype == np.float32:
        return values
    single = np.empty(len(values), dtype=np.float32)
    for start in range(0, len(values), _BLOCK_NONZEROS):
        some = slice(start, start + _BLOCK_NONZEROS)
        with np.errstate(over="ignore"):  # too large values become infinite, which is another value
            single[some] = values[some]
        if not np.array_equal(single[some], values[some]):
            return values if values.dtype.kind == "f" else values.astype(np.float64)
    return single
