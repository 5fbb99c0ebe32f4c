"""The sieve with a target, written for reading: dense, one formula per line, nothing shared with the library."""

import numpy as np


def standardised(X: np.ndarray) -> np.ndarray:
    Z = X - X.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    return Z / np.where(norms > 0, norms, 1.0)


def class_basis(codes: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the centred class indicators."""
    indicators = (codes[:, None] == np.unique(codes)).astype(float)
    vectors, lengths, _ = np.linalg.svd(indicators - indicators.mean(axis=0), full_matrices=False)
    return vectors[:, lengths > 1e-9]


def agreement(Z: np.ndarray, T: np.ndarray) -> np.ndarray:
    """m'(TT' - diag(TT'))m per column m of Z."""
    S = T @ T.T
    np.fill_diagonal(S, 0.0)
    return np.array([m @ S @ m for m in Z.T])


def squares(Z: np.ndarray) -> np.ndarray:
    """z^2 per column, orthogonal to the constant and to z, of unit norm."""
    out = np.zeros_like(Z)
    for i, z in enumerate(Z.T):
        fixed = np.column_stack([np.ones(len(z)), z])
        rest = z**2 - fixed @ np.linalg.lstsq(fixed, z**2, rcond=None)[0]
        if np.linalg.norm(rest) > 1e-6 / len(z):
            out[:, i] = rest / np.linalg.norm(rest)
    return out


def class_columns(codes: np.ndarray) -> np.ndarray:
    """Centred class indicators of length 1."""
    return standardised((codes[:, None] == np.unique(codes)).astype(float))


def pick(
    Z: np.ndarray,
    T: np.ndarray,
    Y: np.ndarray,
    count: int,
    share: float = 0.0,
    ridge: float = 1.0,
    scale: np.ndarray | float = 1.0,
) -> list[int]:
    """Greedy: the feature's agreement with T, times `scale`, times its agreement with what is left of each column of
    Y; every ridge regression is solved anew."""
    views = [(Z, 1.0)] + ([(squares(Z), share)] if share else [])
    u = scale * sum(w * np.maximum(agreement(V, T), 0.0) for V, w in views)
    chosen: list[int] = []
    for _ in range(count):
        P = np.hstack([np.sqrt(w) * V[:, chosen] for V, w in views])
        left = Y - P @ np.linalg.solve(P.T @ P + ridge * np.eye(P.shape[1]), P.T @ Y)
        gain = u * sum(w * np.maximum(agreement(V, column[:, None]), 0.0) for V, w in views for column in left.T)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
    return chosen


def guessed(Z: np.ndarray, labelled: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Two rounds of kernel ridge regression on the labelled samples; the target of all samples."""
    Y = (codes[labelled][:, None] == np.unique(codes[labelled])).astype(float)
    w = np.ones(Z.shape[1])
    for _ in range(2):
        A = (Z * w) @ Z.T
        All = A[np.ix_(labelled, labelled)]
        ridge = 0.1 * np.trace(All) / len(labelled)
        F = Y.mean(axis=0) + A[:, labelled] @ np.linalg.inv(All + ridge * np.eye(len(labelled))) @ (Y - Y.mean(axis=0))
        S = np.exp(8.0 * F)
        S /= S.sum(axis=1, keepdims=True)
        S[labelled] = Y
        S /= np.sqrt(S.sum(axis=0))
        vectors, lengths, _ = np.linalg.svd(S - S.mean(axis=0), full_matrices=False)
        T = (vectors * lengths / lengths[0])[:, lengths > 1e-6 * lengths[0]]
        w = np.maximum(agreement(Z, T), 0.0)
    return T
