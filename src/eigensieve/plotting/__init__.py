"""Matplotlib displays in scikit-learn's convention: ``SomethingDisplay.from_estimator(model)``.

A display holds the numbers it draws. ``from_estimator`` takes them from a fitted model and draws them; ``plot`` draws
them again, on other axes if wanted. Afterwards ``ax_`` and ``figure_`` are there to be changed.

Read ``axes`` first, the base of all displays. Each other file is one kind of picture, and none needs another.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
