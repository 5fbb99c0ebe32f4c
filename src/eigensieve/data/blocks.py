"""A block of consecutive features: what every in-memory backend hands to the algorithms.

A block holds the rows m_i of M (features x samples) for ``start <= i < stop``, centred and scaled as its
data matrix asks. Formulas are in the papers' symbols: M is features x samples.
"""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from eigensieve._types import Array
from eigensieve.data.thin import left_product, right_product


class Block(Protocol):
    """What an algorithm may ask of a block of features."""

    start: int
    stop: int

    def forward(self, V: Array) -> Array:
        """Return M_b V (features of the block x columns of V)."""

    def back(self, W: Array) -> Array:
        """Return M_b' W (samples x columns of W)."""

    def add_back(self, W: Array, total: "BackwardSum") -> None:
        """Add M_b' W to a sum over blocks."""

    def gram(self, weights: Array) -> Array:
        """Return M_b' diag(weights) M_b (samples x samples)."""

    def quadratic(self, S: Any) -> Array:
        """Return m_i' S m_i for every feature of the block; S is symmetric, sparse or dense."""

    def squares(self, weights: Array) -> Array:
        """Return sum_t weights_t m_it^2 for every feature of the block."""

    def class_scatter(self, codes: Array, counts: Array) -> tuple[Array, Array, Array]:
        """Return every feature's scatter of the class means and its total scatter, about its mean, in float64.

        Third comes the sum of squares that both are differences of, the measure of their rounding. `codes` numbers
        the class of every sample from 0, -1 leaves a sample out; `counts` are the class sizes.
        """

    def toarray(self) -> Array:
        """Return M_b' as a dense array (samples x features of the block)."""

    def moved(self, offset: int) -> "Block":
        """Move the feature range up: the block of a piece becomes a block of the whole."""


class BackwardSum:
    """The sum of M_b' W_b over blocks, in float64.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns) or None
        None before the first block.
    shift : ndarray of shape (n_columns,) or None
        What every sample has too much of: implicit centring takes it off once, not with every block.
    """

    def __init__(self) -> None:
        self.values: Array | None = None
        self.shift: Array | None = None

    def add(self, product: Array) -> None:
        if self.values is None:
            self.values = product.astype(np.float64, copy=False)
        else:
            np.add(self.values, product, out=self.values)

    def room(self, n_samples: int, n_columns: int) -> tuple[Array, Array]:
        """Values and shift as arrays to add to."""
        if self.values is None:
            self.values = np.zeros((n_samples, n_columns))
        if self.shift is None:
            self.shift = np.zeros(n_columns)
        return self.values, self.shift

    def result(self) -> Array | None:
        if self.values is not None and self.shift is not None:
            self.values -= self.shift
            self.shift = None
        return self.values


class _AnyBlock(ABC):
    """What follows from the rest in every block."""

    start: int
    stop: int

    @abstractmethod
    def quadratic(self, S: Any) -> Array: ...

    def squares(self, weights: Array) -> Array:
        from scipy.sparse import diags_array

        return self.quadratic(diags_array(weights).tocsr())

    def moved(self, offset: int) -> Any:
        self.start += offset
        self.stop += offset
        return self


class DenseBlock(_AnyBlock):
    """A block held as a dense array that is centred and scaled already.

    Parameters
    ----------
    start, stop : int
        Feature range.
    Z : ndarray of shape (n_samples, stop - start)
        The standardised columns.
    """

    def __init__(self, start: int, stop: int, Z: Array) -> None:
        self.start = start
        self.stop = stop
        self.Z = Z

    def forward(self, V: Array) -> Array:
        return left_product(V.T.astype(self.Z.dtype, copy=False), self.Z).T

    def back(self, W: Array) -> Array:
        return right_product(self.Z, W.T.astype(self.Z.dtype, copy=False))

    def add_back(self, W: Array, total: BackwardSum) -> None:
        total.add(self.back(W))

    def gram(self, weights: Array) -> Array:
        scaled = self.Z * weights.astype(self.Z.dtype, copy=False)
        return scaled @ self.Z.T

    def quadratic(self, S: Any) -> Array:
        if isinstance(S, np.ndarray):
            return np.einsum("tb,tb->b", self.Z, S @ self.Z, dtype=np.float64)
        from eigensieve.data._blocks_numba import dense_quadratic

        rows = S.tocsr()
        out = np.zeros(self.Z.shape[1])
        dense_quadratic(np.ascontiguousarray(self.Z), rows.indptr, rows.indices, rows.data, out)
        return out

    def class_scatter(self, codes: Array, counts: Array) -> tuple[Array, Array, Array]:
        from eigensieve.data._blocks_numba import dense_class_sums

        # About a sample's own values: large offsets cancel before anything is squared.
        shift = self.Z[np.argmax(codes >= 0)].astype(np.float64)
        sums, squares = np.zeros((len(counts), len(shift))), np.zeros(len(shift))
        dense_class_sums(np.ascontiguousarray(self.Z), codes, shift, sums, squares)
        return _class_scatter(sums, squares, counts)

    def toarray(self) -> Array:
        return self.Z


class SparseBlock(_AnyBlock):
    """A block in compressed sparse columns with *implicit* centring and scaling.

    The standardised column is (x_i - mean_i) * scale_i; the mean is a rank-one correction of every product,
    so nothing is ever densified.

    Parameters
    ----------
    start, stop : int
        Feature range.
    indptr, indices, values : ndarray
        Compressed columns of this range; `indptr` may start anywhere in `indices`.
    n_samples : int
        Number of rows.
    center : ndarray of shape (stop - start,) or None
        Subtracted from each column.
    scale : ndarray of shape (stop - start,) or None
        Multiplies each column after centring.
    dtype : dtype
        Floating type of all results.
    """

    def __init__(
        self,
        start: int,
        stop: int,
        indptr: Array,
        indices: Array,
        values: Array,
        n_samples: int,
        center: Array | None,
        scale: Array | None,
        dtype: Any,
    ) -> None:
        self.start = start
        self.stop = stop
        self.indptr = indptr
        self.indices = indices
        self.values = values
        self.n_samples = n_samples
        self.center = center
        self.scale = scale
        self.dtype = np.dtype(dtype)

    def forward(self, V: Array) -> Array:
        from eigensieve.data._blocks_numba import csc_forward, csc_forward_narrow

        V = np.ascontiguousarray(V, dtype=self.dtype)
        out = np.empty((self.stop - self.start, V.shape[1]), dtype=self.dtype)
        sums = np.ones(len(V)) @ V  # a product with ones is far faster than a sum along the first axis
        product = csc_forward_narrow if 4 <= V.shape[1] <= 8 else csc_forward
        product(self.indptr, self.indices, self.values, *self._transform(), V, sums, out)
        return out

    def back(self, W: Array) -> Array:
        total = BackwardSum()
        self.add_back(W, total)
        result = total.result()
        assert result is not None
        return result

    def add_back(self, W: Array, total: BackwardSum) -> None:
        from eigensieve.data._blocks_numba import csc_back

        W = np.ascontiguousarray(W, dtype=self.dtype)
        values, shift = total.room(self.n_samples, W.shape[1])
        csc_back(self.indptr, self.indices, self.values, *self._transform(), W, shift, values)

    def _transform(self) -> tuple[Array, Array]:
        """Centre and scale of every column, also where there is nothing to do."""
        size = self.stop - self.start
        center = np.zeros(size) if self.center is None else self.center
        return center, np.ones(size) if self.scale is None else self.scale

    def gram(self, weights: Array) -> Array:
        weights = np.asarray(weights, dtype=np.float64)
        if self.scale is not None:
            weights = weights * self.scale**2
        raw = self._matrix()
        out = (raw.multiply(weights[None, :]) @ raw.T).toarray().astype(np.float64)
        if self.center is not None:
            shift = np.asarray(raw @ (weights * self.center)).reshape(-1)
            out -= shift[:, None] + shift[None, :]
            out += float(np.sum(weights * self.center**2))
        return out

    def quadratic(self, S: Any) -> Array:
        raw = self._matrix()
        product = S @ raw
        if hasattr(product, "multiply"):
            energy = np.asarray(product.multiply(raw).sum(axis=0)).reshape(-1)
        else:
            energy = np.asarray(raw.multiply(np.asarray(product)).sum(axis=0)).reshape(-1)
        if self.center is not None:
            degree = np.asarray(S.sum(axis=1)).reshape(-1)
            cross = np.asarray(raw.T @ degree).reshape(-1)
            energy = energy - 2.0 * self.center * cross + self.center**2 * degree.sum()
        if self.scale is not None:
            energy = energy * self.scale**2
        return np.asarray(energy, dtype=np.float64)

    def class_scatter(self, codes: Array, counts: Array) -> tuple[Array, Array, Array]:
        from eigensieve.data._blocks_numba import csc_class_sums

        size = self.stop - self.start
        sums, squares = np.zeros((len(counts), size)), np.zeros(size)
        csc_class_sums(self.indptr, self.indices, self.values, codes, sums, squares)
        between, total, energy = _class_scatter(sums, squares, counts)
        unit = 1.0 if self.scale is None else self.scale**2
        return between * unit, total * unit, energy * unit

    def toarray(self) -> Array:
        Z = self._matrix().toarray().astype(self.dtype, copy=False)
        if self.center is not None:
            Z = Z - self.center.astype(self.dtype)
        if self.scale is not None:
            Z = Z * self.scale.astype(self.dtype)
        return Z

    def _matrix(self) -> Any:
        """This block's raw values as a scipy matrix in compressed columns."""
        from scipy.sparse import csc_array

        first, last = int(self.indptr[0]), int(self.indptr[-1])
        rows = self.indices[first:last].astype(self.indptr.dtype, copy=False)
        parts = (self.values[first:last], rows, self.indptr - first)
        return csc_array(parts, shape=(self.n_samples, self.stop - self.start)).astype(np.float64, copy=False)


def _class_scatter(sums: Array, squares: Array, counts: Array) -> tuple[Array, Array, Array]:
    """Scatter of the class means, total scatter and sum of squares, from sums per class (classes x features)."""
    mean_energy = sums.sum(axis=0) ** 2 / counts.sum()
    between = (sums**2 / counts[:, None]).sum(axis=0) - mean_energy
    return between, squares - mean_energy, squares
