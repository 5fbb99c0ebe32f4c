"""The recommended selection: find the structure of the samples, score the features by it, pick features that show it.

Read in this order:

problem.py : one selection, stage by stage.
settings.py : the constants of the method.
target.py : the target as one orthonormal basis.
unwanted.py : batches, side data and linked pairs, removed from the data before anything else.
nodes.py : the samples that differ, with weights.
samples.py : the samples that are compared: all, or landmarks.
layouts.py : the samples as points, by weighted features or by profiles of counts.
structure.py : V, which samples belong together: random walks along one local graph.
rounds.py : weights -> layout -> structure -> scores -> weights.
labelled.py : a target as the structure, with guesses where few labels are known.
interactions.py : scores by products of features, where classes show in features only together.
pick.py : the greedy pick with its two gains, within the user's constraints.
panel.py : how few of the picks would do.

Words
-----
structure : V (samples x columns); V V' says how far two samples belong together. A target is a structure, too.
score : u_i = m_i'(VV' - diag(VV'))m_i, the agreement of feature i with V over pairs of different samples.
layout : the samples as points, from which the graph is made.
landmark : one of 2,000 samples that are compared when there are more.
profile : the logarithms of a sample's counts at length 1, rare features counting more.
alignment : the cosine between the affinity of some features and V V'.
"""

from eigensieve.sieve.layouts import Use
from eigensieve.sieve.nodes import Nodes, distinct_samples
from eigensieve.sieve.panel import shown_by
from eigensieve.sieve.pick import Constraints, Panel
from eigensieve.sieve.problem import Found, Problem, pose
from eigensieve.sieve.rounds import Rounds
from eigensieve.sieve.samples import Samples, compared_samples
from eigensieve.sieve.target import Target
from eigensieve.sieve.unwanted import Unwanted, clean, unwanted_directions
