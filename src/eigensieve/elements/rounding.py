"""How far single precision can be off: a bound that holds for every sample within a stated range."""

import numpy as np

from eigensieve._types import Array
from eigensieve.elements.expansion import ElementExpansion
from eigensieve.elements.kernel import LINEAR, RBF

UNIT = 2.0**-24
"""Half a unit in the last place of 1: the relative error of one rounding."""
STEPS = 10
"""Roundings per kernel value apart from the sum over features: gamma, its product, the exponential's argument."""


def column_bounds(expansion: ElementExpansion, reach: Array) -> Array:
    """Return a bound on the error of each column in single precision, for samples with |x_i| <= reach_i.

    rbf: let z = gamma * sum_i (x_i - b_i)^2. A relative error r of z changes exp(-z) by at most r max z exp(-z), which
    is r / e. Rounding x_i and b_i moves their difference by up to u (|x_i| + |b_i|), and |d exp(-gamma t^2) / dt| is at
    most sqrt(2 gamma / e). The exponential itself adds `STEPS` roundings of numbers up to 1.

    poly, linear: the sum is off by (p + STEPS) roundings of its largest terms, and the power multiplies that by its
    slope.
    """
    kernel = expansion.kernel
    roundings = (expansion.lengths + STEPS) * UNIT
    if kernel.kind == RBF:
        moved = UNIT * ((reach[expansion.features] + np.abs(expansion.values)) @ expansion.membership())
        return roundings / np.e + np.sqrt(2.0 * expansion.gammas / np.e) * moved + STEPS * UNIT
    sizes = column_sizes(expansion, reach)
    if kernel.kind == LINEAR:
        return roundings * sizes
    return kernel.degree * (roundings * (1.0 + roundings) ** kernel.degree + UNIT) * sizes


def column_sizes(expansion: ElementExpansion, reach: Array) -> Array:
    """Return a bound on the size of each column; for the rbf kernel, of the column minus 1."""
    kernel = expansion.kernel
    if kernel.kind == RBF:
        return np.ones(expansion.n_columns)
    base = np.abs(expansion.gammas) * ((reach[expansion.features] * np.abs(expansion.values)) @ expansion.membership())
    return base if kernel.kind == LINEAR else np.asarray((base + abs(kernel.coef0)) ** kernel.degree)


def single_precision_bound(expansion: ElementExpansion, reach: Array) -> Array:
    """Return a bound per output on the error of columns in single precision that are summed in double precision."""
    return column_bounds(expansion, reach) @ np.abs(expansion.weights)


def summed_in_single_bound(expansion: ElementExpansion, reach: Array, lanes: int) -> Array:
    """Return a bound per output if the sum over columns is in single precision too, in `lanes` partial sums.

    A sum of n terms in single precision is off by at most n roundings of the sum of their sizes. Rbf columns enter as
    exp - 1, of size at most 1; the weights' total is part of the offset.
    """
    terms = int(np.count_nonzero(expansion.weights, axis=0).max(initial=0))
    n_each = -(-terms // lanes) + lanes + 4
    sizes = column_sizes(expansion, reach)
    total = sizes @ np.abs(expansion.weights) + np.abs(expansion.intercept) + np.abs(expansion.weights.sum(axis=0))
    return single_precision_bound(expansion, reach) + n_each * UNIT * total
