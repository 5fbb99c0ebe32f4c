"""Labelled selectors that decide how many features to take.

Each takes (X, y, rate, relevant, seed), X standardised, and returns the chosen indices. `rate` is the false discovery
rate it is asked for. Those without a rule of their own (names with ``-told``) are told how many features are planted.
Packages are imported when they are used.
"""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.feature_selection import RFECV, SelectFdr, f_classif
from sklearn.linear_model import LogisticRegression

Choose = Callable[[np.ndarray, np.ndarray, float, int, int], np.ndarray]

_DRAWS = 100  # halves of the samples for stability selection
_PENALTIES = np.logspace(-2, 0.5, 8)


def sieve(X, y, rate, relevant, seed):
    from eigensieve import SieveSelector

    with warnings.catch_warnings():  # an empty choice is told by a warning
        warnings.simplefilter("ignore")
        return SieveSelector(fdr=rate, random_state=seed).fit(X, y).get_support(indices=True)


def f_test(X, y, rate, relevant, seed):
    """F-test and Benjamini-Hochberg."""
    return np.flatnonzero(SelectFdr(f_classif, alpha=rate).fit(X, y).get_support())


def stability(X, y, rate, relevant, seed):
    """Stability selection (Meinshausen and Buhlmann 2010): features that 60 % of the halves choose.

    Of each half, an L1-penalised logistic regression chooses q features. One false feature is expected at most for
    q^2 = (2 x 0.6 - 1) p. It takes no `rate`.
    """
    rng = np.random.default_rng(seed)
    q = max(1, int(np.sqrt(0.2 * X.shape[1])))
    counts = np.zeros(X.shape[1])
    for _ in range(_DRAWS):
        half = _half(y, rng)
        path = np.abs(_coefficients(X[half], y[half]))
        enough = next((row for row in path if np.count_nonzero(row) >= q), path[-1])
        best = np.argsort(-enough, kind="stable")[:q]
        counts[best[enough[best] > 0]] += 1
    return np.flatnonzero(counts >= 0.6 * _DRAWS)


def stabl(X, y, rate, relevant, seed):
    """Stabl (Hedou et al. 2024): stability selection beside as many permuted columns, which set the threshold.

    The threshold on the largest selection frequency is the one with the least (1 + permuted above) / real above.
    Nothing is chosen where that is above 1. It takes no `rate`.
    """
    rng = np.random.default_rng(seed)
    both = np.hstack([X, rng.permuted(X, axis=0)])
    often = np.zeros((len(_PENALTIES), both.shape[1]))
    for _ in range(_DRAWS):
        half = _half(y, rng)
        often += _coefficients(both[half], y[half]) != 0
    real, artificial = np.split(often.max(axis=0) / _DRAWS, 2)
    levels = np.unique(np.round(np.arange(0.1, 1.0, 0.01), 2))
    false = np.array([(1 + np.sum(artificial > level)) / max(1, np.sum(real > level)) for level in levels])
    best = int(np.argmin(false))
    return np.flatnonzero(real > levels[best]) if false[best] <= 1.0 else np.empty(0, dtype=int)


def knockoffs_knockpy(X, y, rate, relevant, seed):
    """Gaussian knockoffs and the lasso, by knockpy."""
    from knockpy import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 - knockpy draws from the global generator
    filter_ = KnockoffFilter(ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "equicorrelated"})
    return np.flatnonzero(filter_.forward(X=X, y=y.astype(float), fdr=rate, shrinkage="ledoitwolf"))


def knockoffs_hidimstat(X, y, rate, relevant, seed):
    """Gaussian knockoffs and the lasso, by hidimstat."""
    from hidimstat import ModelXKnockoff

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ModelXKnockoff(random_state=seed)
        model.fit_importance(X, y.astype(float))
        return np.flatnonzero(np.asarray(model.fdr_selection(fdr=rate)) > 0)


def boruta(X, y, rate, relevant, seed):
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(max_depth=5, random_state=seed, n_jobs=1)
    return np.flatnonzero(BorutaPy(forest, n_estimators="auto", alpha=rate, random_state=seed).fit(X, y).support_)


def abess(X, y, rate, relevant, seed):
    """Best subset, its size by the generalised information criterion."""
    from abess import LogisticRegression as BestSubset

    model = BestSubset(ic_type="gic")
    model.fit(X, y)
    return np.flatnonzero(np.ravel(model.coef_))


def skglm(X, y, rate, relevant, seed):
    """L1-penalised logistic regression by skglm, the penalty by five folds of log loss."""
    from skglm import SparseLogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    largest = np.abs(X.T @ (y - y.mean())).max() / len(y)
    grid = {"alpha": largest * np.logspace(-1.5, -0.05, 10)}
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(SparseLogisticRegression(), grid, cv=folds, scoring="neg_log_loss")
    return np.flatnonzero(np.ravel(search.fit(X, y).best_estimator_.coef_))


def relief(X, y, rate, relevant, seed):
    from skrebate import ReliefF

    return np.asarray(ReliefF(n_features_to_select=relevant, n_jobs=1).fit(X, y).top_features_[:relevant])


def lightgbm_rfe(X, y, rate, relevant, seed):
    """Recursive elimination by LightGBM's gain, a fifth at a time; the size by three folds."""
    from lightgbm import LGBMClassifier

    trees = LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1, importance_type="gain", random_state=seed)
    return np.flatnonzero(RFECV(trees, step=0.2, cv=3).fit(X, y).support_)


PEERS: dict[str, Choose] = {
    "sieve": sieve,
    "f-test": f_test,
    "stability": stability,
    "stabl": stabl,
    "knockpy": knockoffs_knockpy,
    "hidimstat": knockoffs_hidimstat,
    "boruta": boruta,
    "abess": abess,
    "skglm": skglm,
    "relief-told": relief,
    "lightgbm-rfe": lightgbm_rfe,
}


def _half(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Half of the samples of each class."""
    return np.concatenate([rng.permutation(np.flatnonzero(y == c))[: (np.sum(y == c) + 1) // 2] for c in np.unique(y)])


def _coefficients(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coefficients of L1-penalised logistic regressions, the strongest penalty first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = (LogisticRegression(C=C, l1_ratio=1, solver="liblinear", random_state=0) for C in _PENALTIES)
        return np.array([model.fit(X, y).coef_[0] for model in models])
