"""What a choice of features is worth: clusters, neighbours, and how well it tells the features left out."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors

METRICS = {"accuracy": "accuracy", "nmi": "NMI", "ari": "ARI", "nearest": "1-NN", "r2": "R2"}

_REBUILT = 2_000  # most features that are rebuilt
_RIDGE = 1.0  # times the number of training samples, on standardised features


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


def reconstruction(Z: np.ndarray, chosen: np.ndarray) -> float:
    """R2 of all standardised features, rebuilt from the chosen ones by ridge regression on held-out samples.

    Two halves of the samples take turns. Of many features 2,000 are rebuilt, always the same ones.
    """
    rng = np.random.default_rng(0)
    half = rng.permutation(len(Z)) < len(Z) // 2
    some = rng.permutation(Z.shape[1])[:_REBUILT]
    lost = total = 0.0
    for train in (half, ~half):
        A, B, goal = Z[train][:, chosen], Z[~train][:, chosen], Z[:, some]
        mean, means = A.mean(axis=0), goal[train].mean(axis=0)
        A, B = A - mean, B - mean
        # the smaller of the two forms of ridge regression
        if A.shape[1] <= len(A):
            coefficients = np.linalg.solve(A.T @ A + _RIDGE * len(A) * np.eye(A.shape[1]), A.T @ (goal[train] - means))
        else:
            coefficients = A.T @ np.linalg.solve(A @ A.T + _RIDGE * len(A) * np.eye(len(A)), goal[train] - means)
        lost += float(np.sum((goal[~train] - means - B @ coefficients) ** 2))
        total += float(np.sum((goal[~train] - means) ** 2))
    return 1.0 - lost / total


def score(Z: np.ndarray, chosen: np.ndarray, y: np.ndarray, seed: int, n_init: int) -> dict[str, float]:
    """Score the chosen ones of the standardised features Z; k-means gets the number of classes."""
    few = Z[:, chosen]
    labels = KMeans(int(y.max()) + 1, n_init=n_init, random_state=seed).fit_predict(few)
    return {
        "accuracy": clustering_accuracy(y, labels),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "ari": float(adjusted_rand_score(y, labels)),
        "nearest": nearest_accuracy(few, y),
        "r2": reconstruction(Z, chosen),
    }
