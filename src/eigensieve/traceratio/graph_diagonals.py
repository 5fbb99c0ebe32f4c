"""The diagonals of B and E, in blocks of features: all that the trace ratio needs of the data."""

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve.data import DataMatrix
from eigensieve.traceratio.dinkelbach import Vector
from eigensieve.traceratio.pairs import GraphPair

_CHUNK_NUMBERS = 1 << 22


def diagonals(data: DataMatrix, pair: GraphPair, progress: Progress = silent) -> tuple[Vector, Vector]:
    """Between and within scatter of every feature, non-negative, in float64.

    The fast sums are differences, so a within scatter far below the total is mostly rounding. Such features
    are computed again from their columns; "no within scatter at all" is then exact, as the selection rules
    need. Constant features have none of either.

    Parameters
    ----------
    data : DataMatrix
        Raw values; centring is implicit.
    pair : GraphPair
        The two graphs.
    progress : callable
        Told how far the work has got.
    """
    progress(f"scatter of {data.n_features} features")
    found = pair.fast(data)
    b = np.maximum(found.between, 0.0)
    e = np.maximum(found.within, 0.0)

    # Between this and the rounding of the sums lie at least three more digits.
    doubtful_part = 1e-3 if data.dtype == np.float32 else 1e-8
    doubtful = np.flatnonzero((found.scale > 0) & (found.within <= doubtful_part * found.scale))
    raw = data.rescaled(None, None)
    size = max(1, _CHUNK_NUMBERS // pair.rows_per_column)
    for first in range(0, len(doubtful), size):
        progress(f"exact scatter of doubtful features, {first} of {len(doubtful)}")
        chunk = doubtful[first : first + size]
        b[chunk], e[chunk] = pair.exact(raw.take(chunk).astype(np.float64))
    return b, e
