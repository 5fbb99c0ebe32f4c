"""Sample graphs: nearest neighbours, user-given, their normalised form and leading eigenvectors."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.graphs.checks import check_graph
    from eigensieve.graphs.knn import EXACT_LIMIT, knn_graph
    from eigensieve.graphs.spectrum import degrees, leading_eigenvectors, normalized

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
