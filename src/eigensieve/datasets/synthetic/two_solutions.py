"""Data with two equally valid clusterings: the topographical map's example (2004 paper, section 4)."""

from typing import NamedTuple

import numpy as np

from eigensieve.datasets.synthetic.result import RandomState

N_SAMPLES, N_CLUSTERS, N_IRRELEVANT = 150, 3, 11


class TwoSolutions(NamedTuple):
    """Samples, both labellings, and which feature serves which.

    Attributes
    ----------
    X : ndarray of shape (150, 20)
        Samples in rows.
    y : ndarray of shape (150, 2)
        One column of cluster labels for each solution.
    relevant : ndarray of bool of shape (20,)
        Features relevant to at least one solution.
    solutions : ndarray of bool of shape (20, 2)
        Which feature serves which solution; the hybrids serve both.
    feature_names : list of str
        "1", "2", "3", "A", "B", "C", "1A", "2B", "3C", then "n1" to "n11".
    """

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray
    solutions: np.ndarray
    feature_names: list[str]


def make_two_solutions(
    *, noise_scale: float = 0.25, second_scale: float = 0.8, random_state: RandomState = None
) -> TwoSolutions:
    """Draw 150 samples of 20 features with two independent solutions of three clusters each.

    Features "1", "2", "3" carry the first solution and "A", "B", "C" the second; the hybrids "1A", "2B",
    "3C" are their sums; the 11 others are random permutations of feature "1" (2004 paper, section 4 and
    Fig. 2).

    Parameters
    ----------
    noise_scale : float
        Standard deviation of the noise, against a distance of sqrt(2) between the first solution's centres.
    second_scale : float
        Strength of features "A", "B", "C" relative to "1", "2", "3", before they are summed.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : TwoSolutions

    Notes
    -----
    The paper does not print where the clusters are. Here both solutions have clusters of 50 samples, independent of
    each other. Cluster j of a solution is centred on the j-th unit vector of its three features; any other choice of
    three centres gives the three features unequal parts. At `second_scale` 1 the solutions are exchangeable, and the
    strongest direction of the data is the one they share, that of the hybrids. The default makes the first solution the
    stronger.
    """
    rng = np.random.default_rng(random_state)
    blocks = np.repeat(np.arange(N_CLUSTERS), N_SAMPLES // N_CLUSTERS)
    y = np.column_stack([blocks, rng.permutation(blocks)])
    centers = np.eye(N_CLUSTERS)
    shape = (N_SAMPLES, N_CLUSTERS)
    first = centers[y[:, 0]] + rng.normal(scale=noise_scale, size=shape)
    second = second_scale * (centers[y[:, 1]] + rng.normal(scale=noise_scale, size=shape))
    irrelevant = rng.permuted(np.repeat(first[:, :1], N_IRRELEVANT, axis=1), axis=0)
    roles = np.array([[True, False], [False, True], [True, True], [False, False]])
    serves = np.repeat(roles, [3, 3, 3, N_IRRELEVANT], axis=0)
    names = ["1", "2", "3", "A", "B", "C", "1A", "2B", "3C", *(f"n{i}" for i in range(1, N_IRRELEVANT + 1))]
    return TwoSolutions(
        X=np.column_stack([first, second, first + second, irrelevant]),
        y=y,
        relevant=serves[:, 0] | serves[:, 1],
        solutions=serves,
        feature_names=names,
    )
