"""Labelled selectors that decide how many features to take, on real data with planted labels.

Run ``python -m benchmarks.quality.planted --help`` from the repository's root.
"""
