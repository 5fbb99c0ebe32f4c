"""Knowledge besides the data: labels, pairs of samples, side data.

Read in this order: labels.py, checks.py, pairs.py, anchored.py (the solver for a few labels), steered.py (all knowledge
put into one problem). Other packages import these names from `qalpha`.
"""
