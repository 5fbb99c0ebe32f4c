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
    kernel, gammas = expansion.kernel, expansion.gammas
    x, b = reach[expansion.features], np.abs(expansion.values)
    member = expansion.membership()
    roundings = (expansion.lengths + STEPS) * UNIT
    if kernel.kind == RBF:
        moved = UNIT * ((x + b) @ member)
        return roundings / np.e + np.sqrt(2.0 * gammas / np.e) * moved + STEPS * UNIT
    base = np.abs(gammas) * ((x * b) @ member)
    if kernel.kind == LINEAR:
        return roundings * base
    base = base + abs(kernel.coef0)
    power = base**kernel.degree
    return kernel.degree * roundings * power * (1.0 + roundings) ** kernel.degree + kernel.degree * UNIT * power


def single_precision_bound(expansion: ElementExpansion, reach: Array) -> Array:
    """Return a bound per output on the error of columns in single precision that are summed in double precision."""
    return column_bounds(expansion, reach) @ np.abs(expansion.weights)
