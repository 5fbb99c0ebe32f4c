"""Kernel Q-alpha as printed, with the last step corrected (2005, Definition 14)."""

import numpy as np


def kernel_q_alpha(V, E, n_steps=300):
    """Weights from V alone; the mapped features and Q = M'E are never formed."""
    for _ in range(n_steps):
        G = V * (V @ E @ E.T @ V)
        values, vectors = np.linalg.eigh((G + G.T) / 2)
        weights = vectors[:, -1] * (1 if vectors[:, -1].sum() >= 0 else -1)
        DVE = weights[:, None] * (V @ E)
        R = np.linalg.cholesky(DVE.T @ V @ DVE).T
        E = DVE @ np.linalg.inv(R)
    return weights, values[-1], E


def eigen_start(V, k):
    """E with M'E the leading eigenvectors of M'M: V = U diag(s) U', E = U_k diag(s_k)^-1/2."""
    values, vectors = np.linalg.eigh(V)
    return vectors[:, -k:] / np.sqrt(values[-k:])


def known_step(V, P, *, gap=False, D=None, B=0.0, fixed=False):
    """One cycle with all that may be known: G, the weights, and P = M Q for the new Q.

    alpha is the leading eigenvector of (D + lambda I)^-1 (G - lambda B); `D` is D + lambda I, `B` is lambda B. Q are
    the leading eigenvectors of A = M' diag(alpha) M: with V = H H, those of H diag(alpha) H.
    """
    G = V * (2 * P @ P.T - V) if gap else V * (P @ P.T)
    quotient = np.ones(len(V)) if D is None else D
    values, vectors = np.linalg.eig((G - B) / quotient[:, None])
    alpha = np.real(vectors[:, np.argmax(np.real(values))])
    alpha = alpha / np.linalg.norm(alpha) * np.sign(alpha.sum())
    if not fixed:
        sizes, U = np.linalg.eigh((V + V.T) / 2)
        H = U @ np.diag(np.sqrt(np.maximum(sizes, 0.0))) @ U.T
        energies, Q = np.linalg.eigh(H @ np.diag(alpha) @ H)
        P = H @ Q[:, np.argsort(-np.abs(energies))[: P.shape[1]]]
    return G, alpha, P


def label_projections(k, M, y):
    """P = M Q for the span of the mapped centred class indicators: K_mc (K_cc)^-1/2."""
    C = np.array([(y == label).astype(float) - np.mean(y == label) for label in np.unique(y)])
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(k(C, C))
    kept = values > 1e-10 * values[-1]
    return k(M, C) @ vectors[:, kept] / np.sqrt(values[kept])
