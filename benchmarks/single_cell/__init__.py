"""How well genes of single cells are chosen, and at which cost: labelled and simulated sets, labels for scoring only.

Run ``python -m benchmarks.single_cell --help`` from the repository's root for the choice,
``python -m benchmarks.single_cell.integration --help`` for the scores of integration, and
``python benchmarks/single_cell/size.py --help`` for time and memory. Both need scanpy, leidenalg and igraph.
"""
