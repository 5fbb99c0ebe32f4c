"""Graphs of the samples: nearest neighbours or given by the user, and their leading eigenvectors.

Read nearest.py, checks.py and spectrum.py in this order.
"""

from eigensieve.graphs.checks import check_graph
from eigensieve.graphs.nearest import knn_graph, local_graph, nearest_among, nearest_donors
from eigensieve.graphs.spectrum import degrees, leading_eigenvectors
