"""The input of a solver (a problem and settings) and its output (a result). Solvers know nothing else."""

import os
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve._types import BoolArray, FloatArray
from eigensieve.data import DataMatrix
from eigensieve.operators import Affinity, LaplacianAffinity, StandardAffinity
from eigensieve.qalpha.knowledge.pairs import PairPenalty

Status = Literal["converged", "precision", "max_iter", "wandering"]
"""Precision: no further gain within the rounding of the data's type, as good as converged. Wandering: the steps of the
papers' block criterion do not settle."""

TAU = {"energy": 0.0, "gap": 0.5, "blocks": 0.0}
"""Share of |L(w)|^2 each criterion subtracts: QQ' - tau I instead of QQ'."""


class VanishingCriterionError(ValueError):
    """The search has reached weights without affinity: from there it follows rounding."""


_VANISHING = 1e-6  # share of the affinity: weights that have less are the best only where all others are worse
_CANCELLED = 1e-8  # share of the subtracted terms: a smaller rest is rounding in the data, which is larger than eps


def spectrum_affinity(data: DataMatrix, spectrum: str, shift: str = "fixed") -> Affinity:
    """Return the affinity of standardised data whose spectrum is sought: "standard" or "laplacian"."""
    return LaplacianAffinity(data, shift) if spectrum == "laplacian" else StandardAffinity(data)


@dataclass(frozen=True)
class Problem:
    """Maximise trace(Q' L(w)^2 Q) - tau |L(w)|_F^2 - w'Bw over unit w and orthonormal Q."""

    affinity: Affinity  # the linear map from weights to samples x samples matrices (the spectrum)
    n_clusters: int  # columns of Q
    tau: float  # 0 for the energy of the k leading eigenvalues; 1/2 for half the gap to that of all others
    usable: BoolArray  # the features that may have weight; the others (constant columns) keep weight 0
    fixed_embedding: FloatArray | None = None  # Q, if only weights are sought; it need not be orthonormal
    penalty: PairPenalty | None = None  # w'Bw
    scale: FloatArray | None = None  # s_i per feature, where the affinity is scaled by side data
    initial_weights: FloatArray | None = None  # start of the weights; by default equal on all usable features

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

    def refuse_vanishing(self, value: float, size: float, most: float, rounding: float) -> None:
        """Raise if the best weights for an embedding have no affinity: the criterion is negative for all others, and
        a search follows rounding. `size` is that of the terms of the criterion `value`, `most` the largest seen, and
        `rounding` a share of it."""
        if self.subtracts and size <= (_VANISHING if value <= rounding * most else max(_CANCELLED, rounding)) * most:
            raise VanishingCriterionError(
                "The criterion is at most zero where the search has got to: whatever the weights, they have less "
                f"energy in its {self.n_clusters} directions than is subtracted. Use criterion='energy', a larger "
                "n_init, another n_clusters, or weaker side data or pairs."
            )

    def moved(self, weights: FloatArray) -> "Problem":
        """Return the problem for a step from these weights: another one only if the d of a Laplacian moves."""
        return replace(self, affinity=self.affinity.moved(weights))

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
    """How a problem is solved."""

    solver: str = "auto"  # the fast solver; "basic", "power" and "ritz" are the papers' own algorithms
    init: str | FloatArray = "eigen"  # starting embedding: "eigen", "random" or Q
    n_init: int = 1  # number of starts; all but the first are random
    max_iter: int = 200
    shift: str = "fixed"  # d of the Laplacian; "moving" and "printed" for the solver "power"
    tol: float = 5e-3  # largest residual; the last step gains less than tol^2 of the criterion
    rng: np.random.Generator | None = None  # for random starts
    checkpoint: str | os.PathLike[str] | None = None  # folder for the steps of every start
    progress: Progress = silent

    def announced(self, prefix: str) -> "SolveSettings":
        """Return the same settings with a prefix before every progress message."""
        return replace(self, progress=lambda message: self.progress(prefix + message))


@dataclass(frozen=True)
class Result:
    """The result of a solver."""

    weights: FloatArray  # unit vector of positive sum
    embedding: FloatArray  # Q: eigenvectors of L(w) within the subspace found, by eigenvalue magnitude
    eigenvalues: FloatArray
    objective: float  # the criterion at the result
    history: FloatArray  # the criterion at the start and after every accepted step
    n_iter: int
    n_passes: int  # passes over the data that this solve made
    status: Status
    start_objectives: tuple[float, ...] = ()  # the criterion reached from every start; NaN where it vanished
    starts_finished: tuple[bool, ...] = (True,)  # False where the start was given up: its criterion is a lower bound

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
