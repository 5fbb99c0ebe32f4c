"""Pairs, written for reading (2004, section 5)."""

import numpy as np


def pair_matrix(M, cannot, must, strength):
    """lambda B = lambda q^2/2 (mean over cannot-link - mean over must-link) of F, F_rs = x_r y_r x_s y_s."""
    n, q = M.shape
    B = np.zeros((n, n))
    for pairs, sign in ((cannot, 1.0), (must, -1.0)):
        for x, y in pairs:
            product = M[:, x] * M[:, y]
            B += sign * np.outer(product, product) / len(pairs)
    return strength * q**2 / 2 * B
