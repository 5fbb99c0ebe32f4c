"""Data sets: the papers' synthetic generators, real-data access, file readers."""

from eigensieve.datasets.demo import load_demo
from eigensieve.datasets.openml import fetch_real, list_openml
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
    "fetch_real",
    "list_openml",
    "list_real",
    "load_demo",
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
