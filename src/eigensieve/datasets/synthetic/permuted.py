"""Clusters beside features permuted over the samples: no feature looks irrelevant on its own."""

from math import ceil
from typing import Literal

import numpy as np

from eigensieve._errors import wrong_parameter
from eigensieve.datasets.synthetic.result import RandomState, SyntheticData, check_range


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

    Returns
    -------
    data : SyntheticData

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
