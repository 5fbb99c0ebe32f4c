"""Knowledge besides the data: labels, pairs of samples, side data.

Read in this order:

labels.py : classes of all or some samples, and the embedding that they span.
checks.py : pairs as the user gives them, and all combinations of settings that are refused.
pairs.py, _pairs_numba.py : pairs of samples as a penalty of the criterion.
anchored.py : the solver for a few labels.
steered.py : all knowledge put into one problem, and side data as a scale per feature.

Other packages import these names from `qalpha`.
"""
