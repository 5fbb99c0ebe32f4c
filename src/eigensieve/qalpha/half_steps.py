"""The exact half-steps the papers' algorithms are made of, and the loop they share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from eigensieve._progress import Progress
from eigensieve._types import Array
from eigensieve.operators import FeatureGram, SymmetricOperator
from eigensieve.qalpha.checkpoint import Checkpoint
from eigensieve.qalpha.problem import Problem, Result, Status, finish

_DENSE = 40  # below this many features the matrix is formed: ARPACK needs room


class ProblemGram(SymmetricOperator):
    """The matrix whose leading eigenvector is the weight vector of a problem for a fixed Q.

    Notes
    -----
    G - K, where w'Gw = trace(Q' L(w)^2 Q) and w'Kw is what the problem subtracts.

    Parameters
    ----------
    problem : Problem
    Q : ndarray of shape (n_samples, n_clusters)
    """

    def __init__(self, problem: Problem, Q: Array) -> None:
        super().__init__(problem.n_features)
        self.problem = problem
        self.energy = FeatureGram(problem.affinity, Q)

    def matvec(self, vector: Array) -> Array:
        product = self.energy.matvec(vector)
        return product - self.problem.subtracted(vector) if self.problem.subtracts else product


def best_weights(problem: Problem, Q: Array, guess: Array) -> tuple[Array, float]:
    """Return the leading eigenvector of G for fixed Q, and its eigenvalue: the criterion."""
    return leading_vector(ProblemGram(problem, Q), guess, problem.affinity.data.dtype)


def leading_vector(G: SymmetricOperator, guess: Array, dtype: Any) -> tuple[Array, float]:
    """Return the eigenvector of the largest eigenvalue and that eigenvalue, to the precision of the data's type."""
    if G.size <= _DENSE:
        dense = G.to_dense()
        values, vectors = np.linalg.eigh((dense + dense.T) / 2)
        return vectors[:, -1], float(values[-1])
    tolerance = float(np.finfo(dtype).eps) ** 0.75
    try:
        values, vectors = eigsh(G.as_linear_operator(), k=1, which="LA", v0=guess, tol=tolerance)
    except ArpackNoConvergence as error:
        if not len(error.eigenvalues):
            return guess, float(guess @ G.matvec(guess))
        values, vectors = error.eigenvalues, error.eigenvectors
    return vectors[:, 0], float(values[0])


def alternate(
    problem: Problem,
    Q: Array,
    *,
    step: Callable[[Problem, Array, Array], tuple[Array, float, Array]],
    max_iter: int,
    tol: float,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
) -> Result:
    """Repeat ``weights, value, Q = step(problem, weights, Q)`` until weights and criterion settle.

    Only steps that do not lower the criterion are accepted; the first that would (by rounding) ends the
    search.
    """
    first_pass = problem.n_passes
    weights = problem.starting_weights()
    history: list[float] = []
    status: Status = "max_iter"
    n_iter = 0
    stored = None if checkpoint is None else checkpoint.load()
    if stored is not None:
        small, features = stored
        weights, Q, history = (
            problem.affinity.data.collect(features["weights"]),
            small["Q"],
            small["history"].tolist(),
        )
        n_iter, status = int(small["n_iter"]), str(small["status"])  # type: ignore[assignment]
    while status == "max_iter" and n_iter < max_iter:
        n_iter += 1
        new, value, new_Q = step(problem, weights, Q)
        if history and value < history[-1]:
            status = "precision"
            break
        change = float(np.linalg.norm(new - weights * np.sign(new @ weights)))
        gain = value - history[-1] if history else np.inf
        history.append(value)
        weights, Q = new, new_Q
        progress(f"step {n_iter}: criterion {problem.unit * value:.6g}, weights moved {change:.1e}")
        if change <= tol and gain <= tol**2 * abs(value):
            status = "converged"
        if checkpoint is not None:
            small = {"Q": Q, "history": history, "n_iter": n_iter, "status": status}
            checkpoint.save(n_iter, small, {"weights": weights})
    LQ = problem.affinity.apply(weights, Q)
    return finish(problem, weights, Q, LQ, history, n_iter, first_pass, status)
