"""The papers' generators: two classes, gene expression, permuted features, hidden signs, two solutions."""

from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from eigensieve._errors import check_range, wrong_parameter
from eigensieve.datasets.synthetic import RandomState, SyntheticData

N_SAMPLES, N_CLUSTERS, N_IRRELEVANT = 150, 3, 11
_NOISE = 20.0
"""The papers write N(0, 20): read as a deviation, it makes no difference to methods that standardise the features."""


def make_weston_linear(
    n_samples: int = 100, n_features: int = 202, *, random_state: RandomState = None
) -> SyntheticData:
    """The linear two-class problem of Weston et al. (2001): 6 relevant features of 202.

    The label `y` is -1 or 1 with equal probability. With probability 0.7

    ``x_i = y N(i, 1)`` for i = 1, 2, 3 and ``x_j = N(0, 1)`` for j = 4, 5, 6,

    otherwise ``x_i = N(0, 1)`` for i = 1, 2, 3 and ``x_j = y N(j - 3, 1)`` for j = 4, 5, 6. All other
    features are ``N(0, 20)`` (2003 and 2005 papers, section 6).

    Parameters
    ----------
    n_samples, n_features : int
        Size of the data; at least 6 features.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData
        Labels -1 and 1; features 0 to 5 are relevant.
    """
    check_range("make_weston_linear", n_samples=(n_samples, 1), n_features=(n_features, 6))
    rng = np.random.default_rng(random_state)
    y = rng.choice([-1, 1], size=n_samples)
    first = rng.random(n_samples) < 0.7
    means = np.zeros((n_samples, 6))
    means[first, :3] = [1.0, 2.0, 3.0]
    means[~first, 3:] = [1.0, 2.0, 3.0]
    return _among_noise(rng, y, y[:, None] * means, n_features)


def make_weston_nonlinear(
    n_samples: int = 100, n_features: int = 52, *, random_state: RandomState = None
) -> SyntheticData:
    """The non-linear two-class problem of Weston et al. (2001): 2 relevant features of 52.

    Each class is a mixture, with equal weights, of two unit normals in the first two features: centres
    (-3/4, -3) and (3/4, 3) for y = -1, centres (3, -3) and (-3, 3) for y = 1. Neither feature separates the
    classes alone and no line separates them together. All other features are ``N(0, 20)``. The 2003 and
    2005 papers (section 6) refer to Weston et al., "Feature selection for SVMs", NIPS 2000, section 5, for
    this definition.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the data; at least 2 features.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData
        Labels -1 and 1; features 0 and 1 are relevant.
    """
    check_range("make_weston_nonlinear", n_samples=(n_samples, 1), n_features=(n_features, 2))
    rng = np.random.default_rng(random_state)
    y = rng.choice([-1, 1], size=n_samples)
    side = rng.choice([-1, 1], size=n_samples)
    center = np.where(y[:, None] == -1, [0.75, 3.0], [-3.0, 3.0])
    return _among_noise(rng, y, side[:, None] * center, n_features)


def _among_noise(rng: np.random.Generator, y: np.ndarray, means: np.ndarray, n_features: int) -> SyntheticData:
    """Draw unit normals about `means` in the first features, and noise in all others."""
    n_relevant = means.shape[1]
    X = rng.normal(scale=_NOISE, size=(len(y), n_features))
    X[:, :n_relevant] = means + rng.normal(size=means.shape)
    return SyntheticData(X, y, np.arange(n_features) < n_relevant)


def make_gene_expression(
    n_features: int = 600,
    *,
    n_class_a: int = 25,
    n_class_b: int = 47,
    irrelevant_fraction: float = 0.72,
    mean_range: float = 555.0,
    spread: float = 0.75,
    random_state: RandomState = None,
) -> SyntheticData:
    """The gene expression model of Ben-Dor, Friedman and Yakhini (2001), fitted to the leukemia data.

    An irrelevant feature is ``N(0, s)`` for all samples. A relevant one is ``N(mu_A, |mu_A| s)`` for class
    A and ``N(mu_B, |mu_B| s)`` for class B, with mu_A and mu_B uniform in [-1.5 d, 1.5 d], drawn for each
    feature (2003 and 2005 papers, section 6, "Genomics"). The second argument of N is a standard deviation.

    Parameters
    ----------
    n_features : int
        The model's m.
    n_class_a, n_class_b : int
        Samples in each class, a and b.
    irrelevant_fraction : float
        e; the number of irrelevant features is ``round(e m)``.
    mean_range, spread : float
        d and s.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData
        Label 0 for class A (first), 1 for class B.

    Notes
    -----
    The scales differ by orders of magnitude between relevant and irrelevant features, and a relevant
    feature has a non-zero mean. Q-alpha finds the relevant features when features are scaled to unit length without
    centring (``normalize="unit"``).
    """
    check_range(
        "make_gene_expression",
        n_features=(n_features, 1),
        n_class_a=(n_class_a, 0),
        n_class_b=(n_class_b, 0),
        irrelevant_fraction=(irrelevant_fraction, 0, 1),
    )
    rng = np.random.default_rng(random_state)
    n_relevant = n_features - round(irrelevant_fraction * n_features)
    y = np.repeat([0, 1], [n_class_a, n_class_b])
    means = rng.uniform(-1.5 * mean_range, 1.5 * mean_range, size=(2, n_relevant))
    X = rng.normal(scale=spread, size=(y.size, n_features))
    X[:, :n_relevant] = means[y] + np.abs(means[y]) * X[:, :n_relevant]
    return SyntheticData(X, y, np.arange(n_features) < n_relevant)


def make_class_scaleup(
    n_classes: int = 3, *, design: Literal["2003", "2005"] = "2005", random_state: RandomState = None
) -> SyntheticData:
    """Clusters in a few features beside features whose clusters do not agree, for any number of classes.

    Irrelevant features are made exactly like the relevant ones. Then each of them is permuted over the samples on its
    own. No single feature tells whether it is relevant; only its agreement with others does.

    Parameters
    ----------
    n_classes : int
        How many classes.
    design : {"2003", "2005"}
        "2003" (section 6 and Fig. 2b there): 3 relevant and 70 irrelevant features, 20 samples per class,
        centres uniform in [-3, 3], unit variance. "2005" (section 6 and Fig. 3b there): 5 relevant and 120
        irrelevant features, ``ceil(60 / n_classes)`` samples per class, centres uniform in [-1, 1], the
        variance of each feature in each class uniform in [0, 0.02].
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData
        Samples of a class are consecutive.
    """
    if design not in ("2003", "2005"):
        raise wrong_parameter("design", "make_class_scaleup", "be '2003' or '2005'", repr(design))
    check_range("make_class_scaleup", n_classes=(n_classes, 1))
    rng = np.random.default_rng(random_state)
    if design == "2003":
        n_relevant, n_irrelevant, per_class, edge, variances = 3, 70, 20, 3.0, (1.0, 1.0)
    else:
        n_relevant, n_irrelevant, per_class, edge, variances = 5, 120, ceil(60 / n_classes), 1.0, (0.0, 0.02)
    n_features = n_relevant + n_irrelevant
    y = np.repeat(np.arange(n_classes), per_class)
    centers = rng.uniform(-edge, edge, size=(n_classes, n_features))
    X = _clusters(rng, y, centers, variances, n_relevant)
    return SyntheticData(X, y, np.arange(n_features) < n_relevant)


def make_hidden_signs(
    spread: float = 0.02,
    *,
    n_samples: int = 120,
    n_features: int = 60,
    n_relevant: int = 12,
    n_clusters: int = 3,
    section: int = 8,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> SyntheticData:
    """Clusters hidden by a sign that flips from section to section of the samples, feature by feature.

    The data for kernel Q-alpha (2003 paper, section 6.1; 2005 paper, "Kernel Q-alpha experiments"). Cluster means are
    uniform in the unit hypercube. The variance of each feature in each cluster is uniform in [spread, 2 spread].
    Irrelevant features are made in the same way; then each is permuted over the samples on its own. At last every
    feature is centred and multiplied by a hidden sign, which is drawn anew every `section` samples. Any two features
    are then uncorrelated in expectation, and only higher-order products within sections tell which are relevant.

    Parameters
    ----------
    spread : float
        The papers' lambda.
    n_samples, n_features, n_relevant, n_clusters : int
        The papers' values by default: 120 samples, 12 relevant of 60 features, three clusters of 40.
    section : int
        Samples between two draws of the sign. The last section may be shorter.
    shuffle : bool
        Whether the samples come in random order. Otherwise those of a cluster are consecutive, as
        measurements taken in sessions are.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Notes
    -----
    The papers do not say when the data is centred. Here it is centred before the signs are applied: the products then
    vanish in expectation, as the papers state. Centring afterwards would leave an effect of the signs' own mean.
    """
    check_range(
        "make_hidden_signs",
        n_clusters=(n_clusters, 1),
        n_samples=(n_samples, n_clusters),
        n_relevant=(n_relevant, 0),
        n_features=(n_features, n_relevant),
        section=(section, 1),
    )
    rng = np.random.default_rng(random_state)
    y = np.arange(n_samples) * n_clusters // n_samples
    if shuffle:
        y = rng.permutation(y)
    centers = rng.uniform(0.0, 1.0, size=(n_clusters, n_features))
    X = _clusters(rng, y, centers, (spread, 2.0 * spread), n_relevant)
    X -= X.mean(axis=0)
    signs = rng.choice([-1.0, 1.0], size=(ceil(n_samples / section), n_features))
    X *= np.repeat(signs, section, axis=0)[:n_samples]
    return SyntheticData(X, y, np.arange(n_features) < n_relevant)


def _clusters(
    rng: np.random.Generator, y: np.ndarray, centers: np.ndarray, variances: tuple[float, float], n_relevant: int
) -> np.ndarray:
    """Draw one sample per label from axis-parallel normals, then permute each irrelevant feature over the samples.

    The variance of each feature in each cluster is uniform in `variances`, (lowest, highest).
    """
    deviations = np.sqrt(rng.uniform(*variances, size=centers.shape))
    X = centers[y] + deviations[y] * rng.normal(size=(y.size, centers.shape[1]))
    X[:, n_relevant:] = rng.permuted(X[:, n_relevant:], axis=0)
    return X


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
