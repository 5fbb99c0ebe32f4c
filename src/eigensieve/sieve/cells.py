"""Many cells and thousands of genes: rounds on some cells and the genes that vary most, then one pass over everything.

Cells of different types differ in hundreds of genes. So the rounds need neither a second start nor the genes that
hardly vary, and 2,000 landmarks show the structure. What is found there is carried over to all cells, and every gene is
scored by all of them.
"""

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data
from eigensieve.evidence import agreement
from eigensieve.sieve.embedding import graph_spectrum, sample_coordinates
from eigensieve.sieve.landmarks import landmarks_of

N_ROUNDS = 3
N_COLUMNS = 20
"""Eigenvectors of the neighbour graph that genes are scored by. Rare types show in late ones."""
KEPT = 4_000
"""Most genes that the rounds are made with."""

_FAINT = 0.01  # added to the mean of a gene: the mean of one that is hardly seen is no measure
_COORDINATES = 50
_NEIGHBORS = 10
_SAMPLES_PER_COLUMN = 20  # noise scores sqrt(2 c) / q for c columns and q samples


def cell_embedding(data: DataMatrix, usable: Array, spread: Array, progress: Progress = silent) -> Array:
    """Return Q, an orthonormal embedding of the cells by the neighbour graph of their weighted genes.

    A round places the cells by 50 principal coordinates of the weighted genes, joins each to its 10 nearest neighbours,
    takes the graph's leading eigenvectors, and scores the genes by them
    (:func:`~eigensieve.evidence.scores.agreement`). The scores are the next weights. The first weights are equal. There
    are 20 eigenvectors, fewer for less than 400 cells: a gene without structure scores about sqrt(2 c) / q by chance,
    for c eigenvectors and q cells.

    Parameters
    ----------
    data : DataMatrix
        Centred columns of unit norm, or zero.
    usable : ndarray of bool of shape (n_features,)
        Genes that may have weight.
    spread : ndarray of shape (n_features,)
        How much each gene varies before it is scaled. The 4,000 largest are used in the rounds.
    progress : callable

    Returns
    -------
    Q : ndarray of shape (n_samples, n_columns)
    """
    landmarks = landmarks_of(data)
    seen = data if landmarks is None else landmarks.data
    varies = usable if landmarks is None else usable & (landmarks.factor > 0)
    candidates = np.flatnonzero(varies if varies.any() else usable)
    kept = np.sort(candidates[np.argsort(-spread[candidates], kind="stable")[:KEPT]])
    few = as_data(seen.take(kept))
    weights = np.ones(len(kept))
    count = min(few.n_samples - 2, max(2, min(N_COLUMNS, few.n_samples // _SAMPLES_PER_COLUMN)))
    for step in range(N_ROUNDS):
        progress(f"round {step + 1} of {N_ROUNDS}, {few.n_samples} cells x {len(kept)} genes")
        coordinates = sample_coordinates(few, weights, count=_COORDINATES)
        Q = graph_spectrum(coordinates.points, count, _NEIGHBORS).embedding(count)
        if step < N_ROUNDS - 1:
            scores = np.maximum(agreement(few, Q), 0.0)
            weights = scores if scores.any() else weights
    if landmarks is None:
        return Q
    progress(f"placing {data.n_samples} cells among {few.n_samples} landmarks")
    whole = np.zeros(data.n_features)
    whole[kept] = weights
    return landmarks.extended(Q, coordinates.points, coordinates.eigenvalues, whole)


def relative_effect(scores: Array, deviation: Array, mean: Array) -> Array:
    """Return how much the structure changes each gene, compared with how much of it there is.

    The score is a share of the gene's variance. A gene of which much is seen has little noise, so a small change makes
    a large share. Small differences of many genes, such as those between batches that nobody named, would be chosen.
    The deviation that follows the structure is sqrt(u_i) d_i. Returned is this over the mean.

    Parameters
    ----------
    scores : ndarray of shape (n_genes,)
        u, shares of the variance; negative ones count as 0.
    deviation : ndarray of shape (n_genes,)
        d, standard deviations of amounts or of their logarithms.
    mean : ndarray of shape (n_genes,)
    """
    return np.asarray(np.sqrt(np.maximum(scores, 0.0)) * deviation / (mean + _FAINT))
