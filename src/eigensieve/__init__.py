"""eigensieve: find the few features that matter in wide data, with or without labels.

``__init__.pyi`` lists the public names. Each is imported when it is first used (SPEC 1, ``lazy_loader``). The code
lives in packages. The ``__init__`` of a package says what it owns and lists the names that other packages may use.
A package imports only from the packages below it:

``cli``, ``report``, ``plotting``                          interfaces for people
``cells``                                                  single cells
``estimators``                                             scikit-learn estimators
``sieve``, ``qalpha``, ``traceratio``, ``elements``        the methods
``evidence``, ``graphs``, ``operators``                    shared by the methods
``data``, ``tables``, ``datasets``                         matrices, files, examples

``theory`` holds the theorems of the papers, as functions.

All packages may use the files beside this one, such as ``_types`` and ``_files``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
