"""Semi-synthetic problems: real columns, labels that depend on a few of them.

All columns but those that y depends on, and their decoys, have their rows permuted together. So they keep their
distributions and their dependence on one another, and are independent of y.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm, rankdata

FAMILIES = ("linear", "nonlinear", "interactions", "decoys")
_DECOYS = 5  # for each planted feature


@dataclass(frozen=True)
class Planted:
    """A problem whose answer is known.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0 and 1.
    planted : ndarray of bool
        The features that y depends on.
    related : ndarray of bool
        Decoys: features that depend on y only through the planted ones.
    """

    X: np.ndarray
    y: np.ndarray
    planted: np.ndarray
    related: np.ndarray

    def judge(self, chosen: np.ndarray) -> dict[str, float]:
        """Share of false features among the chosen ones, share of the planted ones found, number chosen.

        "fdp" counts features that are independent of y, "strict" also the decoys.
        """
        mask = np.zeros(self.X.shape[1], dtype=bool)
        mask[chosen] = True
        size = int(mask.sum())
        strict = np.sum(mask & ~self.planted) / max(1, size)
        fdp = np.sum(mask & ~self.planted & ~self.related) / max(1, size)
        power = np.sum(mask & self.planted) / self.planted.sum()
        return {"fdp": float(fdp), "strict": float(strict), "power": float(power), "size": size}


def plant(
    X: np.ndarray, family: str, n_samples: int, n_features: int, relevant: int, signal: float, seed: int
) -> Planted:
    """Draw samples and columns of X, and labels from some of the columns.

    Parameters
    ----------
    X : ndarray
        Real data. It needs `n_samples` rows; with fewer columns than `n_features` all are taken.
    family : {"linear", "nonlinear", "interactions", "decoys"}
        "linear": weights of +1 and -1. "nonlinear": squares, steps and sines by turns. "interactions": products of
        pairs. "decoys": linear, and the columns nearest to the planted ones keep their rows.
    n_samples, n_features, relevant : int
        `relevant` features are planted, an even number for interactions.
    signal : float
        The log odds of class 1 are `signal` times the standardised effect.
    seed : int
    """
    if family not in FAMILIES:
        raise ValueError(
            f"The 'family' parameter of plant must be one of {', '.join(FAMILIES)}. Got {family!r} instead."
        )
    if n_samples > len(X):
        raise ValueError(
            f"The 'n_samples' parameter of plant must be at most {len(X)}, the rows of X. Got {n_samples}."
        )
    rng = np.random.default_rng(seed)
    X = X[rng.permutation(len(X))[:n_samples]]
    # Columns with many ties could not carry an effect of their own.
    many = np.array([len(np.unique(column)) > n_samples // 2 for column in X.T])
    planted = rng.permutation(np.flatnonzero(many))[:relevant]
    if len(planted) < relevant:
        raise ValueError(f"X has only {len(planted)} columns without many ties. Plant at most that many features.")
    scores = norm.ppf(rankdata(X[:, planted], axis=0) / (n_samples + 1.0))
    related = _nearest(X, planted) if family == "decoys" else np.empty(0, dtype=int)
    others = rng.permutation(np.setdiff1d(np.arange(X.shape[1]), np.concatenate([planted, related])))
    others = others[: max(0, n_features - relevant - len(related))]
    noise = X[:, others][rng.permutation(n_samples)]
    effect = _effect(scores, family, rng)
    y = (rng.random(n_samples) < expit(signal * (effect - effect.mean()) / effect.std())).astype(int)
    columns = np.hstack([X[:, planted], X[:, related], noise])
    kinds = np.repeat([0, 1, 2], [relevant, len(related), noise.shape[1]])
    vary = np.flatnonzero(columns.std(axis=0) > 0)
    order = rng.permutation(vary)
    return Planted(columns[:, order], y, kinds[order] == 0, kinds[order] == 1)


def _effect(scores: np.ndarray, family: str, rng: np.random.Generator) -> np.ndarray:
    signs = rng.choice([-1.0, 1.0], scores.shape[1])
    if family == "nonlinear":
        shapes = (lambda z: (z**2 - 1.0) / np.sqrt(2.0), np.sign, lambda z: np.sin(2.0 * z))
        return sum(sign * shapes[i % 3](z) for i, (sign, z) in enumerate(zip(signs, scores.T, strict=True)))
    if family == "interactions":
        return (signs[::2] * scores[:, ::2] * scores[:, 1::2]).sum(axis=1)
    return scores @ signs


def _nearest(X: np.ndarray, planted: np.ndarray) -> np.ndarray:
    """For each planted column, the others with the largest correlations."""
    Z = X - X.mean(axis=0)
    Z = Z / np.maximum(np.linalg.norm(Z, axis=0), 1e-300)
    likeness = np.abs(Z[:, planted].T @ Z)
    likeness[:, planted] = -1.0
    return np.unique(np.argsort(-likeness, axis=1)[:, :_DECOYS])
