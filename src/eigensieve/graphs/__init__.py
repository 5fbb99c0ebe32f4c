"""Graphs of the samples: nearest neighbours or given by the user, and their leading eigenvectors.

Read in this order:

nearest.py, _nearest_numba.py : the search for nearest neighbours.
knn.py : the nearest-neighbour graph, with heat or binary weights, and one by distances relative to the surroundings.
checks.py : a graph that the user gives, checked once.
spectrum.py : degrees and leading eigenvectors of a graph.
"""

from eigensieve.graphs.checks import check_graph
from eigensieve.graphs.knn import knn_graph, local_graph, nearest_donors
from eigensieve.graphs.nearest import nearest_among
from eigensieve.graphs.spectrum import degrees, leading_eigenvectors
