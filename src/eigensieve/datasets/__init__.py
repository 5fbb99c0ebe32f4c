"""Data sets: the papers' synthetic generators, real-data access, file readers."""

from eigensieve.datasets.real import list_real, load_real, real_data_folder
from eigensieve.datasets.synthetic import (
    SyntheticData,
    TwoSolutions,
    make_class_scaleup,
    make_gene_expression,
    make_hidden_signs,
    make_planted_clusters,
    make_two_solutions,
    make_weston_linear,
    make_weston_nonlinear,
)

__all__ = [
    "SyntheticData",
    "TwoSolutions",
    "list_real",
    "load_real",
    "make_class_scaleup",
    "make_gene_expression",
    "make_hidden_signs",
    "make_planted_clusters",
    "make_two_solutions",
    "make_weston_linear",
    "make_weston_nonlinear",
    "real_data_folder",
]
