"""Unsupervised selectors from the literature, after their papers' formulas.

Each takes (X, n_clusters, count, seed, y) and returns indices, best first, or a function from a number of features to
indices. None looks at y. Each centres the columns where its paper does, so X may be raw or standardised.

Reading order
-------------
scores     one score per feature: Laplacian score, SPEC, MCFS, FastCan, variance
columns    columns that stand for the others: greedy subset, CUR, principal features, facility location, farthest points
sparse     row-sparse regression onto pseudo classes: NDFS, UDFS, RUFS
influence  i-IF-Learn: features that are not normally distributed, then features that tell the clusters apart
deep       concrete autoencoder, LS-CAE and DUFS; they need PyTorch
"""

from .columns import facility_location, farthest_points, greedy_columns, leverage, principal_features
from .influence import influential
from .scores import all_features, fastcan, laplacian, mcfs, random_choice, spec, variance
from .sparse import ndfs, rufs, udfs

__all__ = [
    "all_features",
    "facility_location",
    "farthest_points",
    "fastcan",
    "greedy_columns",
    "influential",
    "laplacian",
    "leverage",
    "mcfs",
    "ndfs",
    "principal_features",
    "random_choice",
    "rufs",
    "spec",
    "udfs",
    "variance",
]
