"""The recommended selection: find the structure of the samples, score the features by it, pick features that show it.

``problem`` runs one selection, stage by stage; read it first, then ``settings``, ``target``, ``unwanted``, ``nodes``,
``samples``, ``layouts``, ``structure``, ``rounds``, ``labelled``, ``interactions``, ``pick`` and ``panel``.

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
