"""Columns that stand for the others."""

import heapq

import numpy as np
from scipy.linalg import svd
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

_GONE = 1e-9  # a column whose energy falls to this share of its first one is rebuilt by the chosen columns
_KEPT = 0.9  # share of the variance that principal features keep


def greedy_columns(X, n_clusters, count, seed, y):
    """Greedy column subset selection (Farahat, Ghodsi and Kamel 2011).

    Each step takes the column that rebuilds most of what the chosen ones leave of X, by their recursion for the gains.
    Once the chosen columns rebuild all, it begins anew on those left.
    """
    A = X - X.mean(axis=0)
    order: list[int] = []
    left = np.arange(A.shape[1])
    while len(order) < min(count, X.shape[1]):
        chosen = _greedy_round(A[:, left], min(count, X.shape[1]) - len(order))
        order += left[chosen].tolist()
        left = np.delete(left, chosen)
    return np.array(order)


def _greedy_round(A: np.ndarray, count: int) -> list[int]:
    energy = np.einsum("ti,ti->i", A, A)
    first = energy.copy()
    gain = np.einsum("ti,ti->i", A, (A @ A.T) @ A)
    directions = np.empty((0, A.shape[1]))
    order: list[int] = []
    for _ in range(count):
        open_ = energy > _GONE * max(1e-300, first.max())
        open_[order] = False
        if not open_.any():
            # Columns of zeros alone: any order.
            return order or list(range(count))
        best = int(np.argmax(np.where(open_, gain / np.where(open_, energy, 1.0), -np.inf)))
        order.append(best)
        w = A.T @ A[:, best] - directions.T @ directions[:, best]
        w /= np.sqrt(energy[best])
        left = A.T @ (A @ w) - directions.T @ (directions @ w)
        gain += -2.0 * w * left + (w @ w) * w**2
        energy -= w**2
        directions = np.vstack([directions, w])
    return order


def leverage(X, n_clusters, count, seed, y):
    """CUR's leverage scores (Mahoney and Drineas 2009) in the k leading right singular vectors, largest first."""
    vectors = svd(X - X.mean(axis=0), full_matrices=False)[2][:n_clusters]
    return np.argsort(-np.sum(vectors**2, axis=0), kind="stable")


def principal_features(X, n_clusters, count, seed, y):
    """PFA (Lu, Cohen, Zhou and Tian 2007): k-means of the features' loadings, the feature nearest to each centre.

    As many components are kept as hold 90 % of the variance. Centres that share their nearest feature take the next.
    """
    pca = PCA(svd_solver="full").fit(X)
    kept = 1 + int(np.searchsorted(np.cumsum(pca.explained_variance_ratio_), _KEPT))
    loadings = pca.components_[:kept].T
    means = KMeans(min(count, len(loadings)), n_init=1, random_state=seed).fit(loadings)
    gap = np.linalg.norm(loadings - means.cluster_centers_[means.labels_], axis=1)
    nearest = np.argsort(gap, kind="stable")
    first = nearest[np.sort(np.unique(means.labels_[nearest], return_index=True)[1])]
    return np.concatenate([first, np.setdiff1d(nearest, first, assume_unique=True)])[:count]


def facility_location(X, n_clusters, count, seed, y):
    """Facility location over features: greedy choice of S for the largest sum over i of max over j in S of |<i, j>|.

    On standardised data the products are correlations, on raw data covariances. Gains are evaluated lazily.
    """
    A = (X - X.mean(axis=0)).astype(np.float32)
    covered = np.zeros(A.shape[1], dtype=np.float32)
    step = max(1, 20_000_000 // A.shape[1])
    sums = [np.abs(A[:, j : j + step].T @ A).sum(axis=1) for j in range(0, A.shape[1], step)]
    queue = [(-float(gain), j) for j, gain in enumerate(np.concatenate(sums))]
    heapq.heapify(queue)
    order: list[int] = []
    while queue and len(order) < count:
        j = heapq.heappop(queue)[1]
        likeness = np.abs(A[:, j] @ A)
        gain = float(np.maximum(likeness - covered, 0.0).sum())
        if queue and gain < -queue[0][0]:
            heapq.heappush(queue, (-gain, j))
            continue
        order.append(j)
        covered = np.maximum(covered, likeness)
    return np.array(order)


def farthest_points(X, n_clusters, count, seed, y):
    """Farthest points among the columns: the longest one, then always the one farthest from all chosen ones."""
    A = X - X.mean(axis=0)
    length = np.einsum("ti,ti->i", A, A)
    order = [int(np.argmax(length))]
    gap = np.full(A.shape[1], np.inf)
    while len(order) < min(count, A.shape[1]):
        j = order[-1]
        gap = np.minimum(gap, length + length[j] - 2.0 * (A[:, j] @ A))
        gap[order] = -np.inf
        order.append(int(np.argmax(gap)))
    return np.array(order)
