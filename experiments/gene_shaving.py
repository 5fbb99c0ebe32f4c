"""Gene shaving (Hastie et al., 2000): means of groups of genes that vary together, as features."""

import numpy as np

from experiments.frame import Array

_KEPT, _PERMUTATIONS = 0.9, 2


def shaved_features(Z: Array, count: int, rng: np.random.Generator) -> Array:
    """Return `count` features, each the signed mean of one group of genes.

    Of the genes that are left, the tenth least aligned with their leading principal component is shaved off, again and
    again. Of these nested groups the one is kept whose share of variance explained exceeds that of permuted data the
    most (the gap statistic, with two permutations). Its mean is then projected out of all genes.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_genes)
        Centred.
    count : int
    rng : numpy.random.Generator
    """
    R = np.array(Z, dtype=float)
    features = []
    for _ in range(count):
        groups, shares = _shave(R)
        null = np.mean([_shave(rng.permuted(R, axis=0))[1] for _ in range(_PERMUTATIONS)], axis=0)
        group, signs = groups[int(np.argmax(shares - null))]
        mean = (R[:, group] * signs).mean(axis=1)
        features.append(mean)
        R -= np.outer(mean, mean @ R) / (mean @ mean)
    return np.array(features).T


def _shave(R: Array) -> tuple[list[tuple[Array, Array]], Array]:
    """Return the nested groups with their signs, and the share of each group's variance that its mean explains."""
    left = np.arange(R.shape[1])
    groups, shares = [], []
    while len(left) > 2:
        own = R[:, left]
        alignment = np.linalg.eigh(own @ own.T)[1][:, -1] @ own
        signs = np.where(alignment < 0, -1.0, 1.0)
        mean = (own * signs).mean(axis=1)
        groups.append((left, signs))
        shares.append(float(len(left) * (mean @ mean) / np.sum(own * own)))
        kept = min(int(np.ceil(_KEPT * len(left))), len(left) - 1)
        left = left[np.sort(np.argsort(-np.abs(alignment), kind="stable")[:kept])]
    return groups, np.array(shares)
