"""Which samples belong together: random walks along a graph in which dense and sparse surroundings count alike."""

import numpy as np

from eigensieve._types import Array
from eigensieve.graphs import leading_eigenvectors, local_graph
from eigensieve.sieve.embedding import N_NEIGHBORS, SMOOTHING

STEPS = 6
"""Steps of a walk."""

_SHORT = 0.01  # rows shorter than this share of the typical length stay short


def shown_by_walks(points: Array, n_columns: int) -> Array:
    """Return V, whose V V' says for every two samples how far they belong together.

    Two samples belong together if random walks of six steps from both end in the same places. The walks follow the
    neighbour graph of :func:`~eigensieve.graphs.knn.local_graph`. With U and lambda the eigenvectors and eigenvalues of
    the smoothed graph, the rows of U diag(lambda)^6 say where walks end. Directions that walks forget count little, so
    it does not matter how many eigenvectors there are. :func:`same_say` does the rest.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
        The layout of the samples.
    n_columns : int
        Eigenvectors. Below the number of samples.
    """
    graph = local_graph(points, min(N_NEIGHBORS, len(points) - 1))
    values, vectors = leading_eigenvectors(graph, n_columns, smoothing=SMOOTHING)
    return same_say((vectors - vectors.mean(axis=0)) * values**STEPS)


def same_say(rows: Array) -> Array:
    """Return the rows divided by their lengths, so that every sample has the same say, and centred.

    Rows are made equally long as in spectral clustering (Ng, Jordan and Weiss 2002). Rows of zeros stay at zero before
    columns are centred. The whole is scaled: the largest eigenvalue of V V' is 1, as those of Q Q' are, so that a
    feature that follows V scores at most 1.
    """
    lengths = np.linalg.norm(rows, axis=1)
    typical = max(float(np.sqrt(np.mean(lengths**2))), np.finfo(np.float64).tiny)
    V = rows / np.maximum(lengths, _SHORT * typical)[:, None]
    V -= V.mean(axis=0)
    largest = float(np.linalg.norm(V, 2))
    return V / largest if largest > 0 else np.zeros_like(V)
