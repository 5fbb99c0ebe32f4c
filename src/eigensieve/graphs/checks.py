"""A graph that the user gives: checked once, in one place."""

import numpy as np
from scipy.sparse import csr_array

from eigensieve._types import MatrixLike
from eigensieve.data import without_repeats


def check_graph(graph: MatrixLike, n_samples: int, *, name: str = "graph", signed: bool = False) -> csr_array:
    """Return a weighted undirected graph as compressed rows in float64, or raise an error that names its fault.

    Weights are symmetric, and non-negative unless `signed`: scatters may then be negative, too, and the caller checks
    them. The graph need not be connected: samples without edges carry no weight. Weights on the diagonal count only in
    a sample's degree. `name` is the parameter's name in messages.
    """
    try:
        A = csr_array(graph, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The '{name}' graph must be a sparse (or dense) matrix of numbers. Got {type(graph).__name__} instead."
        ) from error
    if A.shape != (n_samples, n_samples):
        raise ValueError(
            f"The '{name}' graph must have one row and one column per sample: "
            f"({n_samples}, {n_samples}). Got {A.shape} instead."
        )
    A = without_repeats(A)  # its arrays may be the user's own
    if not np.isfinite(A.data).all():
        raise ValueError(f"The '{name}' graph must have finite weights. Got NaN or infinity instead.")
    if not signed and A.nnz and A.data.min() < 0:
        raise ValueError(
            f"The '{name}' graph must have non-negative weights, or its scatter could be negative. "
            f"Got a weight of {A.data.min():g} instead; put repelling pairs into the between graph."
        )
    asymmetry = abs(A - A.T).max() if A.nnz else 0.0
    if asymmetry > 1e-8 * (abs(A.data).max() if A.nnz else 1.0):
        raise ValueError(
            f"The '{name}' graph must be symmetric. Got weights that differ by up to {asymmetry:g} "
            f"between the two directions; pass (A + A.T) / 2 or A.maximum(A.T)."
        )
    if not A.nnz or not A.data.any():
        raise ValueError(f"The '{name}' graph must have at least one edge. Got a graph without edges instead.")
    return A
