"""The machines of ``eigensieve compress``: the full SVM, the small one, and other small machines beside them.

All are fitted on the same training samples, for classes or a quantity, and measured on the same held-out samples.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve._extras import require
from eigensieve._types import Array, FloatArray, IntArray, MatrixLike
from eigensieve.cli.errors import InputProblem, ModelProblem, explain_os_error, input_errors

TREES, LEAVES, LANDMARKS, UNITS = 60, 4, 200, 4
WIDE = 700
"""With more features than this, each split of a tree tries 200 of them. Otherwise the trees take minutes."""


def split(y: Array, share: float, seed: int, source: str, *, quantity: bool) -> tuple[IntArray, IntArray]:
    """Return the rows to fit on and the rows to measure on; with classes, each has its share."""
    from sklearn.model_selection import train_test_split

    if not quantity:
        values, counts = np.unique(y, return_counts=True)
        if len(values) < 2 or counts.min() < 3:
            raise InputProblem(
                f"'{source}' has the labels {', '.join(map(str, values[:5]))}; there must be two classes or more, each "
                "with at least 3 samples. Check --label."
            )
    with input_errors(source):
        rows, groups = np.arange(len(y)), None if quantity else y
        return tuple(train_test_split(rows, test_size=share, stratify=groups, random_state=seed))


def trained_svm(penalty: float, X: MatrixLike, y: Array, *, quantity: bool) -> Any:
    from sklearn.svm import SVC, SVR

    if not quantity:
        return SVC(C=penalty).fit(X, y)
    # In units of the target's spread: the same machine as if the target had been standardised.
    unit = float(np.std(y)) or 1.0
    return SVR(C=penalty * unit, epsilon=0.1 * unit).fit(X, y)


def opened_svm(path: str, n_features: int, source: str, *, quantity: bool) -> Any:
    """Load a fitted SVC or SVR from a skops file in which nothing but scikit-learn's types occur."""
    from sklearn.svm import SVC, SVR

    sio = require("skops.io", extra="models")
    try:
        foreign = sio.get_untrusted_types(file=path)
        if foreign:
            raise ModelProblem(
                f"'{path}' holds types that are not trusted: {', '.join(foreign[:5])}. It was not loaded. Save a "
                "plain SVC or SVR."
            )
        machine = sio.load(path, trusted=[])
    except OSError as error:
        raise ModelProblem(explain_os_error(error, path, "reading")) from error
    except ModelProblem:
        raise
    except Exception as error:
        raise ModelProblem(f"'{path}' is damaged or no skops file. Save the SVM again with skops.io.dump.") from error
    kind: Any = SVR if quantity else SVC
    if not isinstance(machine, kind) or not hasattr(machine, "support_vectors_"):
        raise ModelProblem(
            f"'{path}' holds a {type(machine).__name__}, not a fitted {kind.__name__}. Save the {kind.__name__} itself."
        )
    if machine.n_features_in_ != n_features:
        raise ModelProblem(
            f"The SVM '{path}' was fitted on {machine.n_features_in_} features; '{source}' has {n_features}. "
            "Give it the same columns."
        )
    return machine


def cascade(rejector: Any, full: Any, false_negatives: float, seed: int, X: MatrixLike, y: Array) -> Any:
    """Fit the elements on three quarters of the samples, and the threshold in front of the SVM on the rest."""
    from eigensieve.estimators import RejectionCascade

    order = np.random.default_rng(seed).permutation(len(y))
    fit_rows, held_out = order[len(y) // 4 :], order[: len(y) // 4]
    rejector.fit(X[fit_rows], y[fit_rows])
    return RejectionCascade(rejector, full, false_negatives).fit(X[held_out], y[held_out])


@dataclass(frozen=True)
class Measured:
    """One machine on held-out samples."""

    name: str
    score: float  # accuracy, or R squared of numbers
    area: float | None  # area under the ROC curve, mean over classes; None without classes or values to rank by
    numbers: int  # what must be stored apart from indices
    features: int  # how many are read
    ms_per_1000: float  # time of `predict` in Python for 1,000 samples, the best of three

    def cells(self, *, quantity: bool) -> dict[str, str]:
        area = {"area under ROC curve": "" if self.area is None else f"{self.area:.4f}"}
        return {
            "machine": self.name,
            "R squared" if quantity else "accuracy": f"{self.score:.4f}",
            **({} if quantity else area),
            "numbers": f"{self.numbers:,}",
            "features": f"{self.features:,}",
            "ms per 1,000": f"{self.ms_per_1000:.2f}",
        }


def measure(name: str, machine: Any, X: MatrixLike, y: Array) -> Measured:
    from sklearn.metrics import roc_auc_score

    machine.predict(X[:2])  # compiled on first use
    times = []
    for _ in range(3):
        start = time.perf_counter()
        machine.predict(X)
        times.append(time.perf_counter() - start)
    area, ms = None, 1e6 * min(times) / len(X)
    if hasattr(machine, "classes_") and hasattr(machine, "decision_function"):
        scores = np.asarray(machine.decision_function(X))
        labels = machine.classes_ if scores.ndim == 2 else machine.classes_[1:]
        columns = scores.reshape(len(X), -1).T
        area = float(np.mean([roc_auc_score(y == label, one) for label, one in zip(labels, columns, strict=True)]))
    return Measured(name, float(machine.score(X, y)), area, *size(machine, X.shape[1]), ms)


def size(machine: Any, n_features: int) -> tuple[int, int]:
    """Return how many numbers a machine stores, apart from indices, and how many features it reads."""
    machine = machine[-1] if hasattr(machine, "steps") and not hasattr(machine[0], "components_") else machine
    if hasattr(machine, "mask_"):
        widths = np.unique(machine.widths_[machine.widths_ > 0]).size
        weights = np.count_nonzero(machine.dual_coef_)
        used = np.unique(machine.mask_.nonzero()[0]).size
        return int(machine.n_elements_ + weights + widths + machine.intercept_.size), used
    if hasattr(machine, "rejector_"):
        parts = [size(part, n_features)[0] for part in (machine.rejector_, machine.classifier_)]
        return sum(parts), n_features
    if hasattr(machine, "support_vectors_"):
        return machine.support_vectors_.size + machine.dual_coef_.size + machine.intercept_.size, n_features
    if hasattr(machine, "estimators_"):
        nodes = sum(tree.tree_.node_count for tree in np.ravel(machine.estimators_))
        return nodes, int((machine.feature_importances_ > 0).sum())
    if hasattr(machine, "steps"):
        landmarks = machine[0].components_
        return landmarks.size + size(machine[1], n_features)[0], n_features
    if hasattr(machine, "network"):
        return sum(part.size for part in [*machine.network.coefs_, *machine.network.intercepts_]), n_features
    return machine.coef_.size + np.size(machine.intercept_), n_features


class Distilled:
    """A small network that imitates the values of a fitted machine, a regressor or one with `decision_function`."""

    def __init__(self, teacher: Any, seed: int) -> None:
        from sklearn.neural_network import MLPRegressor

        self.teacher = teacher
        self.network = MLPRegressor(hidden_layer_sizes=(UNITS,), max_iter=300, random_state=seed)
        if hasattr(teacher, "classes_"):
            self.classes_ = teacher.classes_

    def fit(self, X: MatrixLike, y: Array) -> "Distilled":
        values = self.teacher.decision_function(X) if hasattr(self, "classes_") else self.teacher.predict(X)
        self.middle, self.unit = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-300)
        self.network.fit(X, (values - self.middle) / self.unit)
        return self

    def decision_function(self, X: MatrixLike) -> FloatArray:
        return self.network.predict(X) * self.unit + self.middle

    def predict(self, X: MatrixLike) -> Array:
        values = self.decision_function(X)
        if not hasattr(self, "classes_"):
            return values
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    def score(self, X: MatrixLike, y: Array) -> float:
        from sklearn.metrics import accuracy_score, r2_score

        return float((accuracy_score if hasattr(self, "classes_") else r2_score)(y, self.predict(X)))


def peers(full: Any, X: MatrixLike, seed: int) -> dict[str, Callable[[], Any]]:
    """Return makers of the other small machines, for the task of the fitted machine `full`."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    classes = hasattr(full, "classes_")
    trees = {"n_estimators": TREES, "max_leaf_nodes": LEAVES, "max_depth": None, "learning_rate": 0.3,
             "max_features": 200 if X.shape[1] > WIDE else None, "random_state": seed}  # fmt: skip
    line = (lambda: LogisticRegression(max_iter=300)) if classes else Ridge
    count = min(LANDMARKS, len(X))
    landmarks = Nystroem(gamma=full._gamma, n_components=count, random_state=seed)
    return {
        f"{TREES} trees of {LEAVES} leaves": lambda: (
            GradientBoostingClassifier(**trees) if classes else GradientBoostingRegressor(**trees)
        ),
        "logistic regression" if classes else "ridge regression": line,
        f"Nystroem, {count} samples": lambda: make_pipeline(landmarks, line()),
        f"network of {UNITS} units, distilled": lambda: Distilled(full, seed),
    }


def compare(full: Any, train: tuple[Any, Any], held_out: tuple[Any, Any], seed: int, progress: Any) -> list[Measured]:
    found = []
    for name, make in peers(full, train[0], seed).items():
        progress(name)
        with warnings.catch_warnings():
            # They are shown as they come, with their usual settings; what they did not reach shows in the table.
            warnings.simplefilter("ignore")
            found.append(measure(name, make().fit(*train), *held_out))
    return found
