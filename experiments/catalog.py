"""All experiments, in the order of the page."""

from experiments import (
    class_scaleup,
    element_selection,
    faces,
    feature_map,
    gene_model,
    gene_outcomes,
    hidden_signs,
    image_patches,
    laplacian,
    positivity,
    trace_ratio_2008,
    uci_side_data,
    weston,
)
from experiments.frame import Experiment

_MODULES = (
    positivity,
    weston,
    class_scaleup,
    hidden_signs,
    gene_model,
    gene_outcomes,
    image_patches,
    laplacian,
    feature_map,
    faces,
    uci_side_data,
    trace_ratio_2008,
    element_selection,
)

EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
"""Name on the command line -> experiment."""
