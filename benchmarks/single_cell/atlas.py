"""Scores of the 2025 benchmark of feature selection for integration (Zappia et al., Nature Methods), from definitions.

Those of batches: 1 is well mixed. Those of biology: 1 is what the types say. P are components, y types, b batches, near
the nearest other cells of each cell.
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import xlogy
from sklearn.metrics import f1_score, roc_auc_score, silhouette_samples
from sklearn.neighbors import NearestNeighbors

_PERPLEXITY = 30
_SHUFFLES = 99
_DENSITY = 75  # neighbours of the local density, as in CellMixS
_LEAST = 4  # cells of a batch among the neighbours, for CMS


def neighbours(P: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances to the nearest other cells and their indices, nearest first."""
    count = min(count, len(P) - 1)
    return NearestNeighbors(n_neighbors=count).fit(P).kneighbors()


def explained_by_batches(P: np.ndarray, b: np.ndarray) -> float:
    """The share of the components' variance between batches (principal component regression)."""
    centred = P - P.mean(axis=0)
    between = sum(np.sum(b == batch) * centred[b == batch].mean(axis=0) ** 2 for batch in np.unique(b))
    return float(between.sum() / np.sum(centred**2))


def lisi(distances: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Inverse Simpson index of each cell's neighbours, weighted by Gaussians of perplexity 30 at most.

    `kinds` are those of the neighbours, one row per cell. The widths are found by bisection.
    """
    goal = np.log(min(_PERPLEXITY, distances.shape[1] / 3))
    gaps = distances**2 - distances[:, :1] ** 2
    low, high = np.full(len(gaps), -40.0), np.full(len(gaps), 40.0)
    for _ in range(60):
        middle = (low + high) / 2
        weights = np.exp(-np.exp(middle)[:, None] * gaps)
        weights /= weights.sum(axis=1, keepdims=True)
        wide = -xlogy(weights, weights).sum(axis=1) > goal
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    shares = [np.sum(weights * (kinds == kind), axis=1) for kind in np.unique(kinds)]
    return np.asarray(1.0 / np.sum(np.square(shares), axis=0))


def scaled_lisi(distances: np.ndarray, near: np.ndarray, kinds: np.ndarray, *, mixed: bool) -> float:
    """The median index, 0 to 1: 1 is all kinds alike where `mixed`, else one kind alone."""
    most = len(np.unique(kinds))
    share = float((np.median(lisi(distances, kinds[near])) - 1.0) / (most - 1.0))
    return share if mixed else 1.0 - share


def graph_connectivity(near: np.ndarray, y: np.ndarray) -> float:
    """The share of a type's cells in its largest connected part of the neighbour graph, mean over types."""
    n_cells = len(near)
    ends = np.repeat(np.arange(n_cells), near.shape[1]), near.ravel()
    graph = csr_matrix((np.ones(near.size), ends), shape=(n_cells, n_cells))
    shares = []
    for kind in np.unique(y):
        members = np.flatnonzero(y == kind)
        parts = connected_components(graph[members][:, members], directed=False)[1]
        shares.append(np.bincount(parts).max() / len(members))
    return float(np.mean(shares))


def cell_mixing(near: np.ndarray, b: np.ndarray, seed: int = 0) -> float:
    """CMS (Lutge et al. 2021): mean p-value of Anderson and Darling's test, are distances to all batches alike.

    It compares the distances of each cell to the batches with at least 4 of its neighbours. The p-value is that of 99
    shuffles. A cell with fewer than two such batches counts 0.
    """
    rng, kinds = np.random.default_rng(seed), b[near].copy()
    members = kinds[:, :, None] == np.unique(b)
    enough = members.sum(axis=1) >= _LEAST
    some = enough.sum(axis=1) >= 2
    members = members & enough[:, None, :]
    if not some.any():
        return 0.0
    members = members[some]
    found, above = anderson_darling(members), np.zeros(len(members))
    for _ in range(_SHUFFLES):
        order = rng.random(members.shape[:2]).argsort(axis=1)
        above += anderson_darling(np.take_along_axis(members, order[:, :, None], axis=1)) >= found - 1e-9
    return float(np.sum((1 + above) / (1 + _SHUFFLES)) / len(near))


def anderson_darling(members: np.ndarray) -> np.ndarray:
    """The statistic of Scholz and Stephens (1987) per row; members[i, j, k]: the j-th smallest is of sample k.

    Values without sample are passed over.
    """
    used = members.any(axis=2)
    place, total = np.cumsum(used, axis=1), used.sum(axis=1)[:, None]
    sizes = np.maximum(members.sum(axis=1), 1)[:, None, :]
    below = np.cumsum(members, axis=1)
    inner = used & (place < total)
    gaps = (total[:, :, None] * below - place[:, :, None] * members.sum(axis=1)[:, None, :]) ** 2 / sizes
    weight = np.where(inner, 1.0 / np.maximum(place * (total - place), 1), 0.0)
    return np.asarray(np.sum(gaps.sum(axis=2) * weight, axis=1) / total[:, 0])


def balanced_nmi(y: np.ndarray, found: np.ndarray) -> float:
    """Normalised mutual information in which every type weighs the same (Maan et al. 2024)."""
    table = np.zeros((y.max() + 1, found.max() + 1))
    np.add.at(table, (y, found), 1.0)
    table = table[table.sum(axis=1) > 0]
    table /= table.sum(axis=1, keepdims=True) * len(table)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    apart = -xlogy(rows, rows).sum(), -xlogy(columns, columns).sum()
    both = -xlogy(table, table).sum()
    mean = sum(apart) / 2
    return float((sum(apart) - both) / mean) if mean > 0 else 1.0


def isolated_types(y: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The types that the fewest batches hold."""
    held = np.array([len(np.unique(b[y == kind])) for kind in range(y.max() + 1)])
    return np.flatnonzero(held == held.min())


def isolated_silhouette(P: np.ndarray, y: np.ndarray, b: np.ndarray) -> float:
    """Silhouette of the isolated types against all other cells, 0 to 1."""
    kinds = isolated_types(y, b)
    return float(np.mean([(silhouette_samples(P, y == kind)[y == kind].mean() + 1) / 2 for kind in kinds]))


def isolated_f1(y: np.ndarray, b: np.ndarray, clusterings: list[np.ndarray]) -> float:
    """F1 of the cluster that is nearest to an isolated type, over all clusterings; mean over these types."""
    return float(
        np.mean(
            [
                max(f1_score(y == kind, found == part) for found in clusterings for part in np.unique(found))
                for kind in isolated_types(y, b)
            ]
        )
    )


def density_factor(P: np.ndarray) -> np.ndarray:
    """Local density factor (Latecki et al. 2007) among 75 neighbours: 1 is as dense as the neighbours are."""
    distances, near = neighbours(P, _DENSITY)
    width = np.maximum(distances[:, -1], 1e-12)[near]
    reach = np.maximum(distances, width) / width
    logs = -P.shape[1] * np.log(width) - reach**2 / 2
    density = np.exp(logs - logs.max()).mean(axis=1)
    around = density[near].mean(axis=1)
    return np.asarray(around / np.maximum(density + 0.1 * around, 1e-300))


def density_kept(P: np.ndarray, before: dict[int, np.ndarray], b: np.ndarray) -> float:
    """ldfDiff (Lutge et al. 2021): 1 less the mean change of the density factor within batches, over its range of 10.

    `before` are the components of each batch alone.
    """
    changes = [np.abs(density_factor(P[b == batch]) - density_factor(alone)) for batch, alone in before.items()]
    return 1.0 - float(np.mean(np.concatenate(changes))) / 10.0


def unseen_apart(reference: np.ndarray, query: np.ndarray, unseen: np.ndarray) -> float:
    """Area under the curve of the mean distance to 15 reference cells, telling unseen types from seen ones."""
    search = NearestNeighbors(n_neighbors=min(15, len(reference))).fit(reference)
    return float(roc_auc_score(unseen, search.kneighbors(query)[0].mean(axis=1)))
