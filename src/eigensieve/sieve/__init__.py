"""The recommended selection: embed the samples by their neighbours, score the features by it, pick what shows it.

Read in this order:

search.py : one selection from data to features.
rounds.py : weights -> embedding -> scores -> weights, from two starts. The sieve's score is here.
start.py : whether features are centred, and the weights that the second start begins with.
scale.py : whether the features' scale is evidence, and the prior on their weights that follows from it.
profiles.py : counts and texts: one graph of the samples' profiles in place of the rounds.
embedding.py : one round's embedding: coordinates of the samples, their neighbour graph, its eigenvectors.
target.py : what y says about the samples, as one orthonormal basis.
labelled.py : scores with a target instead of the rounds; guesses where few labels are known.
interactions.py : scores by products of features, where classes show in features only together.
unwanted.py : batches, side data and linked pairs, taken off the data before anything else.
cells.py : the embedding of many cells with thousands of genes, for single-cell data.
landmarks.py : the samples that the graph is made of when there are many, and the way from them to all.
walks.py : which samples belong together, by random walks along a graph: what the pick is to show.
showing.py : the pick without labels, of features that together show the structure.
picking.py : the pick with labels, by score, near-copies late.
panel.py : how few of the picks would do.

Words
-----
score : u_i, the agreement of feature i with the embedding over pairs of different samples; about 0 for noise.
layout : the samples as points, from which a neighbour graph is made.
landmark : one of 2,000 samples that the graph is made of when there are more.
profile : what a sample holds relative to the rest of it, rare features more than frequent ones.
alignment : how similar the affinity of some features is to the structure, as the cosine of two matrices.
cloud : normal points without clusters that a layout is compared with.
"""

from eigensieve.sieve.cells import cell_embedding, relative_effect
from eigensieve.sieve.embedding import sample_coordinates
from eigensieve.sieve.labelled import shared_with_batches
from eigensieve.sieve.profiles import UseProfiles
from eigensieve.sieve.rounds import SieveResult
from eigensieve.sieve.scale import UseScale
from eigensieve.sieve.search import Search, prepare
from eigensieve.sieve.target import Kind, Target, read_target
from eigensieve.sieve.unwanted import Unwanted, clean, unwanted_directions
