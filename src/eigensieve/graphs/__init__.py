"""Graphs of the samples: nearest neighbours or given by the user, and their leading eigenvectors.

Read in this order:

nearest.py, _nearest_numba.py : nearest neighbours: their graph, with heat or binary weights, or by distances relative
to the surroundings; and the search for them.
checks.py : a graph that the user gives, checked once.
spectrum.py : degrees and leading eigenvectors of a graph.
"""

from eigensieve.graphs.checks import check_graph
from eigensieve.graphs.nearest import knn_graph, local_graph, nearest_among, nearest_donors
from eigensieve.graphs.spectrum import degrees, leading_eigenvectors
