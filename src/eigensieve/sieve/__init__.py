"""The recommended selection: graph embedding, scores, greedy pick without near-copies."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.sieve.coordinates import sample_coordinates
    from eigensieve.sieve.origin import zero_is_meaningful
    from eigensieve.sieve.picking import pick
    from eigensieve.sieve.rounds import SieveResult, sieve, sieve_embedding

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
