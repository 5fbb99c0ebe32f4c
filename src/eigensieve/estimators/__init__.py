"""The selectors and classifiers: the only code that faces scikit-learn.

The package checks the input, calls the packages below, sets the learned attributes (names that end in ``_``), and
saves and loads fitted models. It holds no algorithm. One file per estimator, whose first line says its purpose. Read
``base`` first, then ``sieve_selector``, the shortest way from `fit` to the learned attributes, with ``target``,
``knowledge`` and ``constraints``, which read the arguments of `fit`. Bases come before the estimators on them:
``qalpha_base``; ``kernel_machine``, ``small_machine``, ``element_machine``. Last ``persistence`` (models on disk;
``model_checks``, ``model_fields``) and ``outcome`` (findings and used knowledge, for files, reports and pictures).

Words: a feature is *usable* when it varies. *Known* are the arguments of `fit` besides X. *Stored* data are on
disk or on a cluster, not an array in memory.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
