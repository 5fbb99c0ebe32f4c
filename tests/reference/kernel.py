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
