"""The constants of the method. docs/measured/sieve.md shows the effect of each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Constants of the sieve.

    `neighbors`, `around`: neighbours of a sample in the graph, and neighbours whose mean distance is its unit of
    length. "Graph". `steps`, `columns`: steps of a random walk, and eigenvectors that its ends are computed from.
    "Walks". `wide`, `cap`: features per sample from which on a feature's variance is its first weight, and the quantile
    of the variances at which that weight is capped. "Scale". `spike`, `screened`: where the leading eigenvalue is below
    `spike` noise edges, rounds start from this many screened features. "Start". `landmarks`, `rare`: most samples that
    a graph is made of, and the share of them that is drawn for extreme values. "Landmarks". `mostly_zero`, `one_unit`:
    share of zeros from which on values count as counts, and the factor within which their units lie. "Profiles".
    `picks`, `shortlist`: most features picked one by one, and fewest features considered. Bounds on the time, without
    effect on quality. `narrow`, `folds`: up to `narrow` features, each is scored by the structure of the others alone.
    Of more features, `folds` parts are scored in turn for the automatic number. "Narrow data".
    """

    # times that features are weighted by their scores. "Rounds": one round is 0.01 NMI worse, three are level
    rounds: int = 2
    coordinates: int = 50  # principal coordinates of a layout. "Coordinates": 30, 50 and 100 are level
    neighbors: int = 5
    around: int = 10
    steps: int = 6
    columns: int = 40
    # power of the singular values of V among landmarks and for cells, so that small groups count. "Balance"
    balance: float = 0.3
    # weight of the complete graph that is mixed in, in mean degrees per sample. "Walks": 0.03 to 1 are level
    smoothing: float = 0.3
    wide: float = 10.0
    cap: float = 0.99
    spike: float = 1.5
    screened: int = 40
    landmarks: int = 2_000
    rare: float = 0.1
    mostly_zero: float = 0.5
    one_unit: float = 30.0
    noise: float = 0.01  # false discovery rate at which the pick puts features before those that may be noise. "Pick"
    picks: int = 500
    shortlist: int = 2_000
    narrow: int = 20
    folds: int = 5


SETTINGS = Settings()
