"""Sample graphs: nearest neighbours, user-given, their normalised form and leading eigenvectors."""

from eigensieve.graphs._checks import check_graph
from eigensieve.graphs._knn import EXACT_LIMIT, knn_graph
from eigensieve.graphs._spectrum import degrees, leading_eigenvectors, normalized

__all__ = ["EXACT_LIMIT", "check_graph", "degrees", "knn_graph", "leading_eigenvectors", "normalized"]
