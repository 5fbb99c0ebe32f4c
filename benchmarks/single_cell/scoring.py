"""What a choice of genes is worth: scale, principal components, neighbours, clusters; labels and batches judge them."""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score, silhouette_score
from sklearn.neighbors import NearestNeighbors

from .data import Cells

METRICS = (
    "nmi",
    "ari",
    "leiden_nmi",
    "leiden_ari",
    "coarse_nmi",
    "coarse_ari",
    "silhouette",
    "transfer",
    "rare",
    "mixing",
)
_COMPONENTS = 30
_NEIGHBORS = 15
_MOST = 10.0  # scaled values are cut here, as in scanpy's tutorial


def scaled(cells: Cells, genes: np.ndarray) -> np.ndarray:
    """Return the chosen genes, log-normalised and scaled."""
    Z = np.asarray(cells.log[:, genes].todense(), dtype=np.float64)
    deviation = Z.std(axis=0)
    return np.minimum((Z - Z.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), _MOST)


def pca(Z: np.ndarray) -> PCA:
    return PCA(min(_COMPONENTS, min(Z.shape) - 1), svd_solver="arpack", random_state=0).fit(Z)


def components(cells: Cells, genes: np.ndarray) -> np.ndarray:
    """Return the principal components of the chosen genes."""
    Z = scaled(cells, genes)
    return pca(Z).transform(Z)


def score(cells: Cells, genes: np.ndarray, seed: int = 0) -> dict[str, float]:
    """Score a choice of genes.

    nmi, ari : k-means on the components, told the number of types.
    leiden_nmi, leiden_ari : Leiden on the neighbour graph, resolution 1.
    coarse_nmi, coarse_ari : the same at resolution 0.5.
    silhouette : of the labels.
    transfer : macro F1 of labels given by the 15 nearest other cells.
    rare : of the rare types' cells, the share whose 5 nearest other cells say so; mean over the types.
    mixing : inverse Simpson index of the batches among 30 neighbours, 0 for one batch, 1 for all alike (iLISI).
    """
    P, y = components(cells, genes), cells.labels
    found = KMeans(int(y.max()) + 1, n_init=10, random_state=seed).fit_predict(P)
    near = NearestNeighbors(n_neighbors=min(30, len(P) - 1)).fit(P).kneighbors(return_distance=False)
    guessed = majority(y[near[:, :_NEIGHBORS]])
    leiden, coarse = (leiden_clusters(near[:, :_NEIGHBORS], seed, resolution) for resolution in (1.0, 0.5))
    scores = {
        "nmi": normalized_mutual_info_score(y, found),
        "ari": adjusted_rand_score(y, found),
        "leiden_nmi": normalized_mutual_info_score(y, leiden),
        "leiden_ari": adjusted_rand_score(y, leiden),
        "coarse_nmi": normalized_mutual_info_score(y, coarse),
        "coarse_ari": adjusted_rand_score(y, coarse),
        "silhouette": silhouette_score(P, y),
        "transfer": f1_score(y, guessed, average="macro"),
    }
    if len(cells.rare):
        few = majority(y[near[:, :5]])
        scores["rare"] = np.mean([np.mean(few[y == kind] == kind) for kind in cells.rare])
    if cells.batches is not None:
        scores["mixing"] = mixing(cells.batches, near)
    return {name: float(value) for name, value in scores.items()}


def majority(labels: np.ndarray) -> np.ndarray:
    """Return the most frequent label per row, the one of the smallest number among equals."""
    counts = (labels[:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return np.asarray(counts.argmax(axis=1))


def mixing(batches: np.ndarray, near: np.ndarray) -> float:
    """Return the mean inverse Simpson index of the neighbours' batches, from 0 (one batch) to 1 (as in all cells)."""
    shares = (batches[near][:, :, None] == np.arange(batches.max() + 1)).mean(axis=1)
    most = 1.0 / np.sum(np.bincount(batches) ** 2 / len(batches) ** 2)
    return float((np.mean(1.0 / np.sum(shares**2, axis=1)) - 1.0) / (most - 1.0))


def leiden_clusters(near: np.ndarray, seed: int, resolution: float = 1.0) -> np.ndarray:
    import igraph
    import leidenalg

    ends = np.column_stack([np.repeat(np.arange(len(near)), near.shape[1]), near.ravel()])
    graph = igraph.Graph(n=len(near), edges=np.unique(np.sort(ends, axis=1), axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = leidenalg.RBConfigurationVertexPartition
        parts = leidenalg.find_partition(graph, kind, resolution_parameter=resolution, seed=seed)
    return np.asarray(parts.membership)
