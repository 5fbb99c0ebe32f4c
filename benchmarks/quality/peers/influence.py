"""Influential features: those that are not normally distributed, then those that tell the clusters apart."""

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.feature_selection import f_classif
from sklearn.metrics import adjusted_rand_score

_NULLS = 5_000  # normal columns that the distances are compared with
_ROUNDS = 10


def influential(X, n_clusters, count, seed, y):
    """i-IF-Learn (Ma, Wang and Fan 2026), after the outline in its abstract.

    Features are first scored by their Kolmogorov-Smirnov distance from a normal distribution, as in IF-PCA (Jin and
    Wang 2016). Higher criticism sets the threshold. K-means on the leading singular vectors of the selected features
    gives pseudo labels, and the F-test with these a second score. The two are averaged, the second weighted by how far
    the labels of two rounds agree. This weight is ours: the abstract says only that it follows the labels' reliability.
    """
    Z = X - X.mean(axis=0)
    Z = Z / np.maximum(Z.std(axis=0), 1e-300)
    shape = _shape_scores(Z, seed)
    score, labels = shape, None
    for _ in range(_ROUNDS):
        chosen = np.argsort(-score, kind="stable")[: _higher_criticism(norm.sf(score), len(Z), n_clusters)]
        U, s, _ = np.linalg.svd(Z[:, chosen], full_matrices=False)
        rank = max(1, n_clusters - 1)
        found = KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(U[:, :rank] * s[:rank])
        trust = 0.5 if labels is None else max(0.0, float(adjusted_rand_score(labels, found)))
        score = (1.0 - trust) * shape + trust * _label_scores(Z, found)
        if labels is not None and trust == 1.0:
            break
        labels = found
    return np.argsort(-score, kind="stable")


def ks_distances(Z: np.ndarray) -> np.ndarray:
    """Largest gap, times sqrt(n), between each standardised column's distribution and the normal one."""
    n = len(Z)
    heights = norm.cdf(np.sort(Z, axis=0))
    steps = np.arange(n)[:, None] / n
    return np.sqrt(n) * np.maximum(heights - steps, steps + 1.0 / n - heights).max(axis=0)


def _shape_scores(Z: np.ndarray, seed: int) -> np.ndarray:
    """Distances from normal as z-scores: Efron's correction, then the upper tail of normal columns treated alike."""
    null = np.random.default_rng(seed).standard_normal((len(Z), _NULLS))
    null = np.sort(_corrected(ks_distances((null - null.mean(axis=0)) / null.std(axis=0))))
    ks = _corrected(ks_distances(Z))
    above = len(null) - np.searchsorted(null, ks)
    # Beyond the largest null value the corrected distance itself keeps the order.
    return np.maximum(norm.isf((above + 1.0) / (len(null) + 2.0)), np.where(above == 0, ks, -np.inf))


def _corrected(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / max(1e-300, values.std())


def _label_scores(Z: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """F-tests with the labels as z-scores."""
    groups = len(np.unique(labels))
    if not 1 < groups < len(Z):
        return np.zeros(Z.shape[1])
    with np.errstate(all="ignore"):
        tail = f_distribution.logsf(np.nan_to_num(f_classif(Z, labels)[0]), groups - 1, len(Z) - groups)
    return np.where(tail > -700, norm.isf(np.exp(np.maximum(tail, -700))), np.sqrt(2.0 * np.maximum(-tail, 0.0)))


def _higher_criticism(p_values: np.ndarray, n: int, least: int) -> int:
    """Number of features at the threshold of higher criticism, in IF-PCA's form."""
    p = np.sort(p_values)
    share = np.arange(1, len(p) + 1) / len(p)
    excess = np.maximum(np.sqrt(n) * (share - p), 0.0) + share
    criticism = np.where(p > np.log(len(p)) / len(p), (share - p) / np.sqrt(excess), -np.inf)
    half = criticism[: max(1, len(p) // 2)]
    return max(least, 1 + int(np.argmax(half)) if np.isfinite(half).any() else len(p) // 2)
