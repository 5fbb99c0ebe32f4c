"""Labelled peers from packages, and stability selection, for ``knowledge.py labels --peers all``.

    pip install abess boruta hidimstat knockpy lightgbm pyHSICLasso skglm skrebate

Each is ``peer(X, y, count) -> indices, best first`` on standardised columns. Slow ones see the best features by F only.
"""

import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

from knowledge_peers import Peer, best_by_f, top

_SCREENED = 1_000
_COPIED = 300  # features of which knockoffs are made
_HALVES = 30
_PENALTIES = (0.01, 0.03, 0.1, 0.3)


def frequencies(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Share of 30 halves in which an L1-SVC takes each feature, per penalty."""
    rng, often = np.random.default_rng(0), np.zeros((len(_PENALTIES), X.shape[1]))
    for _ in range(_HALVES):
        half = np.concatenate(
            [rng.permutation(np.flatnonzero(y == c))[: (np.sum(y == c) + 1) // 2] for c in np.unique(y)]
        )
        for row, C in zip(often, _PENALTIES, strict=True):
            machine = LinearSVC(penalty="l1", dual=False, C=C, max_iter=100, tol=1e-2).fit(X[half], y[half])
            row += np.any(machine.coef_ != 0, axis=0)
    return often / _HALVES


def stability(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Stability selection and Stabl: the largest share of halves, among the best 1,000 by F.

    Stabl's permuted columns set a threshold on this score. They do not change the order.
    """
    some = best_by_f(X, y, _SCREENED)
    often = frequencies(X[:, some], y)
    return some[top(often.max(axis=0) + 1e-3 * often.mean(axis=0), count)]


def boruta(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Boruta's ranking, then the forest's importance; among the best 1,000 by F."""
    from boruta import BorutaPy

    some = best_by_f(X, y, _SCREENED)
    forest = RandomForestClassifier(max_depth=5, random_state=0)
    found = BorutaPy(forest, n_estimators=200, max_iter=20, random_state=0).fit(X[:, some], y)
    importance = forest.set_params(n_estimators=300).fit(X[:, some], y).feature_importances_
    return some[top(importance - found.ranking_, count)]


def lightgbm(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Recursive elimination by LightGBM's gain, a third at a time; among the best 1,000 by F."""
    from lightgbm import LGBMClassifier

    alive, gone = best_by_f(X, y, _SCREENED), []
    while True:
        trees = LGBMClassifier(n_estimators=50, min_child_samples=5, verbose=-1, n_jobs=1, importance_type="gain")
        order = np.argsort(trees.fit(X[:, alive], y).feature_importances_, kind="stable")
        if len(alive) <= count:
            return np.concatenate([*gone, alive[order]])[::-1][:count]
        worst = min(max(1, len(alive) // 3), len(alive) - 5)
        gone.append(alive[order[:worst]])
        alive = alive[order[worst:]]


def hsic_lasso(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """HSIC lasso (Yamada et al. 2014) in blocks of 20 samples, then by F; among the best 1,000 by F."""
    from pyHSICLasso import HSICLasso

    some = best_by_f(X, y, _SCREENED)
    model = HSICLasso()
    model.input(X[:, some], y + 1, featname=[str(i) for i in range(len(some))])
    model.classification(count, B=20 if len(y) >= 20 else 0, M=1, n_jobs=1)
    return np.array(list(dict.fromkeys([*some[list(model.get_index())], *best_by_f(X, y, count)]))[:count])


def abess(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Best subsets of 5, 10, 20, 50 and 100 features: a feature's place is the first subset that it is in."""
    from abess import LogisticRegression, MultinomialRegression

    some = best_by_f(X, y, _SCREENED)
    some = some[X[:, some].any(axis=0)]  # it refuses constant columns
    score = -np.arange(len(some)) / len(some)
    for size in (s for s in (5, 10, 20, 50, 100) if s <= min(count, len(y) - 2)):
        kind = LogisticRegression if y.max() == 1 else MultinomialRegression
        coefficients = kind(support_size=[size]).fit(X[:, some], y).coef_
        score += np.any(np.reshape(coefficients, (len(some), -1)) != 0, axis=1)
    return some[top(score, count)]


def skglm(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """The order in which features enter the path of a multi-task lasso on the classes, then by F."""
    from skglm import MultiTaskLasso

    some = best_by_f(X, y, _SCREENED)
    targets = np.eye(int(y.max()) + 1)[y]
    largest = np.linalg.norm(X[:, some].T @ (targets - targets.mean(axis=0)), axis=1).max() / len(y)
    entered: dict[int, None] = {}
    for alpha in largest * np.logspace(-0.02, -2, 25):
        sizes = np.linalg.norm(MultiTaskLasso(alpha, max_iter=20).fit(X[:, some], targets).coef_, axis=0)
        entered |= dict.fromkeys(int(i) for i in top(sizes, np.count_nonzero(sizes)))
        if len(entered) >= count:
            break
    return np.array(list(dict.fromkeys([*some[list(entered)], *best_by_f(X, y, count)]))[:count])


def knockoffs(importance: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Peer:
    """By the largest statistic over the classes, each against the rest; among the best 300 by F."""

    def select(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
        some = best_by_f(X, y, _COPIED)
        classes = np.unique(y)[1:] if y.max() == 1 else np.unique(y)
        statistics = [importance(X[:, some], (y == c).astype(float)) for c in classes]
        return some[top(np.max(statistics, axis=0), count)]

    return select


def knockpy(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Gaussian knockoffs, differences of the lasso's coefficients."""
    from knockpy import KnockoffFilter

    np.random.seed(0)  # noqa: NPY002 - knockpy draws from the global generator
    found = KnockoffFilter(ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "equicorrelated"})
    found.forward(X=X, y=y, fdr=0.1, shrinkage="ledoitwolf")
    return np.asarray(found.W)


def hidimstat(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Gaussian knockoffs, differences of the lasso's coefficients."""
    from hidimstat import ModelXKnockoff

    model = ModelXKnockoff(random_state=0)
    return np.ravel(model.fit_importance(X, y))


def multi_surf(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """MultiSURF by skrebate, among the best 1,000 by F."""
    from skrebate import MultiSURF

    some = best_by_f(X, y, _SCREENED)
    return some[top(MultiSURF(n_features_to_select=count, n_jobs=1).fit(X[:, some], y).feature_importances_, count)]


def quiet(peer: Peer) -> Peer:
    def select(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            return peer(X, y, count)

    return select


PACKAGE_PEERS: dict[str, Peer] = {
    "Stabl, stability selection": quiet(stability),
    "Boruta": quiet(boruta),
    "LightGBM with elimination": quiet(lightgbm),
    "HSIC lasso": quiet(hsic_lasso),
    "abess": quiet(abess),
    "skglm": quiet(skglm),
    "MultiSURF": quiet(multi_surf),
    "knockoffs (knockpy)": quiet(knockoffs(knockpy)),
    "knockoffs (hidimstat)": quiet(knockoffs(hidimstat)),
}
