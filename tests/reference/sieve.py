"""Naive dense transcription of the sieve: every matrix formed, written for reading."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
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


def layouts(M: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal coordinates of the weighted samples, longest first; the same of squared length log(1 + lambda / unit).

    The unit is the mean of the eigenvalues above the noise edge.
    """
    values, vectors = np.linalg.eigh(M.T @ np.diag(weights) @ M)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    edge = noise_edge(weights, M.shape[1] - 1)
    unit = values[values > edge].mean() if values.max() > edge else edge
    return vectors * np.sqrt(values), vectors * np.sqrt(np.log(1 + values / unit))


def embedding(points: np.ndarray, k: int, n_neighbors: int, smoothing: float) -> tuple[np.ndarray, np.ndarray]:
    """Leading non-trivial eigenvectors of the smoothed neighbour graph, centred, orthonormal; their eigenvalues."""
    q = len(points)
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros((q, q))
    for t in range(q):
        W[t, np.argsort(distances[t])[:n_neighbors]] = 1.0
    W = np.maximum(W, W.T)
    c = smoothing * W.sum(axis=1).mean()
    W = W + c / q
    D = np.diag(W.sum(axis=1) ** -0.5)
    values, vectors = np.linalg.eigh(D @ W @ D)
    leading = vectors[:, np.argsort(-values)][:, 1 : k + 1]
    return np.linalg.qr(leading - leading.mean(axis=0))[0], np.sort(values)[::-1][1 : k + 1]


def prior(X: np.ndarray) -> np.ndarray:
    """Variance of each feature over itself plus the 90 % quantile of all variances."""
    variances = X.var(axis=0)
    return variances / (variances + np.quantile(variances, 0.9))


def shared(M: np.ndarray) -> np.ndarray:
    """Sum of the squared correlations of each feature with all features."""
    return np.array([sum((m @ other) ** 2 for other in M) for m in M])


def rounds(
    M: np.ndarray,
    weights: np.ndarray,
    k: int,
    n_rounds: int,
    n_neighbors: int,
    smoothing: float,
    centered: bool,
    factors: np.ndarray | float = 1.0,
) -> np.ndarray:
    """Scores after a number of rounds; the means of uncentred features count, by the constant direction.

    The weights of every round but the first are multiplied by `factors`.
    """
    constant = np.ones((M.shape[1], 0 if centered else 1)) / np.sqrt(M.shape[1])
    for _ in range(n_rounds):
        graphs = [(points, *embedding(points, k, n_neighbors, smoothing)) for points in layouts(M, weights)]
        points, Q, values = max(graphs, key=lambda graph: graph[2].sum())
        rng = np.random.default_rng(0)
        clouds = [rng.standard_normal(points.shape) * points.std(axis=0) for _ in range(3)]
        last = max(embedding(cloud, k, n_neighbors, smoothing)[1][-1] for cloud in clouds)
        if values[-1] <= last:
            Q = embedding(points, k - 1, n_neighbors, smoothing)[0]
        scores = agreement(M, np.hstack([constant, Q]))
        weights = np.maximum(scores, 0.0) * factors
    return scores


def pick(M: np.ndarray, quality: np.ndarray, count: int, ridge: float) -> list[int]:
    """Greedy pick by quality times the residual of a ridge regression on the chosen features."""
    chosen: list[int] = []
    for _ in range(count):
        gains = np.full(len(M), -np.inf)
        P = M[chosen].T
        for i in set(range(len(M))) - set(chosen):
            m = M[i]
            fitted = m @ P @ np.linalg.solve(P.T @ P + ridge * np.eye(len(chosen)), P.T @ m) if chosen else 0.0
            gains[i] = quality[i] * (m @ m - fitted)
        chosen.append(int(gains.argmax()))
    return chosen


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


def walks(W: np.ndarray, steps: int, smoothing: float) -> np.ndarray:
    """V V': cosines of where walks of some steps end, without what all share; centred, of largest eigenvalue 1."""
    q = len(W)
    W = W + smoothing * W.sum(axis=1).mean() / q
    D = np.diag(W.sum(axis=1) ** -0.5)
    trivial = np.sqrt(W.sum(axis=1) / W.sum())
    step = D @ W @ D - np.outer(trivial, trivial)
    J = np.eye(q) - 1.0 / q
    ends = J @ np.linalg.matrix_power(step, steps)
    G = ends @ ends.T
    T = J @ (G / np.sqrt(np.outer(np.diag(G), np.diag(G)))) @ J
    return T / np.linalg.eigvalsh(T)[-1]


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


def pick_showing(
    M: np.ndarray, a: np.ndarray, left: list[int], count: int, copy: float, weak: float, share: np.ndarray | None = None
) -> list[int]:
    """Greedy pick by alignment among the features `left`, near-copies after others; a_i = m_i' T m_i, or changed.

    A feature waits while its a_i is below `weak` times the largest one left.

    A share below 1 leaves the rest of a feature's variance to one direction that all features share, and that is
    orthogonal to the samples' own: one further sample that only the unwanted parts see.
    """
    share = np.ones(len(M)) if share is None else share
    a = a * share
    whole = [np.append(np.sqrt(s) * m, 0.0) for m, s in zip(M, share, strict=True)]
    apart = np.append(np.zeros(M.shape[1]), 1.0)
    left, chosen = list(left), []
    while left and len(chosen) < count:
        strong = [i for i in left if a[i] >= weak * max(a[j] for j in left)]
        new = [i for i in strong if all((M[i] @ M[j]) ** 2 < copy for j in chosen)]

        def alignment(i: int) -> float:
            K = sum(np.outer(whole[j], whole[j]) + (1 - share[j]) * np.outer(apart, apart) for j in [*chosen, i])
            return float(sum(a[j] for j in [*chosen, i]) / np.linalg.norm(K))

        chosen.append(max(new or strong, key=alignment))
        left.remove(chosen[-1])
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
