"""Labelled sets, and other ways to select features from them, for ``knowledge.py``.

A peer is a function ``peer(X, y, count) -> indices, best first`` on standardised columns. Peers that are slow on wide
data see the best 1,000 or 3,000 features of the F-test, which is told in their names' comments.
"""

import importlib.util
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.svm import LinearSVC

from eigensieve.datasets import list_real, load_real

Peer = Callable[[np.ndarray, np.ndarray, int], np.ndarray]

_LEAST_FEATURES = 40
_SKIPPED = ("newsgroups20_bydate",)  # larger than all others together


def load(name: str, cap: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return X and classes 0..c-1 with at most `cap` samples, drawn by class; None where y has no classes."""
    bunch = load_real(name)
    if bunch.target is None:
        return None
    y = np.asarray(bunch.target)
    if y.dtype.kind == "f" and not (y == np.round(y)).all():
        return None
    y = np.unique(y, return_inverse=True)[1]
    sizes = np.bincount(y)
    keep = np.flatnonzero(sizes[y] >= 3)
    if len(keep) > cap:
        keep = keep[np.random.default_rng(0).permutation(len(keep))]
        keep = keep[np.argsort(y[keep], kind="stable")][np.linspace(0, len(keep) - 1, cap).round().astype(int)]
        keep = keep[np.bincount(y[keep], minlength=len(sizes))[y[keep]] >= 3]
    keep = np.sort(keep)
    X = bunch.data[keep]
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    return X[:, X.std(axis=0) > 0], np.unique(y[keep], return_inverse=True)[1]


def set_names(part: str, cap: int) -> list[str]:
    """Names of the sets for choosing, for reporting, or of all, in an order drawn once and for all.

    Sets with at least 40 features are sorted by name. Those at even positions are for choosing; "all" takes both.
    """
    found = []
    for name in sorted(set(list_real()) - set(_SKIPPED), key=str.lower):
        pair = load(name, cap)
        if pair is not None and pair[0].shape[1] >= _LEAST_FEATURES and pair[1].max() > 0:
            found.append(name)
    half = found if part == "all" else found[0 if part == "choose" else 1 :: 2]
    return [half[i] for i in np.random.default_rng(1).permutation(len(half))]


def scaled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standardise both by the training part. Columns that are constant there become 0."""
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    varies = deviation > 1e-9 * max(1e-300, deviation.max())
    deviation = np.where(varies, deviation, 1.0)
    return (train - mean) / deviation * varies, np.clip((test - mean) / deviation, -20, 20) * varies


def standard(X: np.ndarray) -> np.ndarray:
    return scaled(X, X[:0])[0]


def top(scores: np.ndarray, count: int) -> np.ndarray:
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:count]


def best_by_f(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    return top(f_classif(X, y)[0], count)


def mutual_information(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Mutual information with the class; of more than 3,000 features, among the best by F."""
    some = best_by_f(X, y, 3_000)
    return some[top(mutual_info_classif(X[:, some], y, random_state=0), count)]


def mrmr(relevance: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Peer:
    """mRMR: the F statistic over the mean absolute correlation with the picked features; among the best 1,000 by F."""

    def select(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
        F = np.nan_to_num(relevance(X, y)[0], posinf=1e12)
        some = top(F, 1_000)
        Z, F = X[:, some] / np.maximum(np.linalg.norm(X[:, some], axis=0), 1e-12), F[some]
        redundancy, open_ = np.zeros(len(some)), np.ones(len(some), dtype=bool)
        order: list[int] = []
        for step in range(min(count, len(some))):
            gain = F / np.maximum(redundancy / step, 1e-3) if step else F
            order.append(int(np.where(open_, gain, -np.inf).argmax()))
            open_[order[-1]] = False
            redundancy += np.abs(Z.T @ Z[:, order[-1]])
        return some[order]

    return select


def fast_can(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """FastCan with class indicators as targets, among the best 3,000 by F."""
    from fastcan import FastCan

    some = best_by_f(X, y, 3_000)
    targets = np.eye(int(y.max()) + 1)[y]
    return some[np.asarray(FastCan(min(count, len(y) - 2), verbose=0).fit(X[:, some], targets).indices_)]


def relief_f(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """ReliefF with 10 neighbours per class; city-block distance on features scaled to a range of 1."""
    ranges = np.ptp(X, axis=0)
    X = X / np.where(ranges > 0, ranges, 1.0)
    distance, share = cdist(X, X, "cityblock"), np.bincount(y) / len(y)
    np.fill_diagonal(distance, np.inf)
    weights = np.zeros(X.shape[1])
    for i in range(len(y)):
        for c in range(len(share)):
            members = np.flatnonzero((y == c) & (np.arange(len(y)) != i))
            if not len(members):
                continue
            near = members[np.argsort(distance[i, members])[:10]]
            away = np.abs(X[near] - X[i]).mean(axis=0)
            weights += -away if c == y[i] else share[c] / (1 - share[y[i]]) * away
    return top(weights, count)


def l1_svc(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """The largest weights of an L1 LinearSVC at the first C that leaves enough of them."""
    weights = np.zeros(X.shape[1])
    for C in (0.003, 0.01, 0.03, 0.1, 0.3, 1.0):
        machine = LinearSVC(penalty="l1", dual=False, C=C, max_iter=200, tol=1e-3).fit(X, y)
        weights = np.abs(machine.coef_).max(axis=0)
        if np.count_nonzero(weights) >= count:
            break
    return top(weights + 1e-18 * f_classif(X, y)[0], count)


def random_forest(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    return top(RandomForestClassifier(300, random_state=0).fit(X, y).feature_importances_, count)


def svm_rfe(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Recursive elimination by LinearSVC, a tenth of the features at a time."""
    alive, gone = np.arange(X.shape[1]), []
    while len(alive) > 1:
        machine = LinearSVC(dual=True, max_iter=300, tol=1e-3).fit(X[:, alive], y)
        order = np.argsort(np.sum(machine.coef_**2, axis=0))
        worst = max(1, len(alive) // 10)
        gone.append(alive[order[:worst]])
        alive = np.sort(alive[order[worst:]])
    return np.concatenate([*gone, alive])[::-1][:count]


def lasso(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Features in the order in which they enter the lasso path, then by F."""
    entered = lars_path(X, y - y.mean(), method="lasso", max_iter=3 * count)[1]
    return np.array(list(dict.fromkeys([*entered, *top(f_regression(X, y)[0], X.shape[1])]))[:count])


def self_training(X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Two rounds: logistic regression on 50 features guesses the labels not known (-1), the F-test selects anew."""
    known = y >= 0
    order = best_by_f(X[known], y[known], 50)
    for _ in range(2):
        guesses = LogisticRegression(max_iter=200).fit(X[known][:, order], y[known]).predict(X[:, order])
        guesses[known] = y[known]
        order = best_by_f(X, guesses, count)
    return order


CLASS_PEERS: dict[str, Peer] = {
    "F-test": best_by_f,
    "mutual information": mutual_information,
    "mRMR": mrmr(f_classif),
    "fastcan": fast_can,
    "ReliefF": relief_f,
    "L1-SVC": l1_svc,
    "random forest": random_forest,
    "SVM-RFE": svm_rfe,
}
if importlib.util.find_spec("fastcan") is None:
    del CLASS_PEERS["fastcan"]

TARGET_PEERS: dict[str, Peer] = {
    "f_regression": lambda X, y, count: top(f_regression(X, y)[0], count),
    "mutual_info_regression": lambda X, y, count: top(mutual_info_regression(X, y, random_state=0), count),
    "mRMR": mrmr(f_regression),
    "lasso": lasso,
}
FEW_PEERS: dict[str, Peer] = {
    "F-test on the labelled": lambda X, y, count: best_by_f(X[y >= 0], y[y >= 0], count),
    "self-training with the F-test": self_training,
}
