"""The structure of the samples: which of them belong together, by random walks along one local graph."""

import numpy as np
from scipy.sparse import csr_array, diags_array

from eigensieve._types import FloatArray, IntArray
from eigensieve.graphs import leading_eigenvectors, local_graph
from eigensieve.sieve.settings import SETTINGS

_SHORT = 0.01  # rows shorter than this share of the typical length stay short


def walks(
    points: FloatArray, balance: float = 1.0, donors: IntArray | None = None, roots: FloatArray | None = None
) -> FloatArray:
    """Return V, whose V V' says for every two samples how far they belong together.

    Two samples do if random walks of six steps along :func:`~eigensieve.graphs.local_graph` end in the same places.
    With U and lambda the leading eigenpairs of the smoothed graph, the rows of U diag(lambda)^6 say where walks end.
    Directions that walks forget count little, so the number of eigenvectors hardly matters.

    `balance` is a power of the singular values: below 1 small groups count more. With `donors` neighbours are of other
    donors. A walk goes to a neighbour in proportion to its weight; `roots`, of mean square 1, multiply the rows of V.
    """
    q = len(points)
    graph = local_graph(points, min(SETTINGS.neighbors, q - 1), SETTINGS.around, donors)
    count = max(1, min(SETTINGS.columns, max(2, q // 4), q - 2))
    r = np.ones(q) if roots is None else roots
    if roots is not None:
        graph = csr_array(diags_array(r**2) @ graph @ diags_array(r**2))
    start, mass = points * r[:, None], None if roots is None else r**2
    values, vectors = leading_eigenvectors(graph, count, smoothing=SETTINGS.smoothing, start=start, mass=mass)
    rows = vectors / r[:, None]
    V = normalize_rows((rows - np.average(rows, axis=0, weights=mass)) * np.maximum(values, 0.0) ** SETTINGS.steps, r)
    if balance == 1.0:
        return V
    basis, lengths, _ = np.linalg.svd(V, full_matrices=False)
    return np.asarray(basis * lengths**balance)


def normalize_rows(rows: FloatArray, roots: FloatArray | None = None) -> FloatArray:
    """Return the rows at equal length as in spectral clustering (Ng, Jordan and Weiss 2002), then centred and scaled.
    Rows of zeros stay zero before centring. The largest singular value is 1, so a feature that follows V scores at most
    1."""
    roots = np.ones(len(rows)) if roots is None else roots
    lengths = np.linalg.norm(rows, axis=1)
    typical = max(float(np.sqrt(np.mean((roots * lengths) ** 2))), np.finfo(np.float64).tiny)
    return centred(rows / np.maximum(lengths, _SHORT * typical)[:, None], roots)


def centred(V: FloatArray, roots: FloatArray) -> FloatArray:
    """Return V with centred columns, its rows multiplied by r, and a largest singular value of 1, or zeros."""
    V = (V - np.average(V, axis=0, weights=roots**2)) * roots[:, None]
    largest = float(np.linalg.norm(V, 2))
    return V / largest if largest > 0 else np.zeros_like(V)
