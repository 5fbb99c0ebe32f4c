"""The papers' supervised criterion: class blocks of the affinity (2005, section 3.1).

maximise  sum_l |A^ll Q^ll|^2 - gamma sum_{g != h} |A^gh Q^gh|^2,   A^gh = sum_i w_i m_i^g m_i^h'

where m_i^g is feature i on the samples of class g. Eigenvalue energy within classes is wanted, energy across classes is
not. (The 2005 text has the words "inter" and "intra" exchanged.)
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from eigensieve._types import Array
from eigensieve.operators import Affinity, SymmetricOperator, leading_eigenvectors
from eigensieve.qalpha.alternating import leading_vector
from eigensieve.qalpha.problem import Penalty, Problem, Result, SolveSettings, Status, finish

_START_STEPS = 10  # orthogonal iterations before the first weights are sought
_PATIENCE = 15  # steps with neither a larger criterion nor a smaller move of the weights that end the search


@dataclass(frozen=True)
class BlockSettings:
    """The parameters of the criterion.

    Attributes
    ----------
    gamma : float
        Weight of the energy across classes.
    within, across : int
        k of a block within a class, and of a block across two classes.
    """

    gamma: float = 0.5
    within: int = 2
    across: int = 1


def read_settings(gamma: float, sizes: tuple[int, ...], owner: str) -> BlockSettings:
    """Check the user's settings."""
    if len(sizes) != 2 or not all(isinstance(size, Integral) and size >= 1 for size in sizes):
        raise ValueError(
            f"The 'block_clusters' parameter of {owner} must be two ints of at least 1, within and across classes. Got "
            f"{sizes!r} instead."
        )
    return BlockSettings(gamma, int(sizes[0]), int(sizes[1]))


class BlockGram(SymmetricOperator):
    """G = sum_l G^ll - gamma sum_{g != h} G^gh, where w'G^gh w = |A^gh Q^gh|^2.

    Notes
    -----
    All Q^gh stand side by side as columns over all samples, zero outside class h. With Y = A Q, set to zero outside the
    rows of class g, (G w)_i = sum over columns of sign (m_i'Y)(m_i'Q). This takes two passes for any number of blocks.

    Parameters
    ----------
    affinity : Affinity
    Q : ndarray of shape (n_samples, n_columns)
    rows : ndarray of bool of the same shape
        Samples of class g for each column.
    signs : ndarray of shape (n_columns,)
        1 within a class, -gamma across.
    penalty : Penalty or None
    """

    def __init__(self, affinity: Affinity, Q: Array, rows: Array, signs: Array, penalty: Penalty | None = None) -> None:
        super().__init__(affinity.n_features)
        self.affinity = affinity
        self.Q = Q
        self.rows = rows
        self.signs = signs
        self.penalty = penalty

    def matvec(self, vector: Array) -> Array:
        Y = np.where(self.rows, self.affinity.apply(vector, self.Q), 0.0)
        product = self.affinity.gradient(Y * self.signs, self.Q)
        return product if self.penalty is None else product - self.penalty.product(vector)


def solve_blocks(problem: Problem, codes: Array, blocks: BlockSettings, settings: SolveSettings) -> Result:
    """Alternate the leading eigenvector of G and one orthogonal iteration on every Q^gh.

    Parameters
    ----------
    problem : Problem
        Standard spectrum and energy criterion. `n_clusters` leading eigenvectors of A(w) are reported.
    codes : ndarray of int of shape (n_samples,)
        Class of every sample.
    blocks : BlockSettings
    settings : SolveSettings
        `max_iter`, `tol` and `progress` are used. The search has converged when the weights move by no more than `tol`.

    Notes
    -----
    Q^gh follows the leading directions of A^gh, although across classes the criterion would want the opposite. The
    paper has it so ("Q^gh is computed using the current estimates"), and the value need not rise from step to step. The
    weights may even wander for ever, and rounding then decides where. Such a search is ended, and the best weights that
    it has seen are kept.
    """
    first_pass = problem.n_passes
    Q, rows, columns, signs = _arrange(codes, blocks)
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


def _arrange(codes: Array, settings: BlockSettings) -> tuple[Array, Array, Array, Array]:
    """Random starting columns for all blocks, masks of their rows (class g) and columns (class h), and their signs."""
    rng = np.random.default_rng(0)
    classes = np.unique(codes)
    rows, columns, signs = [], [], []
    for g in classes:
        for h in classes:
            wanted = settings.within if g == h else settings.across
            width = min(wanted, int(np.sum(codes == g)), int(np.sum(codes == h)))
            rows += [codes == g] * width
            columns += [codes == h] * width
            signs += [1.0 if g == h else -settings.gamma] * width
    lives = np.column_stack(columns)
    start = _orthonormal_blocks(np.where(lives, rng.standard_normal(lives.shape), 0.0), np.column_stack(rows), lives)
    return start, np.column_stack(rows), lives, np.array(signs)


def _iterate(affinity: Affinity, weights: Array, Q: Array, rows: Array, columns: Array) -> Array:
    """One orthogonal iteration, Q^gh <- A^hg A^gh Q^gh, for all blocks in two passes."""
    Y = np.where(rows, affinity.apply(weights, Q), 0.0)
    Z = np.where(columns, affinity.apply(weights, Y), 0.0)
    return _orthonormal_blocks(Z, rows, columns)


def _orthonormal_blocks(Z: Array, rows: Array, columns: Array) -> Array:
    """Orthonormalise the columns of each block on its own."""
    Q = np.zeros_like(Z)
    start = 0
    while start < Z.shape[1]:
        stop = start + 1
        while stop < Z.shape[1] and _same_block(rows, columns, start, stop):
            stop += 1
        where = columns[:, start]
        Q[where, start:stop] = np.linalg.qr(Z[where, start:stop])[0]
        start = stop
    return Q


def _same_block(rows: Array, columns: Array, one: int, other: int) -> bool:
    same_rows = np.array_equal(rows[:, one], rows[:, other])
    return same_rows and np.array_equal(columns[:, one], columns[:, other])
