"""How well a feature agrees with an embedding of the samples, and what it would score by chance.

The score is the test statistic of every automatic number of features. It is also the score of the sieve.
"""

import numpy as np
from scipy.stats import chi2

from eigensieve._types import Array
from eigensieve.data import DataMatrix

_BATCH_ENTRIES = 2**22  # entries of the products that are made at a time
_NULL_SCORES = (40_000, 400_000)  # fewest null scores, for few and for many features
_NULL_PER_FEATURE = 100  # null scores between the two: a handful of features among many must be able to pass
_COPIES = (10, 1_000)  # fewest and most permuted copies of a feature
_SAMPLE_ENTRIES = 2**22  # entries of the features that are taken into memory for the null
_CARRIED = 0.99  # share of |V V'|^2 that a test looks at
_FEWEST = 8  # fewest features that the null is made of, for any number of samples


def agreement(data: DataMatrix, embedding: Array) -> Array:
    """Score every feature by its agreement with an embedding, over pairs of *different* samples.

    u_i = m_i' (V V' - diag(V V')) m_i = |V'm_i|^2 - sum_t m_it^2 |v_t|^2,

    where v_t is the embedding of sample t. |V'm_i|^2 is the diagonal of Q-alpha's G, a sum over pairs of samples. The
    pairs of a sample with itself are left out. They reward a feature for one extreme value in a sample that the
    embedding sets apart, which is no evidence that samples belong together. For features without structure they are the
    whole mean of the sum.

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
    return data.map_sums(V, leverage, lambda _, T, own: np.sum(T.astype(np.float64) ** 2, axis=1) - own)


def agreement_p_values(scores: Array, embedding: Array) -> Array:
    """Return how likely a feature of independent values scores as much, by the chi-square law.

    With lambda_j the eigenvalues of V'V, the score of a feature without structure is about
    sum_j lambda_j (x_j - 1) / q, where the x_j are independent, chi-square with one degree of freedom. With
    g = sum lambda^2 / sum lambda and h = (sum lambda)^2 / sum lambda^2, this is about g (x - h) / q for x chi-square
    with h degrees of freedom: the two have the same mean and variance.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        From :func:`agreement`.
    embedding : ndarray of shape (n_samples, n_columns)
        V.
    """
    gram = embedding.T @ embedding
    total, squares = float(np.trace(gram)), float(np.sum(gram**2))
    if squares <= 0:
        return np.ones(len(scores))
    h = total**2 / squares
    return np.asarray(chi2.sf(h + scores * len(embedding) * total / squares, h))


def null_agreement(
    features: Array, embedding: Array, n_copies: int, rng: np.random.Generator, groups: Array | None = None
) -> Array:
    """Return the agreement of permuted copies of features: the same marginals, without dependence on the samples.

    To permute the entries of m_i is to permute the rows of V. So the copies are never made, and all features share the
    products with a permuted V.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Standardised columns m_i, as `data.take` returns them.
    embedding : ndarray of shape (n_samples, n_columns)
    n_copies : int
    rng : Generator
    groups : ndarray of int of shape (n_samples,), optional
        Samples trade places within their group only. Batches are such groups.

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
        orders = sample_orders(min(at_once, n_copies - start), n_samples, groups, rng)
        products = rows @ V[orders].reshape(n_samples, -1)
        energy = np.square(products, out=products).reshape(n_features, -1, width).sum(axis=2)
        scores[:, start : start + at_once] = energy - squares @ leverage[orders]
    return scores


def sample_orders(count: int, n_samples: int, groups: Array | None, rng: np.random.Generator) -> Array:
    """Return random orders of the samples, one per column."""
    if groups is None:
        return np.stack([rng.permutation(n_samples) for _ in range(count)], axis=1)
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)
    orders = np.empty((n_samples, count), dtype=np.intp)
    orders[np.argsort(numbers, kind="stable")] = np.argsort(numbers[:, None] + rng.random((n_samples, count)), axis=0)
    return orders


class NullSample:
    """Some features of every fold in memory, from which the null scores of any embedding are made.

    Parameters
    ----------
    data : DataMatrix
        Standardised data.
    folds : list of ndarray of int
        Each in random order, so that its first features are a random sample.
    groups : ndarray of int of shape (n_samples,), optional
        Copies are permuted within these groups of samples only.
    """

    def __init__(self, data: DataMatrix, folds: list[Array], groups: Array | None = None) -> None:
        self.data = data
        self.folds = folds
        self.groups = groups
        room = max(_FEWEST, _SAMPLE_ENTRIES // (len(folds) * data.n_samples))
        taken = [fold[:room] for fold in folds]
        features = data.take(np.concatenate(taken))
        self.samples = np.split(features, np.cumsum([len(some) for some in taken])[:-1], axis=1)

    def scores(self, embedding: Array, fold: int, rng: np.random.Generator) -> Array:
        """Return the scores of permuted copies of the fold's features."""
        features = self.samples[fold]
        n_features = len(self.folds[fold])
        wanted = max(np.clip(_NULL_PER_FEATURE * n_features, *_NULL_SCORES), _COPIES[0] * n_features)
        copies = int(np.clip(np.ceil(wanted / features.shape[1]), *_COPIES))
        return null_agreement(features, embedding, copies, rng, self.groups).ravel()

    def p_values(self, embedding: Array, fold: int, rng: np.random.Generator) -> Array:
        """Return the chance to score as high as each of the fold's features does."""
        V = _leading_part(embedding - embedding.mean(axis=0))
        # Features with few distinct values tie with their copies: rounding must not tell them apart.
        slack = 64.0 * float(np.finfo(self.data.dtype).eps)
        features, inside = self.samples[fold], self.folds[fold]
        if features.shape[1] == len(inside):
            scores = np.sum((features.T @ V) ** 2, axis=1) - np.square(features).T @ np.sum(V**2, axis=1)
        else:
            scores = agreement(self.data, V)[inside]
        return tail_shares(scores - slack, self.scores(V, fold, rng))


def _leading_part(V: Array) -> Array:
    """Return the leading directions of V that carry nearly all of V V', scaled to a largest singular value of 1.

    A p-value is valid for any embedding. Fewer columns make the null scores cheaper.
    """
    basis, lengths, _ = np.linalg.svd(V, full_matrices=False)
    if lengths[0] == 0:
        return V
    energy = np.cumsum(lengths**4)
    count = 1 + int(np.searchsorted(energy, _CARRIED * energy[-1]))
    return np.asarray(basis[:, :count] * (lengths[:count] / lengths[0]))


def tail_shares(scores: Array, null: Array) -> Array:
    """Return (1 + number of null scores >= score) / (1 + number of null scores)."""
    ordered = np.sort(null)
    at_least = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return (1.0 + at_least) / (1.0 + len(ordered))
