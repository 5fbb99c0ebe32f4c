"""How few features would do: the share of the structure that growing panels show."""

import numpy as np

from eigensieve._types import FloatArray, IntArray
from eigensieve.evidence import share_shown

MOST_PICKED = 300  # largest panel that is measured
ENOUGH = 0.95  # a panel is large enough when its R2 is at least this share of the largest R2

_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, MOST_PICKED)


def growing_panels(
    Z: FloatArray, V: FloatArray, donors: IntArray | None = None, roots: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Return sizes, and how well the first so many features of Z, in the order of the pick, show the structure V.
    `roots` are roots of the samples' weights, with which the rows of Z and V are multiplied."""
    sizes = np.unique(np.minimum(_SIZES, Z.shape[1])) if Z.shape[1] else np.empty(0, dtype=int)
    return sizes, np.array([shown_by(Z[:, :size], V, donors, roots) for size in sizes])


def shown_by(Z: FloatArray, V: FloatArray, donors: IntArray | None = None, roots: FloatArray | None = None) -> float:
    """Return R2 of V from a panel's features, samples in a random order. Where samples are equally near, the search
    takes the first. It must not follow the order in which they were given."""
    mixed = np.random.default_rng(0).permutation(len(Z))
    Z, V, donors = Z[mixed], V[mixed], None if donors is None else donors[mixed]
    if roots is None:
        return share_shown(Z, V, donors)
    r = roots[mixed, None]
    return share_shown(Z / r.astype(Z.dtype), V / r, donors, r[:, 0] ** 2)


def fewest(sizes: IntArray, shown: FloatArray) -> int:
    """Return the smallest size whose R2 is at least 95 % of the largest R2."""
    return int(sizes[int(np.argmax(shown >= ENOUGH * shown.max()))]) if len(sizes) else 0
