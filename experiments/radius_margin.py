"""The wrapper of Weston et al. (NIPS 2000): scales of the features that minimise the radius-margin bound of an SVM."""

import numpy as np
from sklearn.svm import SVC

from experiments.frame import Array

_STEPS, _BALL_STEPS, _RATE = 8, 150, 0.5
_HARD = 1e3


def radius_margin_scales(X: Array, y: Array, count: int, *, degree: int = 1) -> Array:
    """Return one score per feature: the larger, the later it was eliminated.

    The kernel is x'Sz for degree 1 and (1 + x'Sz)^degree otherwise, with a diagonal S. Exponentiated gradient steps on
    S lower R^2 |w|^2, where R is the radius of the samples and w the normal of the SVM. After every few steps the
    smaller half of the features is eliminated, until `count` are left.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardised.
    y : ndarray of shape (n_samples,)
    count : int
    degree : int, default=1
    """
    scores = np.zeros(X.shape[1])
    left = np.arange(X.shape[1])
    scales = np.ones(len(left))
    stage = 0.0
    while True:
        scales = _descend(X[:, left], y, scales, degree)
        scores[left] = stage + scales / scales.sum()
        if len(left) <= count:
            return scores
        kept = np.argsort(-scales, kind="stable")[: max(count, len(left) // 2)]
        left, scales, stage = left[kept], scales[kept], stage + 1.0


def _descend(X: Array, y: Array, scales: Array, degree: int) -> Array:
    for _ in range(_STEPS):
        scales = scales * (len(scales) / scales.sum())
        inner = (X * scales) @ X.T / X.shape[1]
        K = inner if degree == 1 else (1.0 + inner) ** degree
        slope = np.ones_like(K) if degree == 1 else degree * (1.0 + inner) ** (degree - 1)
        machine = SVC(C=_HARD, kernel="precomputed").fit(K, y)
        dual = np.zeros(len(y))
        dual[machine.support_] = machine.dual_coef_[0]
        squared_norm = dual @ K @ dual
        center, squared_radius = _smallest_ball(K)
        # derivatives of log |w|^2 and log R^2 with respect to the kernel, at the optimal coefficients
        ball = np.diag(center) - np.outer(center, center)
        pull = slope * (ball / squared_radius - np.outer(dual, dual) / squared_norm)
        gradient = np.einsum("if,if->f", X, pull @ X) * scales / X.shape[1]
        step = _RATE / max(np.abs(gradient).max(), 1e-12)
        scales = scales * np.exp(-step * gradient)
    return scales


def _smallest_ball(K: Array) -> tuple[Array, float]:
    """Return the centre (as weights of the samples) and the squared radius of a ball around all samples.

    Steps of Frank and Wolfe towards the farthest sample; the radius is a little too small.
    """
    weights = np.full(len(K), 1.0 / len(K))
    product = K @ weights
    for step in range(_BALL_STEPS):
        farthest = int(np.argmax(np.diag(K) - 2 * product))
        share = 1.0 / (step + 2)
        weights *= 1 - share
        weights[farthest] += share
        product = (1 - share) * product + share * K[:, farthest]
    return weights, float(np.diag(K) @ weights - weights @ product)
