"""Data sets: the papers' synthetic generators, and real data.

This package makes or fetches data for the demo, the examples, the experiments and the tests. No data file is part of
the package. Files of the user's own tables are read by :mod:`eigensieve.tables`.

Reading order
-------------
synthetic  data whose relevant features are known: planted clusters, single cells, the demo's shuffled copies
papers     the papers' generators
real       real sets in a folder that the environment variable ``EIGENSIEVE_DATA`` names, and public copies from OpenML

Words
-----
relevant  a feature that carries the structure of the samples (clusters or classes)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
