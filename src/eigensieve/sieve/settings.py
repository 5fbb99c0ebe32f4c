"""The constants of the method. docs/measured/sieve.md shows the effect of each; quoted names are its sections."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Constants of the sieve."""

    # times that features are weighted by their scores. "Rounds": one round is 0.01 NMI worse, three are level
    rounds: int = 2
    coordinates: int = 50  # principal coordinates of a layout. "Coordinates": 30, 50 and 100 are level
    neighbors: int = 5  # of a sample in the graph. "Graph"
    around: int = 10  # neighbours whose mean distance is a sample's unit of length. "Graph"
    steps: int = 6  # of a random walk. "Walks"
    columns: int = 40  # eigenvectors that the ends of walks are computed from. "Walks"
    # power of the singular values of V among landmarks and for cells, so that small groups count. "Balance"
    balance: float = 0.3
    # weight of the complete graph that is mixed in, in mean degrees per sample. "Walks": 0.03 to 1 are level
    smoothing: float = 0.3
    wide: float = 10.0  # features per sample from which on a feature's variance is its first weight. "Scale"
    cap: float = 0.99  # quantile of the variances at which that weight is capped. "Scale"
    spike: float = 1.5  # leading eigenvalue, in noise edges, below which rounds start from screened features. "Start"
    screened: int = 40  # so many of them. "Start"
    landmarks: int = 2_000  # most samples that a graph is made of. "Landmarks"
    rare: float = 0.1  # share of the landmarks that is drawn for extreme values. "Landmarks"
    mostly_zero: float = 0.5  # share of zeros from which on values count as counts. "Profiles"
    one_unit: float = 30.0  # factor within which the units of counts lie. "Profiles"
    noise: float = 0.01  # false discovery rate at which the pick puts features before those that may be noise. "Pick"
    picks: int = 500  # most features picked one by one: bounds the time, without effect on quality
    shortlist: int = 2_000  # fewest features considered: bounds the time, too
    narrow: int = 20  # up to so many features, each is scored by the structure of the others alone. "Narrow data"
    folds: int = 5  # parts of more features, scored in turn for the automatic number. "Narrow data"


SETTINGS = Settings()
