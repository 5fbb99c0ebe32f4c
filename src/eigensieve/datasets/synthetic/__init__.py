"""Synthetic data whose relevant features are known: the papers' generators and planted clusters.

The generators return named tuples that unpack as ``X, y, relevant`` (:func:`make_two_solutions` has two
fields more). The relevant features come first, as in the papers, except in :func:`make_planted_clusters`.
"""

from eigensieve.datasets.synthetic.genes import make_gene_expression
from eigensieve.datasets.synthetic.permuted import make_class_scaleup, make_hidden_signs
from eigensieve.datasets.synthetic.planted import make_planted_clusters
from eigensieve.datasets.synthetic.result import SyntheticData
from eigensieve.datasets.synthetic.two_solutions import TwoSolutions, make_two_solutions
from eigensieve.datasets.synthetic.weston import make_weston_linear, make_weston_nonlinear

__all__ = [
    "SyntheticData",
    "TwoSolutions",
    "make_class_scaleup",
    "make_gene_expression",
    "make_hidden_signs",
    "make_planted_clusters",
    "make_two_solutions",
    "make_weston_linear",
    "make_weston_nonlinear",
]
