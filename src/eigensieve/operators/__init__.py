"""Matrix-free operators: products with the matrices of Q-alpha, which are never formed."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.operators._steps_numba import multiplied_back, projected, tile_width
    from eigensieve.operators.affinity import Affinity, LaplacianAffinity, StandardAffinity
    from eigensieve.operators.scaled import ScaledAffinity
    from eigensieve.operators.steps import BASIS, MOST_COLUMNS, SpreadStep, thin_side, widened
    from eigensieve.operators.symmetric import FeatureGram, SampleAffinity, SymmetricOperator, check_symmetric_operator

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
