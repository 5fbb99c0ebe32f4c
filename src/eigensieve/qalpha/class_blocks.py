"""The papers' supervised criterion: class blocks of the affinity (2005, section 3.1).

maximise  sum_l |A^ll Q^ll|^2 - gamma sum_{g != h} |A^gh Q^gh|^2,   A^gh = sum_i w_i m_i^g m_i^h'

where m_i^g is feature i on the samples of class g. Eigenvalue energy within classes is wanted, energy across classes is
not. (The 2005 text has the words "inter" and "intra" exchanged.)
"""

import numpy as np

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.operators import Affinity, SymmetricOperator, leading_eigenvectors
from eigensieve.qalpha.alternating import leading_vector
from eigensieve.qalpha.knowledge.pairs import PairPenalty
from eigensieve.qalpha.problem import Problem, Result, SolveSettings, Status, finish

_GAMMA = 0.5  # weight of the energy across classes, as printed
_WITHIN, _ACROSS = 2, 1  # k of a block within a class, and of one across two classes, as printed
_START_STEPS = 10  # orthogonal iterations before the first weights are sought
_PATIENCE = 15  # steps with neither a larger criterion nor a smaller move of the weights that end the search


class BlockGram(SymmetricOperator):
    """G = sum_l G^ll - gamma sum_{g != h} G^gh, where w'G^gh w = |A^gh Q^gh|^2; two passes for any number of blocks.
    All Q^gh are columns over all samples, zero outside class h. With Y = A Q, zero outside the rows of class g
    (`rows`), (G w)_i = sum over columns of sign (m_i'Y)(m_i'Q). `signs` is 1 within a class, -gamma across."""

    def __init__(
        self, affinity: Affinity, Q: FloatArray, rows: BoolArray, signs: FloatArray, penalty: PairPenalty | None = None
    ) -> None:
        super().__init__(affinity.n_features)
        self.affinity = affinity
        self.Q = Q
        self.rows = rows
        self.signs = signs
        self.penalty = penalty

    def matvec(self, vector: FloatArray) -> FloatArray:
        Y = np.where(self.rows, self.affinity.apply(vector, self.Q), 0.0)
        product = self.affinity.gradient(Y * self.signs, self.Q)
        return product if self.penalty is None else product - self.penalty.product(vector)


def solve_blocks(problem: Problem, codes: IntArray, settings: SolveSettings) -> Result:
    """Alternate the leading eigenvector of G and one orthogonal iteration on every Q^gh, until weights move by `tol`.

    The `n_clusters` leading eigenvectors of A(w) are reported. As in the paper ("Q^gh is computed using the current
    estimates"), Q^gh follows the leading directions of A^gh, although across classes the criterion would want the
    opposite. So the value need not rise, and the weights may wander for ever, where rounding decides. Such a search is
    ended, and the best weights that it has seen are kept.
    """
    first_pass = problem.n_passes
    Q, rows, columns, signs = _arrange(codes)
    weights = problem.starting_weights()
    for _ in range(_START_STEPS):
        Q = _iterate(problem.affinity, weights, Q, rows, columns)
    history: list[float] = []
    status: Status = "max_iter"
    n_iter = record = 0
    best, least = (-np.inf, weights), np.inf
    for n_iter in range(1, settings.max_iter + 1):
        gram = BlockGram(problem.affinity, Q, rows, signs, problem.penalty)
        new, value = leading_vector(gram, problem.usable, weights, problem.affinity.data.dtype)
        change = float(np.linalg.norm(new - weights * (1.0 if new @ weights >= 0 else -1.0)))
        weights = new
        history.append(value)
        settings.progress(f"step {n_iter}: criterion {value:.6g}, weights moved {change:.1e}")
        if change <= settings.tol:
            status = "converged"
            break
        if value > best[0] or change < least:
            record = n_iter
        best = max(best, (value, weights), key=lambda point: point[0])
        least = min(least, change)
        if n_iter - record >= _PATIENCE:
            status = "wandering"
            break
        Q = _iterate(problem.affinity, weights, Q, rows, columns)
    if status != "converged":
        weights = best[1]
        history.append(best[0])
    embedding = leading_eigenvectors(problem.affinity, weights, problem.n_clusters)[1]
    LQ = problem.affinity.apply(weights, embedding)
    return finish(problem, weights, embedding, LQ, history, n_iter, first_pass, status)


def _arrange(codes: IntArray) -> tuple[FloatArray, BoolArray, BoolArray, FloatArray]:
    """Random starting columns for all blocks, masks of their rows (class g) and columns (class h), and their signs."""
    sizes = np.bincount(codes)
    pairs = [(g, h) for g in range(len(sizes)) for h in range(len(sizes))]
    widths = [min(_WITHIN if g == h else _ACROSS, sizes[g], sizes[h]) for g, h in pairs]
    g, h = np.repeat(pairs, widths, axis=0).T
    rows, columns = codes[:, None] == g, codes[:, None] == h
    start = np.where(columns, np.random.default_rng(0).standard_normal(columns.shape), 0.0)
    return _orthonormal_blocks(start, rows, columns), rows, columns, np.where(g == h, 1.0, -_GAMMA)


def _iterate(affinity: Affinity, weights: FloatArray, Q: FloatArray, rows: BoolArray, columns: BoolArray) -> FloatArray:
    """One orthogonal iteration, Q^gh <- A^hg A^gh Q^gh, for all blocks in two passes."""
    Y = np.where(rows, affinity.apply(weights, Q), 0.0)
    Z = np.where(columns, affinity.apply(weights, Y), 0.0)
    return _orthonormal_blocks(Z, rows, columns)


def _orthonormal_blocks(Z: FloatArray, rows: BoolArray, columns: BoolArray) -> FloatArray:
    """Orthonormalise the columns of each block on its own."""
    Q = np.zeros_like(Z)
    block = np.unique(np.vstack([rows, columns]), axis=1, return_inverse=True)[1].reshape(-1)
    for number in range(block.max() + 1):
        here = np.flatnonzero(block == number)
        where = np.ix_(columns[:, here[0]], here)
        Q[where] = np.linalg.qr(Z[where])[0]
    return Q
