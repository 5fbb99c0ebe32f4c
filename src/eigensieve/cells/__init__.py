"""Single cells: genes chosen in place of highly variable ones, in scanpy's words.

Read genes.py first, which reads an AnnData and writes the result into it, then choice.py, the choice itself.
"""

from eigensieve.cells.genes import select_genes
