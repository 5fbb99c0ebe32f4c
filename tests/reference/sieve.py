"""Naive dense transcription of the sieve: every matrix formed, written for reading."""

import numpy as np
from scipy.spatial.distance import cdist


def standardise(X: np.ndarray) -> np.ndarray:
    """Return M: rows are features, centred, of unit norm; constant features are zero."""
    M = X.T - X.T.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(M, axis=1, keepdims=True)
    return M / np.where(norms > 1e-12, norms, np.inf)


def agreement(M: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Sum over pairs of different samples of m_it m_is (VV')_ts."""
    P = V @ V.T
    np.fill_diagonal(P, 0.0)
    return np.array([m @ P @ m for m in M])


def embedding(M: np.ndarray, weights: np.ndarray, k: int, n_neighbors: int, smoothing: float) -> np.ndarray:
    """Leading non-trivial eigenvectors of the smoothed neighbour graph, centred, orthonormal."""
    points = M.T * np.sqrt(weights)
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
    return np.linalg.qr(leading - leading.mean(axis=0))[0]


def rounds(M: np.ndarray, weights: np.ndarray, k: int, n_rounds: int, n_neighbors: int, smoothing: float) -> np.ndarray:
    """Scores after a number of rounds."""
    for _ in range(n_rounds):
        scores = agreement(M, embedding(M, weights, k, n_neighbors, smoothing))
        weights = np.maximum(scores, 0.0)
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
