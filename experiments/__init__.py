"""The experiments of the papers, run again beside the printed figures: ``python -m experiments [NAME] [--quick]``.

The folder owns the protocols and the papers' printed figures. Every experiment is one file that ends with
``EXPERIMENT``: what it runs, its tables, its figure, and the paper's claims. Raw results are kept in a file; tables and
verdicts are computed from that file.

Read the files in this order:

- ``frame``: what an experiment is, and how a verdict is computed
- ``running``: runs, and the file that keeps them
- ``page``: from results to the page with tables, figures and verdicts
- ``catalog``: the list of all experiments
- ``common``: what several experiments share
- ``positivity``, ``weston``, ``class_scaleup``, ``hidden_signs``, ``gene_model``, ``gene_outcomes``, ``image_patches``,
  ``laplacian``: wolf-shashua 2003 and 2005
- ``feature_map``, ``faces``, ``uci_side_data``: shashua-wolf 2004
- ``trace_ratio_2008``: nie-2008
- ``element_selection``: avidan
- ``radius_margin``, ``gene_shaving``, ``oriented``, ``sufficient``: methods that the papers compare with
- ``masked_svm``: the future work of element selection

Words: a *case* is a data set or a setting. A *run* is one draw or split of a case; its number is its seed. A *claim* is
a sentence of a paper. It is made of *checks*.
"""
