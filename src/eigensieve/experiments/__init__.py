"""The experiments of the papers, run again. ``python -m eigensieve.experiments [FOLDER]`` runs all of them.

The room owns the protocols and the papers' printed figures. No other room uses it. Every experiment is one file with
the same parts: ``run`` returns the results as plain numbers, ``table`` turns them into text, and ``figure`` or ``draw``
makes the pictures, if there are any. Every file can also be run alone, with ``python -m``.

Read the files in this order:

- ``__main__``: runs all experiments and keeps what they print
- ``common``: real data without missing values, and the largest scores
- ``two_solutions``: two hidden sets of features on the feature map (2004)
- ``hidden_sign``: the kernel where signs hide the structure (2003, 2005)
- ``weston``: labels, on the linear problem of Weston et al. (2005)
- ``side_data_2004``: side data on UCI sets (2004)
- ``trace_ratio_2008``: feature level against subset level (nie-2008)
"""

__all__: list[str] = []
