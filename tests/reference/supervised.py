"""Labels, all or some, written for reading: dense matrices, one formula a line."""

import numpy as np


def unit_rows(X, *, center=True):
    M = np.asarray(X, dtype=float).T
    if center:
        M = M - M.mean(axis=1, keepdims=True)
    return M / np.linalg.norm(M, axis=1, keepdims=True)


def leading(G):
    values, vectors = np.linalg.eigh((G + G.T) / 2)
    weights = vectors[:, -1]
    return weights * (1 if weights.sum() >= 0 else -1), values[-1]


def centred_indicators(y):
    """Orthonormal basis of the centred class indicators."""
    indicators = (np.asarray(y)[:, None] == np.unique(y)).astype(float)
    indicators -= indicators.mean(axis=0)
    basis, size, _ = np.linalg.svd(indicators, full_matrices=False)
    return basis[:, size > 1e-9]


def span_weights(X, y, *, center=True):
    """Leading eigenvector of G_ij = (m_i'm_j)(m_i'QQ'm_j) with Q the centred class indicators."""
    M, Q = unit_rows(X, center=center), centred_indicators(y)
    return leading((M @ M.T) * (M @ Q @ Q.T @ M.T))


def block_gram(M, y, Q, gamma):
    """G = sum_l G^ll - gamma sum_{g != h} G^gh, G^gh_ij = (m_i^g'm_j^g)(m_i^h'Q^gh Q^gh'm_j^h) (2005, section 3.1)."""
    G = np.zeros((len(M), len(M)))
    for g in np.unique(y):
        for h in np.unique(y):
            Mg, Mh = M[:, y == g], M[:, y == h]
            block = (Mg @ Mg.T) * (Mh @ Q[g, h] @ Q[g, h].T @ Mh.T)
            G += block if g == h else -gamma * block
    return G


def block_embeddings(M, y, weights, within, across):
    """Q^gh: leading right singular vectors of A^gh = M^g' diag(w) M^h."""
    Q = {}
    for g in np.unique(y):
        for h in np.unique(y):
            A = M[:, y == g].T @ (weights[:, None] * M[:, y == h])
            Q[g, h] = np.linalg.svd(A)[2].T[:, : within if g == h else across]
    return Q


def block_weights(X, y, *, gamma=0.5, within=2, across=1, n_steps=200):
    """Alternate exact weights and exact Q^gh."""
    M = unit_rows(X, center=False)
    weights = np.ones(len(M)) / np.sqrt(len(M))
    for _ in range(n_steps):
        Q = block_embeddings(M, y, weights, within, across)
        weights, value = leading(block_gram(M, y, Q, gamma))
    return weights, value


def anchored_value(X, y, weights, U, share):
    """trace(Q'A^2Q) for Q = [sqrt(s) C; sqrt(1 - s) U], labelled rows first in the formula, where they are in Q."""
    M = unit_rows(X)
    known = y != -1
    C = centred_indicators(y[known])
    Q = np.zeros((len(y), C.shape[1]))
    Q[known] = np.sqrt(share) * C
    Q[~known] = np.sqrt(1 - share) * U
    A = M.T @ (weights[:, None] * M)
    return np.trace(Q.T @ A @ A @ Q), Q
