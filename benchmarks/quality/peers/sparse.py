"""Row-sparse regression onto pseudo classes. The features with the largest rows come first.

Regularisers are the papers' middle values. Matrices of features x features are never made: their inverses are applied
through matrices of samples x samples.
"""

import numpy as np
from scipy.linalg import lu_factor, lu_solve, solve
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from eigensieve.graphs import knn_graph

_NEIGHBOURS = 5
_ORTHOGONAL = 1e8  # weight of the penalty that keeps the columns of the indicator apart
_TINY = 1e-12


def ndfs(X, n_clusters, count, seed, y, alpha=1.0, beta=1.0, rounds=30):
    """NDFS (Li, Yang, Liu, Zhou and Lu 2012): non-negative spectral clusters F, and W with F near XW.

    Minimises tr(F'LF) + alpha (|F - XW|^2 + beta |W|_2,1) for F of at least 0 with F'F = 1, L the normalised Laplacian.
    """
    A = X - X.mean(axis=0)
    W = knn_graph(X, _NEIGHBOURS).toarray()
    root = np.sqrt(W.sum(axis=1))
    L = np.eye(len(A)) - W / np.outer(root, root)
    F = _indicator(A, n_clusters, seed)
    lengths = np.ones(A.shape[1])
    for _ in range(rounds):
        rows, coefficients = _ridge(A, F, np.ones(len(A)), lengths, beta)
        M = L + alpha * (np.eye(len(A)) - rows)
        F *= (_ORTHOGONAL * F) / np.maximum(M @ F + _ORTHOGONAL * F @ (F.T @ F), _TINY)
        F /= np.maximum(np.linalg.norm(F, axis=0), _TINY)
        lengths = np.maximum(2.0 * np.linalg.norm(coefficients, axis=1), _TINY)
    return np.argsort(-lengths, kind="stable")


def udfs(X, n_clusters, count, seed, y, gamma=0.1, scatter=1000.0, rounds=20):
    """UDFS (Yang, Shen, Ma, Huang and Zhou 2011): minimises tr(W'MW) + gamma |W|_2,1 for W'W = 1.

    M = X'LX holds the local scatter. W, the eigenvectors of the least eigenvalues of M + gamma D, is found by inverse
    iteration.
    """
    A = X - X.mean(axis=0)
    L = _local_scatter(A, scatter)
    W = np.linalg.qr(np.random.default_rng(seed).standard_normal((A.shape[1], n_clusters)))[0]
    inverse = np.ones(A.shape[1])
    for _ in range(rounds):
        W = _least_eigenvectors(A, L, gamma, inverse, W)
        inverse = np.maximum(2.0 * np.linalg.norm(W, axis=1), _TINY)
    return np.argsort(-inverse, kind="stable")


def rufs(X, n_clusters, count, seed, y, alpha=1.0, beta=1.0, nu=1.0, rounds=30):
    """RUFS (Qian and Zhai 2013): robust clusters G of at least 0, G'G = 1, and W with XW near G.

    Minimises |X - GC|_2,1 + nu tr(G'LG) + alpha |XW - G|_2,1 + beta |W|_2,1, L that of local learning. C has any sign,
    as centred data do. Multiplicative steps on reweighted squares take the place of the paper's limited-memory ones.
    """
    A = X - X.mean(axis=0)
    L = _local_learning(A)
    G = _indicator(A, n_clusters, seed)
    lengths, fit, near = np.ones(A.shape[1]), np.ones(len(A)), np.ones(len(A))
    for _ in range(rounds):
        C = np.linalg.lstsq(G.T @ (fit[:, None] * G), G.T @ (fit[:, None] * A), rcond=None)[0]
        coefficients = _ridge(A, G, near, lengths, beta / alpha)[1]
        goal = A @ coefficients
        square, cross = C @ C.T, A @ C.T
        up = fit[:, None] * (G @ _positive(-square) + _positive(cross)) + nu * (_positive(-L) @ G)
        up += alpha * near[:, None] * _positive(goal) + _ORTHOGONAL * G
        down = fit[:, None] * (G @ _positive(square) + _positive(-cross)) + nu * (_positive(L) @ G)
        down += alpha * near[:, None] * (G + _positive(-goal)) + _ORTHOGONAL * G @ (G.T @ G)
        G *= up / np.maximum(down, _TINY)
        G /= np.maximum(np.linalg.norm(G, axis=0), _TINY)
        fit = 0.5 / np.maximum(np.linalg.norm(A - G @ C, axis=1), _TINY)
        near = 0.5 / np.maximum(np.linalg.norm(goal - G, axis=1), _TINY)
        lengths = np.maximum(2.0 * np.linalg.norm(coefficients, axis=1), _TINY)
    return np.argsort(-lengths, kind="stable")


def _positive(M: np.ndarray) -> np.ndarray:
    return np.maximum(M, 0.0)


def _indicator(A: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """The classes of k-means as columns of length 1, a little above 0 everywhere."""
    labels = KMeans(n_clusters, n_init=1, random_state=seed).fit_predict(A)
    F = (labels[:, None] == np.arange(n_clusters)).astype(float)
    return F / np.maximum(np.sqrt(F.sum(axis=0)), 1.0) + 0.02


def _ridge(A, F, weights, lengths, beta):
    """Minimise sum_t weights_t |f_t - a_t W|^2 + beta sum_i |w_i|^2 / lengths_i.

    Returns the matrix that turns F into AW, and W.
    """
    K = (A * lengths) @ A.T
    inner = solve(K + np.diag(beta / weights), np.eye(len(A)), assume_a="pos")
    return K @ inner, lengths[:, None] * (A.T @ (inner @ F))


def _neighbours(A: np.ndarray) -> np.ndarray:
    k = min(_NEIGHBOURS, len(A) - 1)
    return NearestNeighbors(n_neighbors=k).fit(A).kneighbors(return_distance=False)


def _local_scatter(A: np.ndarray, scatter: float) -> np.ndarray:
    """Sum of H (B'B + scatter)^-1 H over the neighbourhoods, B their centred samples."""
    L = np.zeros((len(A), len(A)))
    for i, others in enumerate(_neighbours(A)):
        near = np.append(others, i)
        H = np.eye(len(near)) - 1.0 / len(near)
        B = H @ A[near]
        L[np.ix_(near, near)] += H @ np.linalg.inv(B @ B.T + scatter * np.eye(len(near))) @ H
    return L


def _local_learning(A: np.ndarray) -> np.ndarray:
    """(1 - P)'(1 - P), P the prediction of each sample by ridge regression from its neighbours, in cosines."""
    U = A / np.maximum(np.linalg.norm(A, axis=1), _TINY)[:, None]
    P = np.zeros((len(A), len(A)))
    for i, near in enumerate(_neighbours(A)):
        P[i, near] = np.linalg.solve(U[near] @ U[near].T + np.eye(len(near)), U[near] @ U[i])
    rest = np.eye(len(A)) - P
    return rest.T @ rest


def _least_eigenvectors(A, L, gamma, inverse, W, steps=20):
    """Inverse iteration for the least eigenvectors of A'LA + gamma D, 1 / D = inverse, from W on."""
    B = inverse[:, None] * A.T
    factor = lu_factor(gamma * np.eye(len(A)) + L @ (A @ B))
    for _ in range(steps):
        V = inverse[:, None] * W
        W = np.linalg.qr((V - B @ lu_solve(factor, L @ (A @ V))) / gamma)[0]
    return W
