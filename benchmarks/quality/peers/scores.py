"""Selectors with one score per feature. The graph is the papers' heat-weighted graph of 5 neighbours."""

import warnings

import numpy as np
from scipy.linalg import eigh
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from eigensieve.graphs import knn_graph


def laplacian(X, n_clusters, count, seed, y):
    """Laplacian score (He, Cai and Niyogi 2005): f'Lf / f'Df for f centred by the degrees, smaller is better."""
    W = knn_graph(X, 5)
    d = np.asarray(W.sum(axis=1)).ravel()
    F = X - (d @ X) / d.sum()
    energy = d @ F**2
    rough = energy - np.einsum("ti,ti->i", F, W @ F)
    vary = energy > 1e-12 * energy.max()
    return np.argsort(np.where(vary, rough / np.where(vary, energy, 1.0), np.inf), kind="stable")


def spec(X, n_clusters, count, seed, y):
    """SPEC's third function (Zhao and Liu 2007): agreement with the k - 1 smoothest eigenvectors, larger is better."""
    W = knn_graph(X, 5).toarray()
    root = np.sqrt(W.sum(axis=1))
    values, vectors = eigh(W / np.outer(root, root), subset_by_index=(max(0, len(W) - max(2, n_clusters)), len(W) - 1))
    F = X * root[:, None]
    F = F / np.maximum(np.linalg.norm(F, axis=0), 1e-300)
    # The last eigenvector is the trivial one. An eigenvalue of the graph is 1 minus one of its Laplacian.
    shares = (vectors[:, :-1].T @ F) ** 2
    return np.argsort(-(1.0 + values[:-1]) @ shares, kind="stable")


def mcfs(X, n_clusters, count, seed, y):
    """MCFS (Cai, Zhang and He 2010): least angle regression of k graph eigenvectors, largest absolute coefficient.

    As many features enter for every eigenvector as are wanted in all. So the order depends on the number wanted, and
    this returns a function of it. One path of regressions serves all numbers up to `count`.
    """
    W = knn_graph(X, 5).toarray()
    k = min(n_clusters, len(X) - 2)
    E = eigh(W, np.diag(W.sum(axis=1)), subset_by_index=(len(W) - k - 1, len(W) - 2))[1]
    Z = X - X.mean(axis=0)
    with warnings.catch_warnings():  # near-copies are dropped from the path, and it says so each time
        warnings.simplefilter("ignore", ConvergenceWarning)
        paths = [lars_path(Z, column - column.mean(), method="lar", max_iter=count)[2] for column in E.T]

    def order(wanted):
        steps = [path[:, min(wanted, path.shape[1] - 1)] for path in paths]
        return np.argsort(-np.abs(steps).max(axis=0), kind="stable")[:wanted]

    return order


def fastcan(X, n_clusters, count, seed, y):
    """Fastcan's unsupervised use: canonical correlation with the leading principal components.

    It gives up where no further feature adds anything. Then half as many are asked for.
    """
    from fastcan import FastCan

    components = PCA(min(n_clusters, *X.shape), svd_solver="full").fit_transform(X)
    while True:
        try:
            return FastCan(count, verbose=0).fit(X, components).indices_
        except RuntimeError:
            count //= 2
            if not count:
                raise


def variance(X, n_clusters, count, seed, y):
    return np.argsort(-X.astype(np.float64).var(axis=0), kind="stable")


def all_features(X, n_clusters, count, seed, y):
    return np.arange(X.shape[1])


def random_choice(X, n_clusters, count, seed, y):
    return np.random.default_rng(seed).permutation(X.shape[1])
