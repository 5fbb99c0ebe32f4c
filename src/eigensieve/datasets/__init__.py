"""Data sets: the papers' synthetic generators and real data."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.datasets.demo import load_demo
    from eigensieve.datasets.openml import fetch_real, list_openml
    from eigensieve.datasets.real import list_real, load_real, real_data_folder
    from eigensieve.datasets.synthetic.genes import make_gene_expression
    from eigensieve.datasets.synthetic.permuted import make_class_scaleup, make_hidden_signs
    from eigensieve.datasets.synthetic.planted import make_planted_clusters
    from eigensieve.datasets.synthetic.result import SyntheticData
    from eigensieve.datasets.synthetic.two_solutions import TwoSolutions, make_two_solutions
    from eigensieve.datasets.synthetic.weston import make_weston_linear, make_weston_nonlinear

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
