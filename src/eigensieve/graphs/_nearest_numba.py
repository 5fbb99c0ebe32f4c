"""The compiled loops of `nearest.py`."""

import numpy as np

from eigensieve._compiled import njit


@njit(cache=True, nogil=True)
def smallest(product, half, own, factors, first, candidates, edge):
    """For every row t find the columns s with the smallest (own_t + half_s - product_ts) factors_s.

    Column ``first + t`` is the row's own point and left out. `candidates` gets the positions in no order, `edge` the
    largest of their values.
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
            value = (own[t] + half[s] - row[s]) * factors[s]
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


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def squared_distances(points, targets, factors, candidates, out):
    """out[t, c] = |x_t - y_candidate|^2 factors_candidate."""
    for t in range(candidates.shape[0]):
        own = points[t]
        for c in range(candidates.shape[1]):
            other = targets[candidates[t, c]]
            total = 0.0
            for i in range(points.shape[1]):
                difference = own[i] - other[i]
                total += difference * difference
            out[t, c] = total * factors[candidates[t, c]]
