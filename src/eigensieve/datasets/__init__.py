"""Data sets: the papers' synthetic generators, and real data.

The room makes or fetches data for the demo, the examples, the experiments and the tests. No data file is part of the
package. Files of the user's own tables are read by :mod:`eigensieve.tables`.

Reading order
-------------
synthetic  generators whose relevant features are known
demo       the demo's data: real measurements hidden among shuffled copies
real       real sets in a folder that the environment variable ``EIGENSIEVE_DATA`` names
openml     public copies of standard sets, from OpenML

Words
-----
relevant  a feature that carries the structure of the samples (clusters or classes)
"""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.datasets.demo import load_demo
    from eigensieve.datasets.openml import fetch_real, list_openml
    from eigensieve.datasets.real import DATA_VARIABLE, list_real, load_real, real_data_folder
    from eigensieve.datasets.synthetic.cells import SingleCells, make_single_cells
    from eigensieve.datasets.synthetic.genes import make_gene_expression
    from eigensieve.datasets.synthetic.permuted import make_class_scaleup, make_hidden_signs
    from eigensieve.datasets.synthetic.planted import make_planted_clusters
    from eigensieve.datasets.synthetic.result import SyntheticData
    from eigensieve.datasets.synthetic.two_solutions import TwoSolutions, make_two_solutions
    from eigensieve.datasets.synthetic.weston import make_weston_linear, make_weston_nonlinear

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
