"""The papers' own algorithms (2005, sections 3 to 5): exact half-steps for weights and embedding in turn."""

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigensieve._types import BoolArray, DType, FloatArray
from eigensieve.operators import SymmetricOperator, leading_eigenvectors
from eigensieve.qalpha.checkpoint import Checkpoint
from eigensieve.qalpha.problem import Problem, Result, SolveSettings, Status, finish

_DENSE = 40  # up to this many features the matrix is formed: ARPACK needs room

Step = Callable[[Problem, FloatArray, FloatArray], tuple[FloatArray, float, FloatArray]]
"""step(problem, weights, Q) -> weights, criterion, Q."""


def alternate(
    problem: Problem, Q: FloatArray, settings: SolveSettings, checkpoint: Checkpoint | None = None, *, step: Step
) -> Result:
    """Repeat ``weights, value, Q = step(problem, weights, Q)`` until weights and criterion settle. Only steps that do
    not lower the criterion are accepted. The first that would lower it (by rounding) ends the search. If the d of the
    Laplacian moves, the criterion is another one in every step, and all steps are accepted."""
    first_pass = problem.n_passes
    weights = problem.starting_weights()
    history: list[float] = []
    status: Status = "max_iter"
    n_iter = 0
    stored = None if checkpoint is None else checkpoint.load()
    if stored is not None:
        small, features = stored
        weights = problem.affinity.data.collect(features["weights"])
        Q, history = small["Q"], small["history"].tolist()
        n_iter, status = int(small["n_iter"]), str(small["status"])  # type: ignore[assignment]  # a Status, saved below
    while status == "max_iter" and n_iter < settings.max_iter:
        n_iter += 1
        new, value, new_Q = step(problem.moved(weights), weights, Q)
        if history and value < history[-1] and settings.shift == "fixed":
            status = "precision"
            break
        change = float(np.linalg.norm(new - weights * np.sign(new @ weights)))
        gain = value - history[-1] if history else np.inf
        history.append(value)
        weights, Q = new, new_Q
        settings.progress(f"step {n_iter}: criterion {problem.unit * value:.6g}, weights moved {change:.1e}")
        if change <= settings.tol and gain <= settings.tol**2 * abs(value):
            status = "converged"
        if checkpoint is not None:
            small = {"Q": Q, "history": history, "n_iter": n_iter, "status": status}
            checkpoint.save(n_iter, small, {"weights": weights})
    LQ = problem.moved(weights).affinity.apply(weights, Q)
    return finish(problem, weights, Q, LQ, history, n_iter, first_pass, status)


def basic_step(problem: Problem, weights: FloatArray, Q: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """The leading eigenvector of G, then the k leading eigenvectors of L(w). Both are exact."""
    weights, value = _best_weights(problem, Q, weights)
    if problem.fixed_embedding is None:
        Q = leading_eigenvectors(problem.affinity, weights, problem.n_clusters, rtol=1e-12, max_blocks=10**6)[1]
    return weights, value, Q


def power_step(problem: Problem, weights: FloatArray, Q: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Definition 2, power-embedded, with QQ' for the printed Q'Q: one orthogonal iteration, Q R = L(w) Q. Definition 5
    is the same for the Laplacian; the d that it moves is that of the new weights in the iteration."""
    weights, value = _best_weights(problem, Q, weights)
    if problem.fixed_embedding is None:
        Q = np.linalg.qr(problem.moved(weights).affinity.apply(weights, Q))[0]
    return weights, value, Q


def ritz_step(problem: Problem, weights: FloatArray, Q: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Definition 4, corrected G: a power step, the best weights for the new subspace, Q turned to its Ritz vectors."""
    weights, value, Q = power_step(problem, weights, Q)
    if problem.fixed_embedding is not None:
        return weights, value, Q
    weights, value = _best_weights(problem, Q, weights)
    S = Q.T @ problem.affinity.apply(weights, Q)
    return weights, value, Q @ np.linalg.eigh((S + S.T) / 2)[1][:, ::-1]


class ProblemGram(SymmetricOperator):
    """G, whose leading eigenvector is the weight vector of a problem for a fixed Q (2005, section 3).

    G_ij = trace(Q' L_i L_j Q) - tau trace(L_i L_j) - B_ij / unit. For the standard spectrum the first two are
    (m_i'm_j) m_i'(QQ' - tau I)m_j; tau = 0 is the energy criterion and tau = 1/2 half of the gap criterion. With
    Y = L(w) Q, (G w)_i = <L_i, Y Q'> - tau <L_i, L(w)> - (B w)_i / unit. The first term takes two passes over the data
    and O(nqk) work, the second O(nq^2).
    """

    def __init__(self, problem: Problem, Q: FloatArray) -> None:
        super().__init__(problem.n_features)
        self.problem = problem
        self.Q = Q

    def matvec(self, vector: FloatArray) -> FloatArray:
        affinity = self.problem.affinity
        energy = affinity.gradient(affinity.apply(vector, self.Q), self.Q)
        return energy - self.problem.subtracted(vector) if self.problem.subtracts else energy


def _best_weights(problem: Problem, Q: FloatArray, guess: FloatArray) -> tuple[FloatArray, float]:
    """Return the leading eigenvector of G for fixed Q, and its eigenvalue: the criterion."""
    weights, value = leading_vector(ProblemGram(problem, Q), problem.usable, guess, problem.affinity.data.dtype)
    if problem.subtracts:
        rounding = 50 * float(np.finfo(problem.affinity.data.dtype).eps)
        most = max(abs(value), abs(float(guess @ problem.subtracted(guess))))
        energy = float(np.sum(problem.affinity.apply(weights, Q) ** 2))
        problem.refuse_vanishing(value, max(energy, abs(value)), most, rounding)
    return weights, value


class _Part(SymmetricOperator):
    """The rows and columns of G for the features that may have weight. The others have zeros in G. Where no weights
    raise the criterion above zero, they would be the best."""

    def __init__(self, G: SymmetricOperator, usable: BoolArray) -> None:
        super().__init__(int(np.count_nonzero(usable)))
        self.G = G
        self.usable = usable

    def whole(self, vector: FloatArray) -> FloatArray:
        """Return the vector, or the columns, with zeros for the other features."""
        out = np.zeros((len(self.usable), *vector.shape[1:]))
        out[self.usable] = vector
        return out

    def matvec(self, vector: FloatArray) -> FloatArray:
        product: FloatArray = self.G.matvec(self.whole(vector))[self.usable]
        return product


def leading_vector(
    G: SymmetricOperator, usable: BoolArray, guess: FloatArray, dtype: DType
) -> tuple[FloatArray, float]:
    """Return the eigenvector of the largest eigenvalue and that eigenvalue, to the precision of the data's type."""
    try:
        values, vectors = leading_vectors(G, usable, 1, guess, float(np.finfo(dtype).eps) ** 0.75)
    except ArpackNoConvergence:
        return guess, float(guess @ G.matvec(guess))
    return vectors[:, 0], float(values[0])


def leading_vectors(
    G: SymmetricOperator, usable: BoolArray, count: int, guess: FloatArray, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues, decreasing, and their eigenvectors, which are zero where not `usable`."""
    part = _Part(G, usable)
    if part.size <= _DENSE:
        dense = part.to_dense()
        values, vectors = np.linalg.eigh((dense + dense.T) / 2)
    else:
        operator = LinearOperator((part.size, part.size), matvec=part.matvec, dtype=np.float64)
        values, vectors = eigsh(operator, k=count, which="LA", v0=guess[usable], tol=tolerance)
    order = np.argsort(-values)[:count]
    return values[order], part.whole(vectors[:, order])
