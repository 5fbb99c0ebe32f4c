"""Matplotlib displays in scikit-learn's convention: ``SomethingDisplay.from_estimator(model)``.

A display holds the numbers it draws. ``from_estimator`` takes them from a fitted model and draws them; ``plot`` draws
them again, on other axes if wanted. Afterwards ``ax_`` and ``figure_`` are there to be changed.

Read in this order; each file is one kind of picture, and none needs another:

- ``axes``: the base of all displays
- ``weights``: the sorted weights of a selector and the cut
- ``stability``: how often features are selected on subsamples
- ``panels``: what panels show, beside the best and beside random ones
- ``path``: the trace ratio against the number of features
- ``feature_map``: the topographical map
- ``elements``: the mask, the error path and the rejection curves of element selection
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
