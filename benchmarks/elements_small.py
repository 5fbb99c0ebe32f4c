"""Machines of a few hundred numbers on nine problems: elements, boosted trees, logistic regression, Nystroem, networks.

At most 1,500 training samples per problem. The settings of ``match="labels"`` were chosen on `CHOSEN_ON`; the tables
are of `REPORTED`. They share no data, with one exception: when the settings were chosen, 952 samples of digits (odd or
even) were among those of optdigits (8 or not). "numbers" counts what must be stored apart from indices. Rejection is
the share of test negatives below the threshold that loses 2 % of the test positives. The distilled network is fitted to
the decision values of the SVC. Fitting times are of the processor, all threads together, after a first fit that loads
the compiled loops.

Run: python benchmarks/elements_small.py [number of splits]
"""

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC
from eigensieve.datasets import load_real

CHOSEN_ON = ("optdigits 8", "semeion", "newsgroups", "isolet", "spam", "van 't Veer", "madelon 0", "made-up 0")
REPORTED = ("faces", "vehicles", "USPS 8", "ORL", "digits", "text", "madelon", "voice", "made-up")
AS_THEY_ARE = ("optdigits 8", "semeion", "newsgroups", "faces", "vehicles", "USPS 8", "ORL", "digits", "text")
TRAINING = 1500


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test part of one problem; labels are 0 and 1."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Distilled(MLPRegressor):
    """A network that is fitted to the decision values of an SVM."""

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return decision values like those of the SVM."""
        return super().predict(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the classes, 0 and 1."""
        return (self.decision_function(X) > 0).astype(int)


def text(counts: Any) -> np.ndarray:
    """Return the thousand most frequent words, weighted by rarity, rows of unit length."""
    documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    top = np.sort(np.argsort(-documents, kind="stable")[:1000])
    X = np.log1p(counts[:, top].toarray()) * np.log(counts.shape[0] / documents[top])
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def madelon(seed: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return clusters on the corners of a five-dimensional cube, among features of noise."""
    return make_classification(
        2600, n_features, n_informative=5, n_redundant=15, n_clusters_per_class=8, flip_y=0.02, class_sep=1.5,
        random_state=seed,
    )  # fmt: skip


def made_up(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a sum of smooth functions of one and two features, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 40))
    a, b, c, d, e, f, g = X[:, rng.permutation(40)[:7]].T
    score = np.sin(2 * a) + b * c + 3 * np.exp(-(d**2) - e**2) + 0.5 * f - 0.7 * np.abs(g)
    return X, score + 0.5 * rng.normal(size=4000) > np.median(score)


def real(name: str, target: Callable[[np.ndarray], np.ndarray], scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a stored set with a two-class target."""
    bunch = load_real(name)
    return bunch.data / scale, target(bunch.target)


def two_groups(a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two of the twenty newsgroups."""
    bunch = load_real("newsgroups20_bydate")
    rows = np.isin(bunch.target, [a, b])
    return text(bunch.data[rows]), bunch.target[rows] == a


def variable_genes() -> tuple[np.ndarray, np.ndarray]:
    """Return the 3,000 genes of the breast-cancer set that vary most."""
    X, y = real("breast_vantveer", lambda y: y == 1)
    return X[:, np.argsort(-X.var(axis=0), kind="stable")[:3000]], y


def orl() -> tuple[np.ndarray, np.ndarray]:
    """Return the ORL faces at 16 x 16; the class is every second person."""
    X, y = real("ORL_32x32", lambda y: y % 2 == 1, 255)
    return X.reshape(-1, 16, 2, 16, 2).mean(axis=(2, 4)).reshape(-1, 256), y


def optdigits() -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of optdigits that are not in scikit-learn's digits."""
    bunch = load_real("optdigits")
    known = {tuple(row) for row in np.delete(load_digits().data, [0, 39], axis=1)}
    new = np.array([tuple(row) not in known for row in bunch.data])
    return bunch.data[new] / 16, bunch.target[new]


def optdigits_8() -> tuple[np.ndarray, np.ndarray]:
    """Return optdigits; the class is whether a digit is an 8."""
    X, y = optdigits()
    return X, y == 8


PROBLEMS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "faces": lambda: real("CBCL_faces_19x19", lambda y: y == 1, 255),
    "vehicles": lambda: real("vehicles_GTI_20x20", lambda y: y == 1, 255),
    "USPS 8": lambda: real("USPS", lambda y: y == 8),
    "ORL": orl,
    "digits": lambda: (load_digits().data / 16, load_digits().target % 2 == 1),
    "text": lambda: (text(load_real("BASEHOCK").data), load_real("BASEHOCK").target == 1),
    "madelon": lambda: madelon(1, 200),
    "voice": lambda: real("LSVT_voice", lambda y: y == y.min()),
    "made-up": lambda: made_up(1),
    "optdigits 8": optdigits_8,
    "semeion": lambda: real("semeion", lambda y: y % 2 == 1),
    "newsgroups": lambda: two_groups(8, 9),
    "isolet": lambda: real("Isolet", lambda y: np.isin(y, [1, 2, 3, 4, 6, 15, 19, 21, 25])),
    "spam": lambda: real("spambase", lambda y: y == 1),
    "van 't Veer": variable_genes,
    "madelon 0": lambda: madelon(0, 100),
    "made-up 0": lambda: made_up(0),
}


def split(name: str, seed: int) -> Split:
    """Return at most `TRAINING` samples for training and at most 3,000 others."""
    X, y = PROBLEMS[name]()
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y).astype(int)
    order = np.random.default_rng(seed).permutation(len(y))
    n = min(TRAINING, int(0.6 * len(y)))
    train, test = order[:n], order[n : n + 3000]
    if name not in AS_THEY_ARE:
        X = np.clip(StandardScaler().fit(X[train]).transform(X), -8, 8)
    return Split(X[train], y[train], X[test], y[test])


def fitted(name: str, data: Split, svc: SVC) -> Any:
    """Return one of the compared machines, fitted."""
    many = data.X.shape[1] > 700
    made: dict[str, Callable[[], Any]] = {
        "SVC": lambda: svc,
        "200 elements": lambda: ElementSelectedSVC(svc, refine=True, random_state=0),
        "200 elements, labels": lambda: ElementSelectedSVC(svc, match="labels", refine=True, random_state=0),
        "auto elements, labels": lambda: ElementSelectedSVC(
            svc, n_elements="auto", match="labels", refine=True, random_state=0
        ),
        # Of the rates 0.1 and 0.3, this one is better on the problems that settings were chosen on.
        "60 trees of 4 leaves": lambda: GradientBoostingClassifier(
            n_estimators=60, max_leaf_nodes=4, max_depth=None, learning_rate=0.3, random_state=0,
            max_features=200 if many else None,
        ),
        "logistic regression": lambda: LogisticRegression(max_iter=300),
        "Nystroem 200": lambda: make_pipeline(
            Nystroem(gamma=svc._gamma, n_components=min(200, len(data.y)), random_state=0),
            LogisticRegression(C=10, max_iter=300),
        ),
        "network of 4 units": lambda: MLPClassifier((4,), alpha=0.1, max_iter=300, random_state=0),
        "network, distilled": lambda: Distilled(hidden_layer_sizes=(4,), alpha=0.1, max_iter=300, random_state=0),
    }  # fmt: skip
    model = made[name]()
    labels = svc.decision_function(data.X) if isinstance(model, Distilled) else data.y
    return model if model is svc else model.fit(data.X, labels)


NAMES = (
    "SVC", "200 elements", "200 elements, labels", "auto elements, labels", "60 trees of 4 leaves",
    "logistic regression", "Nystroem 200", "network of 4 units", "network, distilled",
)  # fmt: skip


def machines(data: Split, names: Sequence[str] = NAMES) -> list[Any]:
    """Return the named machines, fitted on one split."""
    svc = SVC(C=10).fit(data.X, data.y)
    return [fitted(name, data, svc) for name in names]


def size(model: Any, n_features: int) -> tuple[int, int]:
    """Return how many numbers a model stores and how many features it reads."""
    if isinstance(model, ElementSelectedSVC):
        weights = int(np.count_nonzero(model.dual_coef_))
        widths = np.unique(model.widths_[model.widths_ > 0]).size
        return model.n_elements_ + weights + widths + 1, np.unique(model.mask_.nonzero()[0]).size
    if isinstance(model, GradientBoostingClassifier):
        nodes = sum(one[0].tree_.node_count for one in model.estimators_)
        return nodes, int((model.feature_importances_ > 0).sum())
    if isinstance(model, SVC):
        return model.support_vectors_.size + model.dual_coef_.size + 1, n_features
    if isinstance(model, LogisticRegression):
        return model.coef_.size + 1, n_features
    if isinstance(model, MLPClassifier | MLPRegressor):
        return sum(c.size for c in [*model.coefs_, *model.intercepts_]), n_features
    kernel_map = model[0]
    return kernel_map.components_.size + kernel_map.components_.shape[0] + 1, n_features


def rejection_at(scores: np.ndarray, positive: np.ndarray, rate: float) -> float:
    """Return the share of negatives below the threshold that loses the given share of these positives."""
    ordered = np.sort(scores[positive])
    return float((scores[~positive] < ordered[int(np.floor(rate * ordered.size + 1e-9))]).mean())


def scores_of(model: Any, X: np.ndarray) -> np.ndarray:
    """Return one score per sample, larger for class 1."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]


def run(name: str, splits: int) -> np.ndarray:
    """Return models x (area, rejection, accuracy, numbers, features, fitting time over the SVC's), mean over splits."""
    rows = np.empty((splits, len(NAMES), 6))
    for seed in range(splits):
        data = split(name, seed)
        begin = time.process_time()
        svc = SVC(C=10).fit(data.X, data.y)
        base = time.process_time() - begin
        for k, label in enumerate(NAMES):
            begin = time.process_time()
            model = fitted(label, data, svc)
            took = time.process_time() - begin
            scores = scores_of(model, data.X_test)
            rows[seed, k] = (
                roc_auc_score(data.y_test, scores),
                rejection_at(scores, data.y_test == 1, 0.02),
                float((model.predict(data.X_test) == data.y_test).mean()),
                *size(model, data.X.shape[1]),
                took / base,
            )
    return rows.mean(axis=0)


def main() -> None:
    """Print areas per problem, means over problems, and what was reached."""
    warnings.simplefilter("ignore")
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    print(f"means over {splits} splits: area under the ROC, rejection at 2 % lost, numbers, features, fit/SVC")
    machines(split("voice", 0))
    results = []
    for name in REPORTED:
        results.append(run(name, splits))
        print(name)
        for label, row in zip(NAMES, results[-1], strict=True):
            print(f"  {label:24s}{row[0]:8.4f}{row[1]:8.3f}{row[3]:9.0f}{row[4]:6.0f}{row[5]:8.1f}", flush=True)
    table = np.array(results)
    print(
        f"\n{'means':24s}{'area':>9s}{'rejection':>11s}{'accuracy':>10s}{'numbers':>9s}{'features':>10s}{'fit/SVC':>9s}"
    )
    for k, label in enumerate(NAMES):
        mean = table[:, k].mean(axis=0)
        median = np.median(table[:, k, 5])
        print(f"{label:24s}{mean[0]:9.4f}{mean[1]:11.3f}{mean[2]:10.3f}{mean[3]:9.0f}{mean[4]:10.0f}{median:9.1f}")
    ours, trees = table[:, NAMES.index("200 elements, labels")], table[:, NAMES.index("60 trees of 4 leaves")]
    checks = {
        "mean area level with the trees": ours[:, 0].mean() >= trees[:, 0].mean(),
        f"ahead on {int((ours[:, 0] > trees[:, 0]).sum())} of 9, wanted 5": (ours[:, 0] > trees[:, 0]).sum() >= 5,
        "no more numbers": ours[:, 3].mean() <= trees[:, 3].mean(),
        "no more features": ours[:, 4].mean() <= trees[:, 4].mean(),
        "rejection at least 0.61": ours[:, 1].mean() >= 0.61,
        "fitted in at most 5 times the SVC's time (median)": np.median(ours[:, 5]) <= 5,
    }
    for what, reached in checks.items():
        print(f"{what}: {'reached' if reached else 'MISSED'}")


if __name__ == "__main__":
    main()
