"""A kernel SVM with few whole vectors: Burges' reduced sets."""

from dataclasses import KW_ONLY, dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from eigensieve._progress import progress_for
from eigensieve._sklearn import StrOptions, whole_fit
from eigensieve._types import FloatArray, MatrixLike, RandomState
from eigensieve.data import one_blas_thread
from eigensieve.elements import RBF, FullExpansion, construct_vectors, refine_vectors, select_vectors, solve_weights
from eigensieve.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, generator, warn_user
from eigensieve.estimators.kernel_machine import KernelMachine
from eigensieve.estimators.small_machine import SmallClassifier


@dataclass(eq=False, repr=False)
class ReducedSetSVC(SmallClassifier):
    """A kernel SVM approximated with few vectors, taken from its support vectors or constructed.

    The expansion Psi = sum_i alpha_i phi(s_i) is replaced by Psi' = sum_j beta_j phi(z_j) with few z_j that make
    ``|Psi - Psi'|^2`` small (Burges 1996; Avidan, section 2.2). The last weights are solved on the decision values of
    the training samples, as for :class:`ElementSelectedSVC`, so that the two can be compared.

    Parameters
    ----------
    estimator : SVC, default=None
        As in :class:`ElementSelectedSVC`.
    n_vectors : int, default=10
        Number of vectors. "selection" cannot take more vectors than there are support vectors; a warning says so.
    method : {"construction", "selection"}, default="construction"
        Construct new vectors (more accurate) or select support vectors.
    n_features_per_vector : int, default=None
        If given, every constructed vector differs from the centre of the support vectors in this many features only,
        those with the largest deviations. Such sparse vectors are the paper's future work.
    refine : bool, default=True
        Move all constructed vectors together at the end by gradient descent (Burges' second phase).
    n_starts : int, default=5
        Starting points for each constructed vector.
    max_iter : int, default=100
        Iterations from each start, and of the refinement.
    ridge : float, default=1e-6
        Strength of the ridge term when the weights are solved.
    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same result.
    verbose : int, default=0
        Whether progress is printed.

    Attributes
    ----------
    vectors_ : ndarray of shape (n_vectors, n_features)
    dual_coef_ : ndarray of shape (n_outputs, n_vectors)
    intercept_ : ndarray of shape (n_outputs,)
    n_iter_ : int
        Iterations of the refinement. Without refinement, the largest number that one start took. For "selection", the
        number of vectors selected.
    n_numbers_ : int
        Numbers that must be stored to predict.
    threshold_ : float
        Decision values above it are the second class; 0 until `calibrate` is called. Two classes only.
    estimator_ : SVC or OneVsRestClassifier
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    """

    estimator: BaseEstimator | None = None
    _: KW_ONLY
    n_vectors: int = 10
    method: Literal["construction", "selection"] = "construction"
    n_features_per_vector: int | None = None
    refine: bool = True
    n_starts: int = 5
    max_iter: int = 100
    ridge: float = 1e-6
    random_state: RandomState = None
    verbose: int = 0

    _parameter_constraints = {
        "estimator": [None, BaseEstimator],
        "n_vectors": [AT_LEAST_ONE],
        "method": [StrOptions({"construction", "selection"})],
        "n_features_per_vector": [None, AT_LEAST_ONE],
        "refine": ["boolean"],
        "n_starts": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
        "ridge": [NOT_NEGATIVE],
    }

    @whole_fit
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        X_valid, y = self._read(X, y)
        if self.method == "selection" and self.n_features_per_vector is not None:
            must, fix = "be None for method='selection'", "selected vectors are whole (use ElementSelectedSVC)"
            raise self._wrong("n_features_per_vector", must, self.n_features_per_vector, fix)
        machine = self._resolve(X, X_valid, y)
        # The products are small: several BLAS threads would wait for each other.
        with one_blas_thread():
            vectors, n_free, n_iter = self._vectors(machine)
        design = machine.full.kernel.full(X_valid.astype(np.float64), vectors)
        weights, intercept = solve_weights(design, machine.decisions, self.ridge)
        self.vectors_ = vectors
        self.n_iter_ = n_iter
        self.dual_coef_ = weights.T
        self.n_numbers_ = int(n_free + weights.size + intercept.size)
        self._expansion = FullExpansion(machine.full.kernel, vectors, weights, intercept)
        self._learn_machine(machine, intercept, y)
        return self

    def _vectors(self, machine: KernelMachine) -> tuple[FloatArray, int, int]:
        """Return the vectors, how many numbers describe them, and the iterations."""
        kernel, alpha = machine.full.kernel, machine.full.alpha
        B = machine.full.basis.astype(np.float64)
        progress = progress_for(type(self).__name__, self.verbose)
        if self.method == "selection":
            if self.n_vectors > B.shape[0]:
                warn_user(
                    f"n_vectors={self.n_vectors} is more than the {B.shape[0]} support vectors that exist: "
                    f"all of them may be used."
                )
            chosen = select_vectors(kernel, B, alpha, min(self.n_vectors, B.shape[0]), progress)
            return B[chosen], chosen.size * B.shape[1], chosen.size
        # The Gaussian kernel depends on differences only: far from zero they would be lost in the squares.
        mean = B.mean(axis=0)
        shift = mean if kernel.kind == RBF else np.zeros(B.shape[1])
        B, centre = B - shift, mean - shift
        sparse = self.n_features_per_vector
        vectors, n_iter = construct_vectors(
            kernel,
            B,
            alpha,
            self.n_vectors,
            n_starts=self.n_starts,
            max_iter=self.max_iter,
            rng=generator(self.random_state),
            progress=progress,
            shape_vector=None if sparse is None else lambda z: _sparsified(z, centre, sparse),
        )
        free = np.ones(vectors.shape, dtype=bool) if sparse is None else vectors != centre
        if self.refine:
            vectors, n_iter = refine_vectors(kernel, B, alpha, vectors, self.max_iter, free)
        described = int(free.sum()) + (0 if sparse is None else centre.size)
        return vectors + shift, described, n_iter

    def _decisions(self, X: FloatArray) -> FloatArray:
        return self._expansion.decision(X)


def _sparsified(z: FloatArray, centre: FloatArray, n_kept: int) -> FloatArray:
    """Return z with all but its `n_kept` largest deviations from the centre set to the centre."""
    kept = np.argsort(-np.abs(z - centre), kind="stable")[:n_kept]
    sparse = centre.copy()
    sparse[kept] = z[kept]
    return sparse
