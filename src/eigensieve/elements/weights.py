"""The last step: new weights for the selected columns (Avidan, Algorithm 1, "solve for new weights")."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve


def solve_weights(design: NDArray, targets: NDArray, ridge: float) -> tuple[NDArray, NDArray]:
    """Return weights and intercept of the lightly regularised least squares.

    min over beta, c of |T - K beta - c|^2 / n + ridge |beta|^2. Masked columns are often nearly collinear; without
    the second term weights of opposite sign grow until they cost digits in single precision.
    """
    means, middle = design.mean(axis=0), targets.mean(axis=0)
    K = design - means
    gram = K.T @ K / design.shape[0]
    gram[np.diag_indices_from(gram)] += max(ridge, 1e-14 * float(np.trace(gram)) + np.finfo(float).tiny)
    weights = cho_solve(cho_factor(gram), K.T @ (targets - middle) / design.shape[0])
    return weights, middle - means @ weights
