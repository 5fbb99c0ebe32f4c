"""One choice by scikit-feature, under its own Python: ``python peer_worker.py TASK IN.npz OUT.npy``.

Imports nothing of eigensieve. IN.npz holds X, the graph's parts, n_clusters and count.

What is put right here, from outside: MCFS takes the signed maximum of the coefficients, here the absolute maximum,
as in the paper; all get the heat-weighted 5-neighbour graph of the papers instead of the package's binary cosine graph.
What cannot be put right: UDFS leaves out a factor in its local matrices, NDFS subtracts its graph from a row of
degrees instead of their diagonal.
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


def udfs(X, W, n_clusters, count):
    from skfeature.function.sparse_learning_based.UDFS import udfs as run

    return run(X, gamma=0.1, n_clusters=n_clusters, mode="index")


def ndfs(X, W, n_clusters, count):
    from skfeature.function.sparse_learning_based.NDFS import ndfs as run

    return run(X, W=W, n_clusters=n_clusters, mode="index")


def main(task, source, target):
    with np.load(source) as stored:
        shape = (len(stored["X"]),) * 2
        W = csr_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=shape)
        order = globals()[task](stored["X"], W, int(stored["n_clusters"]), int(stored["count"]))
    np.save(target, np.asarray(order, dtype=np.int64).ravel())


if __name__ == "__main__":
    main(*sys.argv[1:])
