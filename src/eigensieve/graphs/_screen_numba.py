"""The compiled loops of `screen.py`."""

import numpy as np

from eigensieve._compiled import njit


@njit(cache=True, nogil=True)
def smallest(product, half, first, candidates, edge):
    """For every row t find the columns s with the smallest half_s - product_ts, without the row's own sample.

    `candidates` gets their positions in no order, `edge` the largest of their values. `first` is the sample of the
    first row.
    """
    width = candidates.shape[1]
    values = np.empty(width, dtype=np.float32)
    for t in range(product.shape[0]):
        count = 0
        worst = 0
        row = product[t]
        chosen = candidates[t]
        for s in range(product.shape[1]):
            if s == first + t:
                continue
            value = half[s] - row[s]
            if count < width:
                values[count] = value
                chosen[count] = s
                if value > values[worst]:
                    worst = count
                count += 1
            elif value < values[worst]:
                values[worst] = value
                chosen[worst] = s
                worst = 0
                for c in range(1, width):
                    if values[c] > values[worst]:
                        worst = c
        edge[t] = values[worst]


@njit(cache=True, nogil=True)
def largest_deviation(X, mean):
    """The largest |x_ti - mean_i|."""
    largest = 0.0
    for t in range(X.shape[0]):
        for i in range(X.shape[1]):
            largest = max(largest, abs(X[t, i] - mean[i]))
    return largest


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def single_rows(X, mean, unit, single, squares):
    """single = unit (X - mean) in single precision; squares[t] = its row's squared norm in double precision."""
    for t in range(X.shape[0]):
        total = 0.0
        for i in range(X.shape[1]):
            value = (X[t, i] - mean[i]) * unit
            single[t, i] = value
            total += value * value
        squares[t] = total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def squared_distances(X, unit, first, candidates, out):
    """out[t, c] = |unit (x_(first + t) - x_candidate)|^2."""
    for t in range(candidates.shape[0]):
        own = X[first + t]
        for c in range(candidates.shape[1]):
            other = X[candidates[t, c]]
            total = 0.0
            for i in range(X.shape[1]):
                difference = unit * (np.float64(own[i]) - np.float64(other[i]))
                total += difference * difference
            out[t, c] = total
