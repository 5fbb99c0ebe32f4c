"""What a data matrix can do: products, column statistics, feature blocks, for every kind of storage."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.data._thin_numba import across, along
    from eigensieve.data.backends import as_data, is_stored
    from eigensieve.data.blocks import BackwardSum, Block
    from eigensieve.data.corrected import without_feature_directions, without_sample_directions
    from eigensieve.data.disk.opening import open_data
    from eigensieve.data.matrix import NORMALIZATIONS, DataMatrix, Sweep
    from eigensieve.data.raw_block import StoredColumns
    from eigensieve.data.stats import ColumnStats
    from eigensieve.data.threads import one_blas_thread, ordered_map, thread_count

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
