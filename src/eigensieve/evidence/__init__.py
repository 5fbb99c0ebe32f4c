"""How sure are we: noise edges, discoveries, stability."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.evidence.clusters import MAX_CLUSTERS, count_clusters
    from eigensieve.evidence.curve import two_level_cut
    from eigensieve.evidence.discoveries import Discoveries, NullSample, discover, follow, restricted
    from eigensieve.evidence.noise_edges import count_spikes, permuted_excess, weighted_noise_edge
    from eigensieve.evidence.scores import agreement
    from eigensieve.evidence.stability import Stability, selection_stability

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
