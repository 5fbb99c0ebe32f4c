"""One choice by scikit-feature, under its own Python: ``python peer_worker.py TASK IN.npz OUT.npy``.

Imports nothing of eigensieve. IN.npz holds X, the graph's parts, n_clusters and count.

What is put right here, from outside, so that every peer is at its best:

- all get the heat-weighted 5-neighbour graph of the papers instead of the package's binary cosine graph;
- MCFS takes the signed maximum of the coefficients, here the absolute maximum, as in the paper;
- SPEC ranks features backwards, here its scores are taken and sorted the paper's way;
- NDFS subtracts its graph from a row of degrees; given W - D, whose rows sum to zero, it ends up with L = D - W;
- UDFS puts sample i's local matrix where the neighbours of samples 0..5 are; its neighbour lists are handed over by an
  object that answers with those of the sample in hand.
"""

import sys

import numpy as np
from scipy.sparse import csr_matrix


def laplacian(X, W, n_clusters, count):
    from skfeature.function.similarity_based.lap_score import lap_score

    return lap_score(X, W=W, mode="index")


def mcfs(X, W, n_clusters, count):
    from skfeature.function.sparse_learning_based.MCFS import mcfs as run

    coefficients = run(X, n_selected_features=count, W=W, n_clusters=n_clusters, mode="raw")
    return np.argsort(-np.abs(coefficients).max(axis=1), kind="stable")


def spec(X, W, n_clusters, count):
    """The third ranking function, sum over the k - 1 smoothest eigenvectors: larger is better."""
    from skfeature.function.similarity_based.SPEC import spec as run

    return np.argsort(-run(X, W=W, style=max(2, n_clusters), mode="raw"), kind="stable")


def udfs(X, W, n_clusters, count):
    from skfeature.function.sparse_learning_based import UDFS

    plain = UDFS.pairwise_distances
    UDFS.pairwise_distances = lambda points: plain(points).view(_Distances)
    return UDFS.udfs(X, gamma=0.1, n_clusters=n_clusters, mode="index")


class _Distances(np.ndarray):
    def argsort(self, axis=-1, **options):
        return _Neighbours(np.asarray(self).argsort(axis=axis))


class _Neighbours:
    """Neighbour lists; a row number alone means: that neighbour of the sample asked for last."""

    def __init__(self, lists):
        self.lists = lists
        self.sample = 0

    def __getitem__(self, key):
        if not isinstance(key, tuple):
            return self.lists[self.sample, key]
        if isinstance(key[0], slice):
            return _Neighbours(self.lists[key])
        self.sample = key[0]
        return self.lists[key]


def ndfs(X, W, n_clusters, count):
    from scipy.sparse import diags
    from skfeature.function.sparse_learning_based.NDFS import ndfs as run

    np.random.seed(0)  # noqa: NPY002 - its k-means draws from the global state
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return run(X, W=csr_matrix(W - diags(degrees)), n_clusters=n_clusters, mode="index")


def main(task, source, target):
    with np.load(source) as stored:
        shape = (len(stored["X"]),) * 2
        W = csr_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=shape)
        order = globals()[task](stored["X"], W, int(stored["n_clusters"]), int(stored["count"]))
    np.save(target, np.asarray(order, dtype=np.int64).ravel())


if __name__ == "__main__":
    main(*sys.argv[1:])
