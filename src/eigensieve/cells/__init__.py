"""Single cells: genes chosen in place of highly variable ones, in scanpy's words.

Read in this order:

genes.py : `select_genes`, which reads an AnnData and writes the result into it.
choice.py : the choice itself: the structure of the cells, the scores of the genes, their merit.
"""

from eigensieve.cells.genes import select_genes
