"""The compiled loops of `pairs.py`. They are imported only when pairs are given."""

from eigensieve._compiled import njit
from eigensieve._types import FloatArray, IntArray


@njit(cache=True, nogil=True, fastmath=True)
def add_affinities(Z: FloatArray, weights: FloatArray, first: IntArray, second: IntArray, out: FloatArray) -> None:
    """Add sum_i w_i z_xi z_yi to out[p] for every pair p = (x, y)."""
    for p in range(len(first)):
        x, y = first[p], second[p]
        total = 0.0
        for i in range(Z.shape[1]):
            total += weights[i] * Z[x, i] * Z[y, i]
        out[p] += total


@njit(cache=True, nogil=True, fastmath=True)
def add_products(Z: FloatArray, values: FloatArray, first: IntArray, second: IntArray, out: FloatArray) -> None:
    """Add sum_p e_p z_xi z_yi to out[i] for every feature i."""
    for p in range(len(first)):
        x, y, value = first[p], second[p], values[p]
        for i in range(Z.shape[1]):
            out[i] += value * Z[x, i] * Z[y, i]
