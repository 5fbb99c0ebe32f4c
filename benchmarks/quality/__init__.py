"""How well unsupervised selectors choose: labelled data, labels for scoring only.

Run ``python -m benchmarks.quality --help`` from the repository's root.
"""
