"""How well a feature agrees with an embedding of the samples, and what it would score by chance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array

from eigensieve.data import DataMatrix

Array = NDArray[Any]


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
    return _agreements(data, [np.asarray(embedding, dtype=np.float64)])[:, 0]


def null_agreement(data: DataMatrix, embedding: Array, n_copies: int, rng: np.random.Generator) -> Array:
    """Score permuted copies of every feature: the same marginal, the dependence on the samples broken.

    Permuting the entries of m_i is permuting the rows of V, so the copies are never made: a copy costs the
    same product with the data as the score itself, on every backend.

    Returns
    -------
    scores : ndarray of shape (n_features, n_copies)
    """
    V = np.asarray(embedding, dtype=np.float64)
    return _agreements(data, [V[rng.permutation(len(V))] for _ in range(n_copies)])


def _agreements(data: DataMatrix, embeddings: list[Array]) -> Array:
    V = np.hstack(embeddings)
    leverages = [diags_array(np.sum(one**2, axis=1)).tocsr() for one in embeddings]
    width = embeddings[0].shape[1]

    def score(block: Any) -> Array:
        energy = block.forward(V).astype(np.float64) ** 2
        energy = energy.reshape(len(energy), len(embeddings), width).sum(axis=2)
        own = np.stack([block.quadratic(leverage) for leverage in leverages], axis=1)
        return np.asarray(energy - own)

    return np.concatenate(data.map_blocks(score))
