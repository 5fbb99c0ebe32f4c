"""Counts, such as molecules per cell and gene: how they are recognised, and their logarithms at one library size.

x_ti becomes log(1 + x_ti s / s_t): s_t is the total of sample t, s the median of the totals. Samples then
do not differ by their totals. Zero stays zero, so sparse data stays sparse.
"""

from typing import Any, Literal

import numpy as np

from eigensieve._types import Array, FloatArray, IntArray, MatrixLike, Raw
from eigensieve.data.disk.sources import DerivedSource, Source
from eigensieve.data.kinds import as_data
from eigensieve.data.matrix import DataMatrix
from eigensieve.data.sparse import SparseData, without_repeats

_LOOKED_AT = 200_000  # values that are looked at to tell whether data holds counts
_LARGE = 50.0  # no logarithm of an amount is larger


def kind_of_values(X: MatrixLike) -> Literal["counts", "amounts", "logarithms", "signed"]:
    """Tell counts (whole numbers) from other amounts, such as TPM, from values without negative ones that are small
    enough for logarithms, and from all others, by values spread over the data. Missing ones are passed over."""
    values = np.nan_to_num(_looked_at(X))
    if (values < 0).any():
        return "signed"
    if values.any() and (values == np.round(values)).all():
        return "counts"
    return "amounts" if values.max(initial=0.0) > _LARGE else "logarithms"


def _looked_at(X: MatrixLike) -> FloatArray:
    """Return some values: of some features, or of some samples where these are cheaper to read."""
    if hasattr(X, "tocsr"):
        values = without_repeats(X).data
        return np.asarray(values[:: max(1, len(values) // _LOOKED_AT)])
    data = as_data(X)
    source = getattr(data, "source", None)
    if not isinstance(source, Source) or not source.by_samples:
        return np.asarray(data.take(_spread(*data.shape)))
    rows = [source.rows(at, at + 1) for at in _spread(*data.shape[::-1]).tolist()]
    return np.concatenate([row.data if hasattr(row, "tocsr") else np.ravel(row) for row in rows])


def _spread(n_others: int, n: int) -> IntArray:
    """Return indices below n, spread evenly: as many as keep the number of values small."""
    return np.unique(np.linspace(0, n - 1, max(1, min(n, _LOOKED_AT // max(1, n_others)))).astype(np.intp))


def log_counts(X: MatrixLike) -> tuple[DataMatrix, FloatArray]:
    """Return the logarithms of counts at one library size, wherever the counts are stored, and the samples' depth
    log(s_t). Shallow samples stay noisier, so features still follow the depth a little. In memory one transformed copy
    is made; other data is transformed when read."""
    raw = as_data(X)
    factors = size_factors(raw)
    return logarithms(raw, factors, own=raw is not X), -np.log(factors)


def logarithms(raw: DataMatrix, factors: FloatArray, *, own: bool = False, squared: bool = False) -> DataMatrix:
    """Return log(1 + x_ti f_t), or its square, wherever the data is stored. Negative values count as zero. With `own`
    the raw data is not used any more, so that sparse data may be written over."""
    held: Any = raw
    if isinstance(getattr(raw, "source", None), Source):
        found: DataMatrix = type(held)(LogCounts(held.source, factors, squared=squared), held.max_memory)
        found.report_to(raw.shared.progress)
    elif hasattr(getattr(raw, "X", None), "__dask_graph__"):
        import dask.array as da

        column = da.from_array(factors[:, None], chunks=(held.X.chunks[0], 1))
        found = as_data(held.X.map_blocks(_logarithms, column, squared=squared, dtype=raw.dtype))
    elif isinstance(raw, SparseData):
        found = raw.mapped(lambda values, rows: _log(values * factors[rows].astype(values.dtype), squared), own=own)
    else:
        found = as_data(_logarithms(held.X, factors[:, None], squared=squared))
    return found


def size_factors(data: DataMatrix) -> FloatArray:
    """Return s / s_t per sample, the factor of its counts; 1 for samples without any count."""
    totals = data.combine(np.ones((data.n_features, 1)))[:, 0]
    seen = totals > 0
    if not seen.any():
        return np.ones(len(totals))
    return np.where(seen, np.median(totals[seen]) / np.where(seen, totals, 1.0), 1.0)


class LogCounts(DerivedSource):
    """The logarithms of stored counts, or their squares."""

    def __init__(self, base: Source, factors: FloatArray, *, squared: bool = False) -> None:
        dtype = np.float32 if base.dtype == np.float32 else np.float64
        super().__init__(base, base.name, base.shape[0], dtype, base.itemsize + np.dtype(dtype).itemsize)
        self.factors, self.squared = factors, squared

    def largest(self, count: int) -> float:
        return 2.0 * self.base.largest(count)

    def subset(self, rows: IntArray) -> Source:
        return LogCounts(self.base.subset(rows), self.factors[rows], squared=self.squared)

    def columns(self, start: int, stop: int, buffer: Array | None = None) -> Raw:
        return _logarithms(self.base.columns(start, stop, buffer), self.factors[:, None], squared=self.squared)

    def rows(self, start: int, stop: int) -> Raw:
        return _logarithms(self.base.rows(start, stop), self.factors[start:stop, None], squared=self.squared)


def _logarithms(X: Raw, factors: FloatArray, *, squared: bool = False) -> Raw:
    """Return log(1 + x f), or its square, for an array or a sparse matrix, f one factor per row."""
    if hasattr(X, "tocsr"):
        out = without_repeats(X).astype(np.float32 if X.dtype == np.float32 else np.float64, copy=True)
        each = factors[:, 0].astype(out.dtype)
        out.data *= each[out.indices] if out.format == "csc" else np.repeat(each, np.diff(out.indptr))
        out.data = _log(out.data, squared)
        return out
    X = np.asarray(X)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    return _log(np.multiply(X, factors.astype(dtype), dtype=dtype), squared)


def _log(values: FloatArray, squared: bool) -> FloatArray:
    """Return log(1 + x), or its square, written over `values`. Negative values count as zero."""
    np.log1p(np.maximum(values, 0, out=values), out=values)
    return np.square(values, out=values) if squared else values
