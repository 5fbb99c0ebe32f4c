"""The selectors and classifiers: the only code that faces scikit-learn.

The package checks the input, calls the packages below, sets the learned attributes (names that end in ``_``), and
saves and loads fitted models. It holds no algorithm. Read the files in this order:

``base``                what all share: input checks, warnings; the base of the selectors
``sieve_selector``      SieveSelector, the recommended selector: the shortest way from `fit` to the learned attributes
``constraints``         constraints on a selection, checked against the features of X
``panel_worth``         score_panel: the worth of a panel from any source
``knowledge``           what the user knows besides X; side data are read here
``target``              how y is read
``qalpha_base``         the base of the three Q-alpha selectors
``qalpha_selector``     QAlphaSelector, the papers' method
``kernel_qalpha``       KernelQAlphaSelector: Q-alpha on features that a kernel maps to another space
``feature_map``         FeatureMap: several rounds of Q-alpha
``variation``           UnwantedVariationRemover: data without unwanted directions
``weighted``            WeightedFeatures: features scaled by the weights of a selector
``trace_ratio``         TraceRatioSelector
``trace_ratio_scores``  the scores of single features, and the choice of kernels, as functions
``kernel_machine``      from a scikit-learn SVC or SVR to its kernel expansion
``small_machine``       base of the rewritten SVMs, and the threshold set on held-out samples
``element_machine``     base of the two with elements
``element_svc``         ElementSelectedSVC
``element_svr``         ElementSelectedSVR
``reduced_set``         ReducedSetSVC
``rejection_cascade``   RejectionCascade: a cheap classifier in front of a full one
``persistence``         models on disk; ``model_checks``, ``model_fields``: every part has its declared shape
``outcome``             what a fit found and used, for files, reports and pictures

Words: a feature is *usable* when it varies. *Known* is what the user passes to `fit` besides X. *Stored* data are on
disk or on a cluster, not an array in memory.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
