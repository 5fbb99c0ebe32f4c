"""The linear problem of Weston et al. with labels: SVM test error on the chosen features (2005, Fig. 3a)."""

from collections.abc import Callable

import numpy as np
from scipy.stats import ks_2samp
from sklearn.feature_selection import RFE, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from eigensieve._types import Array
from eigensieve.datasets import make_weston_linear
from eigensieve.estimators import FeatureMap, QAlphaSelector
from eigensieve.experiments.common import largest

SIZES = (20, 30, 50, 100)
N_CHOSEN = 4
_RELEVANT = 6


def _fisher(X: Array, y: Array) -> Array:
    """Fisher's criterion (mu_+ - mu_-)^2 / (var_+ + var_-)."""
    one, other = X[y > 0], X[y < 0]
    return (one.mean(axis=0) - other.mean(axis=0)) ** 2 / (one.var(axis=0) + other.var(axis=0))


def _kolmogorov_smirnov(X: Array, y: Array) -> Array:
    return np.array([ks_2samp(column[y > 0], column[y < 0]).statistic for column in X.T])


def _best(scores: Array) -> Array:
    return largest(scores, N_CHOSEN)


def _classes(y: Array) -> Array:
    """Return labels 0 and 1, because -1 would mean a sample without label."""
    return (y > 0).astype(int)


def _rfe(X: Array, y: Array) -> Array:
    scaled = StandardScaler().fit_transform(X)
    return np.flatnonzero(RFE(SVC(kernel="linear"), n_features_to_select=N_CHOSEN, step=0.1).fit(scaled, y).support_)


METHODS: dict[str, Callable[[Array, Array], Array]] = {
    "all features": lambda X, y: np.arange(X.shape[1]),
    "F-test": lambda X, y: _best(f_classif(X, y)[0]),
    "Fisher": lambda X, y: _best(_fisher(X, y)),
    "Kolmogorov-Smirnov": lambda X, y: _best(_kolmogorov_smirnov(X, y)),
    "RFE-SVM": _rfe,
    "Q-alpha, no labels": lambda X, y: _best(QAlphaSelector(1).fit(X).weights_),
    "Q-alpha, blocks as printed": lambda X, y: _best(
        QAlphaSelector(1, supervision="blocks").fit(X, _classes(y)).weights_
    ),
    "Q-alpha, span": lambda X, y: _best(QAlphaSelector(1).fit(X, _classes(y)).weights_),
    "FeatureMap, 2 rounds, span": lambda X, y: (
        FeatureMap(N_CHOSEN, round_strength=0.1).fit(X, _classes(y)).get_support(indices=True)
    ),
    "the 6 relevant": lambda X, y: np.arange(_RELEVANT),
}
"""From training data to the chosen features. The first and the last line are limits; the other methods choose 4."""


def run(
    *, sizes: tuple[int, ...] = SIZES, n_runs: int = 30, n_test: int = 500, first_seed: int = 0
) -> dict[str, dict[int, float]]:
    """Return the mean test error of a linear SVM per method and size of the training set.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of training points.
    n_runs : int, default=30
    n_test : int, default=500
        Test points per run.
    first_seed : int, default=0
    """
    errors: dict[str, dict[int, float]] = {name: {} for name in METHODS}
    for size in sizes:
        found: dict[str, list[float]] = {name: [] for name in METHODS}
        for seed in range(first_seed, first_seed + n_runs):
            rng = np.random.default_rng([seed, size])
            train, test = make_weston_linear(size, random_state=rng), make_weston_linear(n_test, random_state=rng)
            for name, choose in METHODS.items():
                chosen = choose(train.X, train.y)
                model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(train.X[:, chosen], train.y)
                found[name].append(1.0 - float(model.score(test.X[:, chosen], test.y)))
        for name in METHODS:
            errors[name][size] = float(np.mean(found[name]))
    return errors


def table(errors: dict[str, dict[int, float]]) -> str:
    """Return the result as text, one line per method."""
    sizes = list(next(iter(errors.values())))
    lines = [f"{'test error at':28s}" + "".join(f"{size:>8d}" for size in sizes) + "  training points"]
    for name, line in errors.items():
        lines.append(f"{name:28s}" + "".join(f"{line[size]:8.3f}" for size in sizes))
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(run()))
