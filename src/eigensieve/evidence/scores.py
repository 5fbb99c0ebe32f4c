"""How well a feature agrees with an embedding of the samples, and what it would score by chance."""

from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix

_BATCH_ENTRIES = 2**22  # of the products made at a time


def agreement(data: DataMatrix, embedding: Array) -> Array:
    """Score every feature by its agreement with an embedding, over pairs of *different* samples.

    u_i = m_i' (V V' - diag(V V')) m_i = |V'm_i|^2 - sum_t m_it^2 |v_t|^2,

    where v_t is the embedding of sample t. |V'm_i|^2 is the diagonal of Q-alpha's G. Its t = s terms are left out:
    they reward a feature for one extreme value in a sample that the embedding sets apart, which is no evidence
    that samples belong together, and they are the whole of its mean for features without structure.

    Parameters
    ----------
    data : DataMatrix
        Standardised: centred columns of unit norm.
    embedding : ndarray of shape (n_samples, n_columns)
        V: Q, or Q scaled by the importance of its columns.

    Returns
    -------
    scores : ndarray of shape (n_features,)
    """
    V = np.asarray(embedding, dtype=np.float64)
    leverage = np.sum(V**2, axis=1)

    def score(block: Any) -> Array:
        energy = np.sum(block.forward(V).astype(np.float64) ** 2, axis=1)
        return np.asarray(energy - block.squares(leverage))

    return np.concatenate(data.map_blocks(score))


def null_agreement(features: Array, embedding: Array, n_copies: int, rng: np.random.Generator) -> Array:
    """Score permuted copies of features: the same marginal, the dependence on the samples broken.

    Permuting the entries of m_i is permuting the rows of V, so the copies are never made, and all features
    share the products with a permuted V.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Standardised columns m_i, as `data.take` returns them.
    embedding : ndarray of shape (n_samples, n_columns)
    n_copies : int
    rng : Generator

    Returns
    -------
    scores : ndarray of shape (n_features, n_copies)
    """
    V = np.asarray(embedding).astype(features.dtype)
    leverage = np.sum(V**2, axis=1)
    (n_samples, n_features), width = features.shape, V.shape[1]
    rows, squares = np.ascontiguousarray(features.T), np.square(features).T
    at_once = max(1, _BATCH_ENTRIES // (width * max(n_samples, n_features)))
    scores = np.empty((n_features, n_copies))
    for start in range(0, n_copies, at_once):
        orders = np.stack([rng.permutation(n_samples) for _ in range(start, min(start + at_once, n_copies))], axis=1)
        products = rows @ V[orders].reshape(n_samples, -1)
        energy = np.square(products, out=products).reshape(n_features, -1, width).sum(axis=2)
        scores[:, start : start + at_once] = energy - squares @ leverage[orders]
    return scores
