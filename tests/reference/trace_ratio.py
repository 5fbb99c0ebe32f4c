"""Nie et al. 2008, transcribed densely and slowly for reading: graphs, diagonals, brute force."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def laplacian(A: Matrix) -> Matrix:
    """L = D - A with D the diagonal of the row sums."""
    return np.diag(A.sum(axis=1)) - A


def fisher_graphs(y: NDArray) -> tuple[Matrix, Matrix]:
    """A_w and A_b of equations (10) and (11)."""
    n = len(y)
    A_w = np.zeros((n, n))
    A_b = np.zeros((n, n))
    for i in range(n):
        n_c = np.sum(y == y[i])
        for j in range(n):
            same = y[i] == y[j]
            A_w[i, j] = 1 / n_c if same else 0
            A_b[i, j] = 1 / n - 1 / n_c if same else 1 / n
    return A_w, A_b


def heat_graph(X: Matrix, k: int, t: float | None = None) -> Matrix:
    """A_w of equation (12): heat weights between k nearest neighbours, in either direction."""
    n = len(X)
    squared = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    near = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = [j for j in np.argsort(squared[i], kind="stable") if j != i]
        near[i, others[:k]] = True
    if t is None:
        t = squared[near].mean()
    return np.where(near | near.T, np.exp(-squared / t), 0.0)


def laplacian_between(A_w: Matrix) -> Matrix:
    """A_b of equation (13): D_w 1 1' D_w / (1' D_w 1)."""
    d = A_w.sum(axis=1)
    return np.outer(d, d) / d.sum()


def diagonals(X: Matrix, A_w: Matrix, A_b: Matrix) -> tuple[Matrix, Matrix]:
    """Diagonals of B = X L_b X' and E = X L_w X' (X here is samples x features)."""
    B = X.T @ laplacian(A_b) @ X
    E = X.T @ laplacian(A_w) @ X
    return np.diag(B).copy(), np.diag(E).copy()


def ratio(between: float, within: float) -> float:
    """Equation (8) for given sums: perfect without within scatter, worthless without any."""
    if within == 0:
        return np.inf if between > 0 else -np.inf
    return between / within


def brute_force(b: Matrix, e: Matrix) -> dict[int, float]:
    """The best score of every size m, over all 2^n subsets (one row of `members` each)."""
    n = len(b)
    members = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    scores = np.array([ratio(top, bottom) for top, bottom in zip(members @ b, members @ e, strict=True)])
    sizes = members.sum(axis=1)
    return {m: scores[sizes == m].max() for m in range(1, n + 1)}


def table_2(b: Matrix, e: Matrix, m: int, start: list[int]) -> tuple[list[int], list[float]]:
    """The paper's algorithm (Table 2) as printed: chosen features and every lambda."""
    chosen = list(start)
    lambdas = [b[chosen].sum() / e[chosen].sum()]
    while True:
        score_2 = b - lambdas[-1] * e
        chosen = sorted(np.argsort(-score_2, kind="stable")[:m].tolist())
        new = b[chosen].sum() / e[chosen].sum()
        if new <= lambdas[-1]:
            return chosen, lambdas
        lambdas.append(new)
