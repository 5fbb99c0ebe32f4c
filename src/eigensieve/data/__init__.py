"""The data matrix: products, column statistics and blocks of features, for every kind of storage.

The other packages work with a `DataMatrix` only and never ask where the data is. This folder holds arrays in memory;
``disk/`` reads files in pieces, ``dask/`` works where a cluster keeps the data.

Read ``matrix.py`` first (the contract and the passes, written once), then ``kinds.py`` (`as_data` chooses the backend),
``passes.py``, ``stats.py``, ``dense.py`` and ``sparse.py``. ``memory.py`` is about data in memory only. ``adjusted.py``
and ``counts.py`` stand on top of any backend. Compiled loops stand beside the file that calls them.

Words for a part of the data; no others are used:

- block: consecutive features that are handed to an algorithm at once. Small enough for the cache.
- segment: the blocks that one thread works through in turn. On Dask: the pieces that one task works through.
- piece: the part that is in memory at once, as a data matrix of its own. For arrays this is all of the data.
- chunk: the unit in which the storage, or Dask, keeps the data.

A feature array has one row per feature. A pass reads all of the data once. A sweep is a pass with two products:
forward from samples to features, and backward from features to samples.
"""

from eigensieve.data.adjusted import (
    SquaredData,
    corrected_data,
    squares_of,
    weighted_standard,
    weighted_stats,
    without_feature_directions,
    without_sample_directions,
)
from eigensieve.data.counts import kind_of_values, log_counts, logarithms
from eigensieve.data.dense import StoredColumns
from eigensieve.data.digest import Orders, fingerprint, row_digests, value_orders
from eigensieve.data.kinds import as_data, is_stored, open_data
from eigensieve.data.matrix import DataMatrix
from eigensieve.data.memory import first_of_equals, multiplied, rescaled_extremes, share_present, without_gaps
from eigensieve.data.passes import BackwardSum, Block, one_blas_thread, ordered_map, thread_count
from eigensieve.data.sparse import near_zero, without_repeats
from eigensieve.data.stats import ColumnStats
