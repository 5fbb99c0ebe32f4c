"""Some samples of any data as data in memory, sparse where the data is sparse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import hstack, issparse, vstack

from eigensieve._types import IntArray
from eigensieve.data.matrix import DataMatrix, Ranges, as_data


def samples_in_memory(data: DataMatrix, rows: IntArray) -> DataMatrix:
    """Return the samples `rows`, centred and scaled like `data`; one pass along the features."""
    raw = data.rescaled(None, None)
    raw.n_segments = 1  # nothing to put together where the data is in memory
    return as_data(joined(list(raw.each_segment(_Samples(rows))), 1)).rescaled(data.center, data.scale, data.far)


def joined(parts: Sequence[Any], axis: int) -> Any:
    """Put raw parts together: arrays, or sparse matrices."""
    if len(parts) == 1:
        return parts[0]
    if issparse(parts[0]):
        return (vstack, hstack)[axis](parts, format="csc")
    return np.concatenate(parts, axis=axis)


class _Samples:
    """Cut some samples out of a segment: a function that can travel to a worker."""

    def __init__(self, rows: IntArray) -> None:
        self.rows = rows

    def __call__(self, piece: DataMatrix, offset: int, ranges: Ranges) -> Any:
        return piece.raw_samples(self.rows, ranges[0][0], ranges[-1][1])
