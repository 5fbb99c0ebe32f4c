"""Naive dense transcription of the sieve: every matrix formed, written for reading."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import chi2


def standardise(X: np.ndarray, centered: bool = True) -> np.ndarray:
    """Return M: rows are features, centred or not, of unit norm; constant features are zero."""
    M = X.T - X.T.mean(axis=1, keepdims=True) * centered
    norms = np.linalg.norm(M, axis=1, keepdims=True)
    return M / np.where(norms > 1e-12, norms, np.inf)


def agreement(M: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Sum over pairs of different samples of m_it m_is (VV')_ts."""
    P = V @ V.T
    np.fill_diagonal(P, 0.0)
    return np.array([m @ P @ m for m in M])


def noise_edge(weights: np.ndarray, d: int) -> float:
    """Silverstein and Choi's edge of the spectrum of independent weighted features, with its fluctuation."""
    w = weights[weights > 0] / weights.max()
    best = minimize_scalar(lambda t: 1 / t + np.sum(w / (1 - t * w)) / d, bounds=(1e-6, 1 - 1e-6), method="bounded")
    return float(weights.max() * best.fun * (1 + d ** (-2 / 3)))


def layout(M: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Principal coordinates of the weighted samples, direction j of squared length log(1 + lambda_j / noise edge)."""
    values, vectors = np.linalg.eigh(M.T @ np.diag(weights) @ M)
    values = np.maximum(values, 0.0)
    return vectors * np.sqrt(np.log(1.0 + values / noise_edge(weights, M.shape[1] - 1)))


def capped_variances(X: np.ndarray, quantile: float) -> np.ndarray:
    """Variance of each feature, at most the quantile of all variances."""
    variances = X.var(axis=0)
    return np.minimum(variances, np.quantile(variances, quantile))


def rounds(
    M: np.ndarray, factors: np.ndarray, n_rounds: int, n_neighbors: int, steps: int, smoothing: float
) -> np.ndarray:
    """T = V V' after a number of rounds of weights -> layout -> walks -> scores -> weights."""
    weights = factors
    for _ in range(n_rounds):
        T = walks(local_neighbours(layout(M, weights), n_neighbors, 10), steps, smoothing)
        weights = np.maximum(agreement_with(M, T), 0.0) * factors
    return T


def agreement_with(M: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Sum over pairs of different samples of m_it m_is T_ts."""
    T = T - np.diag(np.diag(T))
    return np.array([m @ T @ m for m in M])


def local_neighbours(points: np.ndarray, n_neighbors: int, n_around: int) -> np.ndarray:
    """Adjacency matrix of the nearest neighbours by distance over the root of both samples' mean distances nearby."""
    q = len(points)
    d = np.array([[np.sqrt(np.sum((a - b) ** 2)) for b in points] for a in points])
    r = [np.mean(np.sort(np.delete(d[t], t))[:n_around]) for t in range(q)]
    W = np.zeros((q, q))
    for t in range(q):
        others = [s for s in range(q) if s != t]
        for s in sorted(others, key=lambda s: d[t, s] / np.sqrt(r[t] * r[s]))[:n_neighbors]:
            W[t, s] = W[s, t] = 1.0
    return W


def walks(W: np.ndarray, steps: int, smoothing: float, balance: float = 1.0) -> np.ndarray:
    """V V': cosines of where walks of some steps end, without what all share; centred, eigenvalues to a power."""
    q = len(W)
    W = W + smoothing * W.sum(axis=1).mean() / q
    D = np.diag(W.sum(axis=1) ** -0.5)
    trivial = np.sqrt(W.sum(axis=1) / W.sum())
    step = D @ W @ D - np.outer(trivial, trivial)
    J = np.eye(q) - 1.0 / q
    ends = J @ np.linalg.matrix_power(step, steps)
    G = ends @ ends.T
    T = J @ (G / np.sqrt(np.outer(np.diag(G), np.diag(G)))) @ J
    values, vectors = np.linalg.eigh(T)
    return (vectors * np.maximum(values / values[-1], 0.0) ** balance) @ vectors.T


def noise_p_value(score: float, V: np.ndarray) -> float:
    """Chi-square law of the same mean and variance as the weighted sum of squared normals that noise scores."""
    values = np.linalg.eigvalsh(V.T @ V)
    g = np.sum(values**2) / np.sum(values)
    h = np.sum(values) ** 2 / np.sum(values**2)
    return float(chi2.sf(score * len(V) / g + h, h))


def beyond_noise(scores: np.ndarray, V: np.ndarray, rate: float) -> list[int]:
    """The features that pass Benjamini and Hochberg's rule."""
    p_values = np.array([noise_p_value(score, V) for score in scores])
    ranked = np.argsort(p_values)
    passing = [r for r in range(len(scores)) if p_values[ranked[r]] <= rate * (r + 1) / len(scores)]
    return sorted(int(i) for i in ranked[: max(passing) + 1]) if passing else []


def pick(
    M: np.ndarray,
    a: np.ndarray,
    first: list[int],
    count: int,
    share: np.ndarray | None = None,
    keep: tuple[int, ...] = (),
) -> list[int]:
    """Greedy pick by alignment, the features `first` before the others; a_i = m_i' T m_i.

    A share below 1 leaves the rest of a feature's variance to one direction that all features share, and that is
    orthogonal to the samples' own: one further sample that only the unwanted parts see.
    """
    share = np.ones(len(M)) if share is None else share
    a = a * share
    whole = [np.append(np.sqrt(s) * m, 0.0) for m, s in zip(M, share, strict=True)]
    apart = np.append(np.zeros(M.shape[1]), 1.0)
    chosen = list(keep)
    while len(chosen) < count:
        left = [i for i in range(len(M)) if i not in chosen]

        def alignment(i: int) -> float:
            K = sum(np.outer(whole[j], whole[j]) + (1 - share[j]) * np.outer(apart, apart) for j in [*chosen, i])
            return float(sum(a[j] for j in [*chosen, i]) / np.linalg.norm(K))

        chosen.append(max([i for i in left if i in first] or left, key=alignment))
    return chosen


def share_shown(points: np.ndarray, Q: np.ndarray, n_neighbors: int = 5) -> float:
    """R2 of Q when every sample is told by the mean over its nearest others, one best factor per column, at least 0."""
    E = np.empty_like(Q)
    for t in range(len(points)):
        distances = np.linalg.norm(points - points[t], axis=1)
        distances[t] = np.inf
        E[t] = Q[np.argsort(distances)[:n_neighbors]].mean(axis=0)
    left = 0.0
    for e, column in zip(E.T, Q.T, strict=True):
        slope = max(0.0, float(e @ column / (e @ e)))
        left += float(np.sum((column - slope * e) ** 2))
    return 1.0 - left / float(np.sum(Q**2))
