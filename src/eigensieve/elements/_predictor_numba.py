"""The evaluation of masked expansions, compiled."""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import Array
from eigensieve.elements._kernel_numba import bump, expm1_of, power
from eigensieve.elements.kernel import BUMP, RBF

_F = np.float32
_TILE, _PADDING = 96, 16


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz", "arcp"})
def tiled_decision(
    kind: int, degree: int, coef0: np.float32,
    X: Array, used: Array, starts: Array, places: Array, values: Array,
    gammas: Array, weights: Array, offset: Array, out: Array,
) -> None:  # fmt: skip
    """Evaluate a masked expansion for a tile of samples at a time; see `TiledPredictor`."""
    # Without padding, the tile's rows could be a power of two apart and would compete for the same cache lines.
    tile = np.zeros((used.size, _TILE + _PADDING), values.dtype)
    column = np.empty(_TILE, values.dtype)
    total = np.empty((weights.shape[0], _TILE))
    for begin in range(0, X.shape[0], _TILE):
        count = min(_TILE, X.shape[0] - begin)
        for t in range(count):
            row = X[begin + t]
            for u in range(used.size):
                tile[u, t] = row[used[u]]
        total[:] = 0.0
        # All lanes are computed, because a fixed length compiles best. Those past `count` hold an earlier tile's rows.
        for c in range(gammas.size):
            for t in range(_TILE):
                column[t] = 0.0
            for e in range(starts[c], starts[c + 1]):
                value = values[e]
                lanes = tile[places[e]]
                if kind in (RBF, BUMP):
                    for t in range(_TILE):
                        difference = lanes[t] - value
                        column[t] += difference * difference
                else:
                    for t in range(_TILE):
                        column[t] += lanes[t] * value
            gamma = gammas[c]
            if kind == RBF:
                for t in range(_TILE):
                    column[t] = expm1_of(-gamma * column[t])
            elif kind == BUMP:
                for t in range(_TILE):
                    column[t] = bump(gamma * column[t])
            else:
                for t in range(_TILE):
                    column[t] = power(gamma * column[t] + coef0, degree)
            for m in range(weights.shape[0]):
                weight = weights[m, c]
                if weight == 0.0:
                    continue
                for t in range(_TILE):
                    total[m, t] += weight * column[t]
        for m in range(weights.shape[0]):
            for t in range(count):
                out[begin + t, m] = total[m, t] + offset[m]


@njit(cache=True, nogil=True)
def table_decision(
    X: Array, features: Array, lows: Array, scales: Array, tables: Array, out: Array, missed: Array
) -> None:
    """Add tabulated functions of single features; `missed` marks samples outside a table's range. `tables` is features
    x entries x outputs; between two entries the value is interpolated."""
    last = tables.shape[1] - 2
    for t in range(X.shape[0]):
        for k in range(features.size):
            place = (_F(X[t, features[k]]) - lows[k]) * scales[k]
            if not _F(0.0) <= place <= _F(last + 1):  # true for NaN as well
                missed[t] = True
                break
            entry = min(np.int32(place), np.int32(last))
            part = place - _F(entry)
            for m in range(out.shape[1]):
                here = tables[k, entry, m]
                out[t, m] += here + part * (tables[k, entry + 1, m] - here)
