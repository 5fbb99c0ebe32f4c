"""The products of the exact search, compiled."""

import numpy as np

from eigensieve._compiled import njit
from eigensieve._types import Array
from eigensieve.elements.kernel import LINEAR, RBF


@njit(cache=True, nogil=True)
def exact_dots(
    kind: int, gamma: float, degree: int, coef0: float,
    XT: Array, values: Array, sums: Array, directions: Array, dots: Array, norms: Array,
) -> None:  # fmt: skip
    """Fill in the products of every candidate of one basis vector with given directions, in double precision.

    `dots` is features x directions; `norms` are the squared norms. One candidate costs O(samples x directions).
    """
    n = sums.size
    column = np.empty(n, np.float64)
    for i in range(XT.shape[0]):
        square = 0.0
        for t in range(n):
            if kind == RBF:
                difference = XT[i, t] - values[i]
                c = np.exp(-gamma * (sums[t] + difference * difference))
            else:
                c = sums[t] + XT[i, t] * values[i]
                if kind != LINEAR:
                    c = (gamma * c + coef0) ** degree
            column[t] = c
            square += c * c
        norms[i] = square
        for m in range(directions.shape[0]):
            dot = 0.0
            for t in range(n):
                dot += column[t] * directions[m, t]
            dots[i, m] = dot
