"""Data on disk, read piece by piece: the next pieces are read while these are used.

Read in this order:

- ``sources.py``: the interface of a kind of storage, the watch for changes, amounts of memory; HDF5, Zarr, Parquet.
- ``npy.py``: .npy files and memory maps.
- ``stream.py``: passes along the features; ``rows.py``: passes along the samples, for storage that favours them.

A source reads; a data matrix computes. A piece holds consecutive features with all samples (``stream.py``), or
consecutive samples with all features (``rows.py``). For the other words see ``data/__init__.py``.
"""
