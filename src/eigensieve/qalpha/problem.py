"""The input of a solver (a problem and settings) and its output (a result). Solvers know nothing else."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import BoolArray, FloatArray
from eigensieve.data import DataMatrix
from eigensieve.operators import Affinity, LaplacianAffinity, StandardAffinity
from eigensieve.qalpha.knowledge.pairs import PairPenalty

Status = Literal["converged", "precision", "max_iter", "wandering"]

TAU = {"energy": 0.0, "gap": 0.5}
"""Share of |L(w)|^2 each criterion subtracts: QQ' - tau I instead of QQ'."""


class VanishingCriterionError(ValueError):
    """The search has reached weights without affinity: from there it follows rounding."""


_VANISHING = 1e-6  # share of the affinity: weights that have less are the best only where all others are worse
_CANCELLED = 1e-10  # share of the subtracted terms: a smaller rest is rounding in the data, which is larger than eps


def spectrum_affinity(data: DataMatrix, spectrum: str) -> Affinity:
    """Return the affinity of standardised data whose spectrum is sought: "standard" or "laplacian"."""
    return LaplacianAffinity(data) if spectrum == "laplacian" else StandardAffinity(data)


@dataclass(frozen=True)
class Problem:
    """Maximise trace(Q' L(w)^2 Q) - tau |L(w)|_F^2 - w'Bw over unit w and orthonormal Q.

    Attributes
    ----------
    affinity : Affinity
        The linear map from weights to samples x samples matrices (the spectrum).
    n_clusters : int
        Number of columns of Q.
    tau : float
        0 for the energy of the k leading eigenvalues. 1/2 for half the gap between their energy and that of all other
        eigenvalues.
    usable : ndarray of bool of shape (n_features,)
        Features that may have weight. The others (constant columns) keep weight 0.
    fixed_embedding : ndarray of shape (n_samples, n_clusters) or None
        If given, Q is fixed to this, which need not be orthonormal, and only the weights are sought.
    penalty : PairPenalty or None
        If given, w'Bw is subtracted from the criterion.
    scale : ndarray of shape (n_features,) or None
        s_i, where the affinity is scaled by side data.
    initial_weights : ndarray of shape (n_features,) or None
        Where the search for the weights starts. By default they are equal on all usable features.
    """

    affinity: Affinity
    n_clusters: int
    tau: float
    usable: BoolArray
    fixed_embedding: FloatArray | None = None
    penalty: PairPenalty | None = None
    scale: FloatArray | None = None
    initial_weights: FloatArray | None = None

    @property
    def n_features(self) -> int:
        return self.affinity.n_features

    @property
    def n_samples(self) -> int:
        return self.affinity.n_samples

    @property
    def n_passes(self) -> int:
        """Passes over the data so far."""
        return self.affinity.data.n_passes

    @property
    def unit(self) -> float:
        """The factor from the solvers' value to the papers' criterion."""
        return 2.0 if self.tau == TAU["gap"] else 1.0

    @property
    def subtracts(self) -> bool:
        """Whether anything is subtracted from trace(Q' L(w)^2 Q)."""
        return bool(self.tau) or self.penalty is not None

    def subtracted(self, weights: FloatArray) -> FloatArray:
        """Return K w, where w'Kw is subtracted from trace(Q' L(w)^2 Q)."""
        product = np.zeros(self.n_features)
        if self.tau:
            product += self.tau * self.affinity.frobenius(weights)
        if self.penalty is not None:
            product += self.penalty.product(weights) / self.unit
        return product

    @cached_property
    def subtracted_matrix(self) -> FloatArray:
        """K itself: for few features."""
        return np.column_stack([self.subtracted(unit) for unit in np.eye(self.n_features)])

    def refuse_vanishing(self, value: float, size: float, most: float, rounding: float) -> None:
        """Raise if the best weights for an embedding have no affinity: the criterion is then negative for all others.

        From there a search follows rounding.

        Parameters
        ----------
        value : float
            The criterion of the weights found.
        size, most : float
            Size of its terms there, and the largest that the search has seen.
        rounding : float
            Share of `most` that is only rounding.
        """
        if self.subtracts and size <= (_VANISHING if value <= 0 else max(_CANCELLED, rounding)) * most:
            raise VanishingCriterionError(
                "The criterion is at most zero where the search has got to: whatever the weights, they have less "
                f"energy in its {self.n_clusters} directions than is subtracted. Use criterion='energy', a larger "
                "n_init, another n_clusters, or weaker side data or pairs."
            )

    def uniform_weights(self) -> FloatArray:
        """Unit weights, equal on all usable features."""
        return self.usable / np.sqrt(max(1, int(np.count_nonzero(self.usable))))

    def starting_weights(self) -> FloatArray:
        """Unit weights that the search starts from."""
        if self.initial_weights is None:
            return self.uniform_weights()
        started: FloatArray = self.initial_weights / np.linalg.norm(self.initial_weights)
        return started


@dataclass(frozen=True)
class SolveSettings:
    """How a problem is solved.

    Attributes
    ----------
    solver : {"auto", "basic", "power", "ritz"}
        "auto" is the fast solver. The others are the papers' own algorithms.
    init : {"eigen", "random"} or ndarray of shape (n_samples, n_clusters)
        Starting embedding.
    n_init : int
        Number of starts. The first is `init`, the others are random.
    max_iter : int
        Most steps of the solver.
    tol : float
        The solver stops when its residual is below this and the last step gained less than tol^2 of the criterion.
    rng : Generator or None
        For random starts.
    checkpoint : path-like or None
        Folder for the steps of every start. An interrupted run continues from its last completed step.
    progress : callable
    """

    solver: str = "auto"
    init: str | FloatArray = "eigen"
    n_init: int = 1
    max_iter: int = 200
    tol: float = 5e-3
    rng: np.random.Generator | None = None
    checkpoint: str | os.PathLike[str] | None = None
    progress: Progress = silent

    def announced(self, prefix: str) -> "SolveSettings":
        """Return the same settings with a prefix before every progress message."""
        return replace(self, progress=lambda message: self.progress(prefix + message))


@dataclass(frozen=True)
class Result:
    """The result of a solver.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        Unit vector. Its sign makes the sum of the weights positive.
    embedding : ndarray of shape (n_samples, n_clusters)
        Q: eigenvectors of L(w) within the subspace found, in order of eigenvalue magnitude.
    eigenvalues : ndarray of shape (n_clusters,)
        Their eigenvalues.
    objective : float
        The criterion at the result.
    history : ndarray
        The criterion at the start and after every accepted step.
    n_iter : int
        Number of steps.
    n_passes : int
        Passes over the data that this solve made.
    status : {"converged", "precision", "max_iter", "wandering"}
        "precision" means no further gain within the rounding of the data's type. It is as good as converged.
        "wandering" means that the steps of the papers' block criterion do not settle.
    start_objectives : tuple of float
        The criterion reached from every start; NaN where it vanished.
    """

    weights: FloatArray
    embedding: FloatArray
    eigenvalues: FloatArray
    objective: float
    history: FloatArray
    n_iter: int
    n_passes: int
    status: Status
    start_objectives: tuple[float, ...] = ()

    @property
    def converged(self) -> bool:
        return self.status in ("converged", "precision")


def finish(
    problem: Problem,
    weights: FloatArray,
    Q: FloatArray,
    LQ: FloatArray,
    history: list[float],
    n_iter: int,
    first_pass: int,
    status: Status,
) -> Result:
    """Put a solver's last state into the conventions of `Result`; LQ is L(w) Q."""
    values, turn = np.linalg.eigh((Q.T @ LQ + LQ.T @ Q) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    sign = -1.0 if weights.sum() < 0 else 1.0
    embedding = Q @ turn[:, order]
    peaks = embedding[np.abs(embedding).argmax(axis=0), np.arange(embedding.shape[1])]
    objective = problem.unit * history[-1]
    return Result(
        weights=sign * np.where(problem.usable, weights, 0.0),
        embedding=embedding * np.where(peaks < 0, -1.0, 1.0),
        eigenvalues=sign * values[order],
        objective=objective,
        history=problem.unit * np.asarray(history),
        n_iter=n_iter,
        n_passes=problem.n_passes - first_pass,
        status=status,
        start_objectives=(objective,),
    )
