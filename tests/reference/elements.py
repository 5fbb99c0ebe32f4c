"""Naive transcriptions of element selection (Avidan), written for reading: everything dense, nothing cached."""

import itertools

import numpy as np


def masked_kernel(X, B, M, kernel, gamma, degree=3, coef0=0.0):
    """Equation 7: column j sees only the features with M[i, j] = 1; columns without any are left out."""
    columns = []
    for j in np.flatnonzero(M.any(axis=0)):
        rows = np.flatnonzero(M[:, j])
        x, b = X[:, rows], B[j, rows]
        if kernel == "rbf":
            columns.append(np.exp(-gamma * ((x - b) ** 2).sum(axis=1)))
        elif kernel == "poly":
            columns.append((gamma * (x @ b) + coef0) ** degree)
        else:
            columns.append(x @ b)
    return np.stack(columns, axis=1)


def squared_error(design, targets):
    """Squared error of least squares with a constant."""
    A = np.column_stack([np.ones(len(design)), design])
    fitted = A @ np.linalg.lstsq(A, targets, rcond=1e-10)[0]
    return ((targets - fitted) ** 2).sum()


def brute_force_greedy(X, B, targets, n_elements, kernel, gamma, degree=3, coef0=0.0):
    """Algorithm 1 with every element tried by a full least squares. Returns the mask and the errors."""
    targets = targets.reshape(len(X), -1)
    M = np.zeros((X.shape[1], B.shape[0]), dtype=bool)
    start = ((targets - targets.mean(axis=0)) ** 2).sum()
    path, order = [], []
    for _ in range(n_elements):
        best = np.inf
        for j, i in itertools.product(range(B.shape[0]), range(X.shape[1])):
            if M[i, j]:
                continue
            M[i, j] = True
            error = squared_error(masked_kernel(X, B, M, kernel, gamma, degree, coef0), targets)
            M[i, j] = False
            if error < best * (1 - 1e-9):
                best, choice = error, (i, j)
        M[choice] = True
        order.append(choice)
        path.append(best / start)
    return M, order, np.array(path)


def algorithm_one(X, B, alpha, n_elements, gamma):
    """Algorithm 1 as printed, for the RBF kernel. Returns the mask, the weights and |K|^2 left after each element.

    `chooseNextBestElement` tries every element on every sample: what does the masked kernel matrix leave of K?
    """
    M = np.zeros((X.shape[1], B.shape[0]), dtype=bool)
    K = masked_kernel(X, B, ~M, "rbf", gamma)
    expected, path = K @ alpha, []
    for _ in range(n_elements):
        best = np.inf
        for i, j in zip(*np.nonzero(~M), strict=True):
            tried = M.copy()
            tried[i, j] = True
            reduced = masked_kernel(X, B, tried, "rbf", gamma)
            error = ((K - reduced @ np.linalg.pinv(reduced) @ K) ** 2).sum()
            if error < best * (1 - 1e-9):
                best, choice = error, (i, j)
        M[choice] = True
        reduced = masked_kernel(X, B, M, "rbf", gamma)
        K = K - reduced @ np.linalg.pinv(reduced) @ K
        path.append((K**2).sum())
    return M, np.linalg.pinv(reduced) @ expected, np.array(path)


def reduced_set_error(alpha, B, beta, Z, gamma):
    """|Psi - Psi'|^2 in feature space for two RBF expansions (section 2.2)."""

    def kernel(A, C):
        return np.exp(-gamma * ((A[:, None, :] - C[None, :, :]) ** 2).sum(axis=2))

    return alpha @ kernel(B, B) @ alpha - 2 * alpha @ kernel(B, Z) @ beta + beta @ kernel(Z, Z) @ beta
