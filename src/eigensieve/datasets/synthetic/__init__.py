"""Synthetic data whose relevant features are known: the papers' generators and planted clusters.

A generator returns a named tuple that unpacks as ``X, y, relevant``; ``make_two_solutions`` and ``make_single_cells``
have two fields more. The relevant features come first, as in the papers, except in ``make_planted_clusters`` and
``make_single_cells``.

Reading order
-------------
result         `SyntheticData`, and the shared checks
planted        clusters in a few features among pure noise, at any size
weston         two classes: a linear and a non-linear problem
permuted       clusters beside permuted features; clusters behind hidden signs
genes          a model of gene expression
cells          counts of single cells: types, batches, rare types, trajectories
two_solutions  two valid clusterings of the same samples
"""
