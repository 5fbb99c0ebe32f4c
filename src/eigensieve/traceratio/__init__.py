"""The trace ratio criterion: the best subset of features for a pair of graphs (nie-2008)."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.traceratio.dinkelbach import (
        best_subset,
        feature_ranking,
        feature_scores,
        feature_subset,
        subset_ratio,
        usable_features,
    )
    from eigensieve.traceratio.graph_diagonals import diagonals
    from eigensieve.traceratio.pairs import FisherPair, GivenPair, GraphPair, LaplacianPair, semi_supervised_pair
    from eigensieve.traceratio.path import TraceRatioPath, trace_ratio_path

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
