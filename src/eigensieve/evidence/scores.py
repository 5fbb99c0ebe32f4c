"""How well a feature agrees with an embedding of the samples, and what it would score by chance.

The score is the test statistic of every automatic number of features. It is also the score of the sieve.
"""

import numpy as np
from scipy.stats import chi2

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import DataMatrix
from eigensieve.evidence.exchange import ANY, Exchange, OwnPairs, own_pairs_of_copies, products_of_copies

_BATCH_ENTRIES = 2**22  # entries of the products that are made at a time
_NULL_SCORES = (40_000, 400_000)  # fewest null scores, for few and for many features
_NULL_PER_FEATURE = 100  # null scores between the two: a handful of features among many must be able to pass
_COPIES = (10, 1_000)  # fewest and most permuted copies of a feature
_SAMPLE_ENTRIES = 2**22  # entries of the features that are taken into memory for the null
_FEWER = 5  # times fewer null scores are made with donors or missing values
_WITH_GAPS = 150  # most features with missing values that the null of a fold is made of
_CARRIED = 0.98  # share of |V V'|^2 that a test looks at
_FEWEST = 8  # fewest features that the null is made of, for any number of samples


def agreement(data: DataMatrix, embedding: FloatArray, donors: IntArray | None = None) -> FloatArray:
    """Score every feature by its agreement with an embedding V, over pairs of *different* samples.

    u_i = m_i' (V V' - diag(V V')) m_i = |V'm_i|^2 - sum_t m_it^2 |v_t|^2,

    where v_t is the embedding of sample t and m_i a centred column of unit norm. |V'm_i|^2 is the diagonal of Q-alpha's
    G, a sum over pairs of samples. The pairs of a sample with itself are left out. They reward a feature for one
    extreme value in a sample that the embedding sets apart, which is no evidence that samples belong together. For
    features without structure they are the whole mean of the sum. With `donors` the sum is over pairs of samples of
    different donors: u_i = |V'm_i|^2 - sum_g |V_g'm_ig|^2, where V_g and m_ig are the samples of donor g.
    """
    V = np.asarray(embedding, dtype=np.float64)
    if donors is not None:
        own_pairs = OwnPairs(V, donors)
        found = data.map_blocks(lambda b: np.sum(b.forward(V).astype(np.float64) ** 2, axis=1) - own_pairs(b))
        return np.concatenate(found)
    leverage = np.sum(V**2, axis=1)
    return data.map_sums(V, leverage, lambda _, T, own: np.sum(T.astype(np.float64) ** 2, axis=1) - own)


def agreement_p_values(scores: FloatArray, embedding: FloatArray) -> FloatArray:
    """Return how likely a feature of independent values scores as much, by the chi-square law.

    With lambda_j the eigenvalues of V'V, the score of a feature without structure is about sum_j lambda_j (x_j - 1) /
    q, where the x_j are independent, chi-square with one degree of freedom. With g = sum lambda^2 / sum lambda and h =
    (sum lambda)^2 / sum lambda^2, this is about g (x - h) / q for x chi-square with h degrees of freedom: the two have
    the same mean and variance.
    """
    gram = embedding.T @ embedding
    total, squares = float(np.trace(gram)), float(np.sum(gram**2))
    if squares <= 0:
        return np.ones(len(scores))
    h = total**2 / squares
    return np.asarray(chi2.sf(h + scores * len(embedding) * total / squares, h))


def null_agreement(
    features: FloatArray,
    embedding: FloatArray,
    n_copies: int,
    rng: np.random.Generator,
    exchange: Exchange = ANY,
    present: BoolArray | None = None,
) -> FloatArray:
    """Return the agreement of permuted copies of features: the same marginals, without dependence on the samples.

    To permute the entries of m_i is to permute the rows of V. So the copies are never made, and all features share the
    products with a permuted V. Samples trade places as `exchange` allows; values that are not `present` stay where they
    are.
    """
    V = np.asarray(embedding).astype(features.dtype)
    if present is not None and not present.all():
        return _null_with_gaps(features, V, n_copies, rng, exchange, present)
    if exchange.donors is not None and (whole := exchange.whole_donors(features, V)) is not None:
        return null_agreement(*whole[:2], n_copies, rng, whole[2])
    (n_samples, n_features), width = features.shape, V.shape[1]
    rows, squares = np.ascontiguousarray(features.T), np.square(features).T
    at_once = max(1, _BATCH_ENTRIES // (width * max(n_samples, n_features)))
    scores = np.empty((n_features, n_copies))
    for start in range(0, n_copies, at_once):
        copies = exchange.copies(V, min(at_once, n_copies - start), rng)
        products = rows @ copies.reshape(n_samples, -1)
        energy = np.square(products, out=products).reshape(n_features, -1, width).sum(axis=2)
        if exchange.donors is None:
            own = squares @ np.square(copies).sum(axis=2)
        else:
            own = own_pairs_of_copies(features, copies, exchange.donors)
        scores[:, start : start + at_once] = energy - own
    return scores


def _null_with_gaps(
    features: FloatArray, V: FloatArray, n_copies: int, rng: np.random.Generator, exchange: Exchange, present: BoolArray
) -> FloatArray:
    """Return the same where values are missing: only the samples that have a value trade places."""
    full = present.all(axis=0)
    scores = np.empty((features.shape[1], n_copies))
    if full.any():
        scores[full] = null_agreement(features[:, full], V, n_copies, rng, exchange)
    if exchange.donors is not None:
        for column in np.flatnonzero(~full):
            there = np.flatnonzero(present[:, column])
            one = features[there][:, [column]]
            scores[column] = null_agreement(one, V[there], n_copies, rng, exchange.among(there))
        return scores
    r = np.ones((len(V), 1), dtype=V.dtype) if exchange.roots is None else exchange.roots[:, None].astype(V.dtype)
    features, V = features * r, V / r
    groups = exchange.groups(len(V))
    stay = np.ones(len(V), dtype=bool)
    stay[np.concatenate(groups)] = False
    fixed = np.vstack([V[stay].T @ features[stay], np.sum(V[stay] ** 2, axis=1) @ np.square(features[stay])])
    for column in np.flatnonzero(~full):
        sums = fixed[:, [column]]
        for rows in groups:
            there = rows[present[rows, column]]
            sums = sums + products_of_copies(features[there, column], V[there], n_copies, rng)
        scores[column] = np.sum(sums[:-1] ** 2, axis=0) - sums[-1]
    return scores


class NullSample:
    """Some features of every fold in memory, from which the null scores of any embedding are made.

    Each fold is in random order, so that its first features are a random sample.
    """

    def __init__(self, data: DataMatrix, folds: list[IntArray], exchange: Exchange = ANY) -> None:
        self.data = data
        self.folds = folds
        self.exchange = exchange
        room = max(_FEWEST, _SAMPLE_ENTRIES // (len(folds) * data.n_samples))
        if data.shared.gaps is not None:  # each feature needs copies of its own
            room = min(room, _WITH_GAPS)
        taken = [fold[:room] for fold in folds]
        features = data.take(np.concatenate(taken))
        cuts = np.cumsum([len(some) for some in taken])[:-1]
        self.samples = np.split(features, cuts, axis=1)
        gaps = data.shared.gaps
        known = None if gaps is None else np.split(gaps.present(np.concatenate(taken)), cuts, axis=1)
        self.present = [None] * len(folds) if known is None else known

    def scores(self, embedding: FloatArray, fold: int, rng: np.random.Generator) -> FloatArray:
        """Return the scores of permuted copies of the fold's features."""
        features, present = self.samples[fold], self.present[fold]
        n_features = len(self.folds[fold])
        wanted = max(np.clip(_NULL_PER_FEATURE * n_features, *_NULL_SCORES), _COPIES[0] * n_features)
        if self.exchange.donors is not None or present is not None:  # such copies take longer
            wanted = max(_NULL_SCORES[0], wanted // _FEWER)
            features = features[:, : wanted // _COPIES[0]]
            present = None if present is None else present[:, : wanted // _COPIES[0]]
        copies = int(np.clip(np.ceil(wanted / features.shape[1]), *_COPIES))
        return null_agreement(features, embedding, copies, rng, self.exchange, present).ravel()

    def p_values(self, embedding: FloatArray, fold: int, rng: np.random.Generator) -> FloatArray:
        """Return the chance to score as high as each of the fold's features does."""
        roots = self.exchange.roots
        mean = embedding.mean(axis=0) if roots is None else np.outer(roots, roots @ embedding) / np.sum(roots**2)
        V = _leading_part(embedding - mean)
        # Features with few distinct values tie with their copies: rounding must not tell them apart.
        slack = 64.0 * float(np.finfo(self.data.dtype).eps)
        features, inside = self.samples[fold], self.folds[fold]
        if features.shape[1] == len(inside) and self.exchange.donors is None:
            scores = np.sum((features.T @ V) ** 2, axis=1) - np.square(features).T @ np.sum(V**2, axis=1)
        else:
            scores = agreement(self.data, V, self.exchange.donors)[inside]
        return tail_shares(scores - slack, self.scores(V, fold, rng))


def _leading_part(V: FloatArray) -> FloatArray:
    """Return the leading directions of V that carry nearly all of V V', scaled to a largest singular value of 1.

    A p-value is valid for any embedding. Fewer columns make the null scores cheaper.
    """
    basis, lengths, _ = np.linalg.svd(V, full_matrices=False)
    if lengths[0] == 0:
        return V
    energy = np.cumsum(lengths**4)
    count = 1 + int(np.searchsorted(energy, _CARRIED * energy[-1]))
    return np.asarray(basis[:, :count] * (lengths[:count] / lengths[0]))


def tail_shares(scores: FloatArray, null: FloatArray) -> FloatArray:
    """Return (1 + number of null scores >= score) / (1 + number of null scores)."""
    ordered = np.sort(null)
    at_least = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return (1.0 + at_least) / (1.0 + len(ordered))


def step_up(p_values: FloatArray, fdr: float) -> BoolArray:
    """Benjamini and Hochberg's rule: the largest r with p_(r) <= fdr * r / n, and all p-values up to p_(r)."""
    n = len(p_values)
    ordered = np.sort(p_values)
    passing = np.flatnonzero(ordered <= fdr * np.arange(1, n + 1) / max(1, n))
    return p_values <= ordered[passing[-1]] if len(passing) else np.zeros(n, dtype=bool)
