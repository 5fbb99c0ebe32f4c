"""Data on disk, read piece by piece: the next pieces are read while these are used.

Read in this order: ``sources.py``, ``npy.py``, ``stream.py``, ``rows.py``.
A source reads; a data matrix computes. A piece holds consecutive features with all samples (``stream.py``), or
consecutive samples with all features (``rows.py``). For the other words see ``data/__init__.py``.
"""
