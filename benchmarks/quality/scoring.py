"""What a choice of features is worth: k-means and 1-nearest-neighbour on the standardised chosen features."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors

METRICS = ("accuracy", "nmi", "ari", "nearest")


def clustering_accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    """Fraction of samples in agreement under the best one-to-one matching of clusters and classes."""
    table = np.zeros((y.max() + 1, labels.max() + 1))
    np.add.at(table, (y, labels), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(y))


def nearest_accuracy(Z: np.ndarray, y: np.ndarray) -> float:
    """Leave-one-out accuracy of the nearest neighbour."""
    neighbours = NearestNeighbors(n_neighbors=1).fit(Z).kneighbors(return_distance=False)
    return float(np.mean(y[neighbours[:, 0]] == y))


def score(Z: np.ndarray, y: np.ndarray, seed: int, n_init: int) -> dict[str, float]:
    """Score the standardised chosen features Z; k-means gets the number of classes."""
    labels = KMeans(int(y.max()) + 1, n_init=n_init, random_state=seed).fit_predict(Z)
    return {
        "accuracy": clustering_accuracy(y, labels),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "ari": float(adjusted_rand_score(y, labels)),
        "nearest": nearest_accuracy(Z, y),
    }
