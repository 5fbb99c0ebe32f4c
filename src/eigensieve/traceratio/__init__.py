"""The trace ratio criterion: the best subset of features for a pair of graphs (Nie et al., 2008).

The package owns the pairs of graphs, the scatters they give to every feature, and the exact search for the subset with
the largest ratio of the two.

Read ``pairs``, ``dinkelbach`` (one size) and ``path`` (all sizes at once) in this order.

Words: *between* scatter b and *within* scatter e are the diagonals of the paper's B and E. The *feature-level* score
of a feature is b / e. The *subset-level* score of a subset is sum b / sum e; lambda* is its optimum. A feature is
*usable* if it has any scatter, and *free* if it has between scatter but no within scatter.
"""

from eigensieve.traceratio.dinkelbach import (
    SubsetResult,
    best_subset,
    feature_ranking,
    feature_scores,
    feature_subset,
    subset_ratio,
    usable_features,
)
from eigensieve.traceratio.pairs import FisherPair, GivenPair, GraphPair, LaplacianPair, diagonals, semi_supervised_pair
from eigensieve.traceratio.path import TraceRatioPath, trace_ratio_path
