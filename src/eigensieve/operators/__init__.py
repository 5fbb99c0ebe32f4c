"""Matrix-free operators: products with the matrices of Q-alpha, which are never formed."""

from eigensieve.operators._affinity import Affinity, LaplacianAffinity, StandardAffinity
from eigensieve.operators._symmetric import (
    FeatureGram,
    SampleAffinity,
    SymmetricOperator,
    check_symmetric_operator,
)

__all__ = [
    "Affinity",
    "FeatureGram",
    "LaplacianAffinity",
    "SampleAffinity",
    "StandardAffinity",
    "SymmetricOperator",
    "check_symmetric_operator",
]
