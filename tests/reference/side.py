"""Side data and rounds, written for reading (2004, sections 3 and 4)."""

import numpy as np

from reference.supervised import leading, unit_rows


def side_diagonal(X, side):
    """Variances of the side features after standardising with the main data's mean and deviation."""
    X, side = np.asarray(X, dtype=float), np.asarray(side, dtype=float)
    return ((side - X.mean(axis=0)) / X.std(axis=0)).var(axis=0)


def side_weights(M, D, strength, Q, n_steps=300):
    """Definition 3: alpha = leading eigenvector of (D + lambda I)^-1 G, one orthogonal iteration on Q, in turn."""
    for _ in range(n_steps):
        G = (M @ M.T) * (M @ Q @ Q.T @ M.T)
        values, vectors = np.linalg.eig(G / (D + strength)[:, None])
        weights = np.real(vectors[:, np.argmax(np.real(values))])
        weights = weights / np.linalg.norm(weights) * np.sign(weights.sum())
        Q = np.linalg.qr(M.T @ (weights[:, None] * (M @ Q)))[0]
    return weights, Q, float(np.max(np.real(values)))


def map_rounds(X, n_rounds, k, strength):
    """Rounds whose D adds the squares of earlier weights, each relative to its largest."""
    M = unit_rows(X)
    D = np.zeros(len(M))
    rounds = []
    for _ in range(n_rounds):
        start = np.linalg.eigh(M.T @ ((D + strength)[:, None] ** -0.5 * M))[1][:, -k:]
        weights, Q, _ = side_weights(M, D, strength, start)
        relevance = leading((M @ M.T) * (M @ Q @ Q.T @ M.T))[0]
        rounds.append((weights, relevance, Q))
        D = D + (weights / np.abs(weights).max()) ** 2
    return rounds
