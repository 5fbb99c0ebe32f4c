"""Naive dense transcription of the papers: n x n and q x q matrices, written for reading.

M is features x samples, as in the papers.
"""

import numpy as np


def standardise(X: np.ndarray, normalize: str) -> np.ndarray:
    """Return M: rows are features, centred and/or of unit norm; constant features are zero."""
    M = X.T.astype(np.float64)
    constant = M.max(axis=1) == M.min(axis=1)
    if normalize == "center":
        M = M - M.mean(axis=1, keepdims=True)
    if normalize != "none":
        norm = np.linalg.norm(M, axis=1, keepdims=True)
        M = M / np.where(norm > 0, norm, 1.0)
    M[constant] = 0.0
    return M


def terms(M: np.ndarray, spectrum: str) -> np.ndarray:
    """Return L_i for every feature: m_i m_i', or its Laplacian with d = max diag(A1) of the equally weighted A."""
    outer = np.einsum("it,iu->itu", M, M)
    if spectrum == "standard":
        return outer
    alive = np.abs(M).sum(axis=1) > 0
    A = outer[alive].sum(axis=0)
    d = A.sum(axis=1).max() / alive.sum()
    identity = np.eye(M.shape[1])
    return np.stack(
        [
            L - np.diag(m * m.sum()) + d * identity if on else np.zeros_like(L)
            for L, m, on in zip(outer, M, alive, strict=True)
        ]
    )


def gram(L: np.ndarray, Q: np.ndarray, criterion: str) -> np.ndarray:
    """Return G: trace(Q' L_i L_j Q); for the gap criterion trace of L_i (2QQ' - I) L_j."""
    LQ = (L @ Q).reshape(len(L), -1)
    flat = L.reshape(len(L), -1)
    return LQ @ LQ.T if criterion == "energy" else 2 * LQ @ LQ.T - flat @ flat.T


def leading(A: np.ndarray, k: int) -> np.ndarray:
    """Return the k eigenvectors of A with the largest |eigenvalue|."""
    values, vectors = np.linalg.eigh(A)
    return vectors[:, np.argsort(-np.abs(values))[:k]]


def start(L: np.ndarray, k: int) -> np.ndarray:
    """Return the leading eigenvectors of the equally weighted affinity."""
    return leading(L.sum(axis=0), k)


def criterion_value(L: np.ndarray, alpha: np.ndarray, k: int, criterion: str) -> float:
    """Return the criterion for the best Q, from all eigenvalues."""
    squares = np.sort(np.linalg.eigvalsh(np.tensordot(alpha, L, 1)) ** 2)[::-1]
    return float(squares[:k].sum() - (squares[k:].sum() if criterion == "gap" else 0.0))


def basic(
    L: np.ndarray, Q: np.ndarray, criterion: str, *, max_iter: int = 20000, tol: float = 1e-12
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Return alpha, Q and the criterion's history: exact alpha for Q and exact Q for alpha, in turn, to the end."""
    k = Q.shape[1]
    alpha = np.zeros(len(L))
    history = []
    for _ in range(max_iter):
        values, vectors = np.linalg.eigh(gram(L, Q, criterion))
        new = vectors[:, -1] * (1.0 if vectors[:, -1].sum() >= 0 else -1.0)
        history.append(float(values[-1]))
        moved = np.linalg.norm(new - alpha)
        alpha = new
        Q = leading(np.tensordot(alpha, L, 1), k)
        if moved < tol:
            break
    return alpha, Q, history


def moving_laplacian(
    M: np.ndarray, Q: np.ndarray, n_steps: int, *, printed: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Definition 5 of the 2005 paper from equal weights: return alpha and Q after some steps.

    d is max diag(A1) / sum(alpha); as printed it is max diag(A) / sum(alpha).
    """

    def largest(alpha: np.ndarray) -> float:
        weighted = np.tensordot(alpha, A, 1)
        return (np.diag(weighted) if printed else weighted.sum(axis=1)).max() / alpha.sum()

    A = np.einsum("it,iu->itu", M, M)
    plain = A - np.stack([np.diag(m * m.sum()) for m in M])
    alpha = np.full(len(M), 1 / np.sqrt(len(M)))
    identity = np.eye(M.shape[1])
    for _ in range(n_steps):
        alpha = np.linalg.eigh(gram(plain + largest(alpha) * identity, Q, "energy"))[1][:, -1]
        alpha = alpha * (1.0 if alpha.sum() >= 0 else -1.0)
        Q = np.linalg.qr(np.tensordot(alpha, plain + largest(alpha) * identity, 1) @ Q)[0]
    return alpha, Q
