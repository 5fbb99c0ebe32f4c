"""Compiled loops over compressed columns; they release the GIL, so that blocks run on threads."""

import numpy as np

from eigensieve._compiled import njit


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def csc_forward(indptr, indices, values, center, scale, V, sums, out):
    """out[i] = scale_i (sum over the non-zeros t of column i of values_t V[t] - center_i sums); sums = 1'V."""
    n_columns = V.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        for c in range(n_columns):
            row[c] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            value = values[p]
            source = V[indices[p]]
            for c in range(n_columns):
                row[c] += value * source[c]
        for c in range(n_columns):
            row[c] = scale[i] * (row[c] - center[i] * sums[c])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def csc_forward_narrow(indptr, indices, values, center, scale, V, sums, out):
    """The same as csc_forward for 4 to 8 columns, a third faster: the sums of a feature stay in registers. They are
    kept as the first four and the last four columns, which overlap where there are fewer than eight."""
    first = np.uintp(0)  # unsigned: a signed index would be tested for counting from the end
    last = np.uintp(V.shape[1] - 4)
    one, two, three = np.uintp(1), np.uintp(2), np.uintp(3)
    for i in range(out.shape[0]):
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            value = values[p]
            source = V[indices[p]]
            a0 += value * source[first]
            a1 += value * source[one]
            a2 += value * source[two]
            a3 += value * source[three]
            b0 += value * source[last]
            b1 += value * source[last + one]
            b2 += value * source[last + two]
            b3 += value * source[last + three]
        row = out[i]
        row[first], row[one], row[two], row[three] = a0, a1, a2, a3
        row[last], row[last + one], row[last + two], row[last + three] = b0, b1, b2, b3
        for c in range(V.shape[1]):
            row[c] = scale[i] * (row[c] - center[i] * sums[c])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def csc_back(indptr, indices, values, center, scale, W, shift, out):
    """out[t] += values_t scale_i W[i] over all non-zeros t of all columns i; shift += center_i scale_i W[i]."""
    n_columns = W.shape[1]
    for i in range(W.shape[0]):
        source = W[i]
        if not source.any():  # features without weight cost nothing
            continue
        offset = center[i] * scale[i]
        for c in range(n_columns):
            shift[c] += offset * source[c]
        for p in range(indptr[i], indptr[i + 1]):
            value = values[p] * scale[i]
            row = out[indices[p]]
            for c in range(n_columns):
                row[c] += value * source[c]


@njit(cache=True, nogil=True)
def csc_squares(indptr, indices, values, center, scale, weights, total, out):
    """out[i] = sum over all samples t of weights_t (x_ti - center_i)^2 scale_i^2; total = the sum of the weights."""
    for i in range(out.shape[0]):
        energy, seen = 0.0, 0.0
        for p in range(indptr[i], indptr[i + 1]):
            difference = values[p] - center[i]
            weight = weights[indices[p]]
            energy += weight * difference * difference
            seen += weight
        out[i] = (energy + (total - seen) * center[i] * center[i]) * scale[i] * scale[i]


@njit(cache=True, nogil=True)
def csc_moments(indptr, indices, values, n_samples, mean, centered_norm, finite, constant):
    """Mean, norm about the mean, finiteness and exact constancy of every column. The sums run on values divided by the
    column's largest magnitude, so that nothing overflows."""
    for i in range(mean.shape[0]):
        first, last = indptr[i], indptr[i + 1]
        full = last - first == n_samples
        low = values[first] if full else values.dtype.type(0)
        high = low
        fine = True
        for p in range(first, last):
            fine = fine and np.isfinite(values[p])
            low = min(low, values[p])
            high = max(high, values[p])
        finite[i] = fine
        constant[i] = low == high
        mean[i] = low
        centered_norm[i] = 0.0
        if constant[i] or not fine:
            continue
        biggest = max(abs(np.float64(low)), abs(np.float64(high)))  # float() would stay in single precision
        average = 0.0
        for p in range(first, last):
            average += values[p] / biggest
        average /= n_samples
        zeros = n_samples - (last - first)
        spread = zeros * average * average
        rounding = -zeros * average  # the sum of all differences, which is zero up to the rounding of the average
        for p in range(first, last):
            difference = values[p] / biggest - average
            spread += difference * difference
            rounding += difference
        mean[i] = (average + rounding / n_samples) * biggest
        centered_norm[i] = np.sqrt(spread) * biggest


@njit(cache=True, nogil=True)
def csc_grouped_sums(indptr, indices, values, codes, sums, squares):
    """sums[c, i] += x_ti over the non-zeros t of group c, squares[i] += x_ti^2; group -1 is left out."""
    for i in range(squares.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            c = codes[indices[p]]
            if c >= 0:
                value = np.float64(values[p])
                sums[c, i] += value
                squares[i] += value * value
