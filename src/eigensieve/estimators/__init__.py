"""The selectors and classifiers: the only code that faces scikit-learn.

The package checks the input, calls the packages below, sets the learned attributes (names that end in ``_``), and
saves and loads fitted models. It holds no algorithm. One file per estimator; each begins by saying what it is. Read
``base`` first, then ``sieve_selector``, the shortest way from `fit` to the learned attributes, with ``target``,
``knowledge`` and ``constraints``, which read the arguments of `fit`. Bases come before what is built on them:
``qalpha_base``; ``kernel_machine``, ``small_machine``, ``element_machine``. Last ``persistence`` (models on disk;
``model_checks``, ``model_fields``) and ``outcome`` (what a fit found and used, for files, reports and pictures).

Words: a feature is *usable* when it varies. *Known* is what the user passes to `fit` besides X. *Stored* data are on
disk or on a cluster, not an array in memory.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
