"""Unequal classes: the span of the indicators against two ways of giving every class the same weight.

Three classes, 200 features of which 12 differ between the classes; precision of the 12 largest weights and balanced
accuracy of a linear SVM on them, mean of 20 draws.

    python benchmarks/steering_imbalance.py
"""

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import LinearSVC

from eigensieve import QAlphaSelector

RELEVANT, FEATURES = 12, 200


def leading(G: np.ndarray) -> np.ndarray:
    weights = np.linalg.eigh(G)[1][:, -1]
    return weights * np.sign(weights.sum())


def unit_columns(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)


def equal_means(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Q not orthonormal: every class mean counts the same in the between-class part."""
    Z, classes = unit_columns(X), np.unique(y)
    U = np.column_stack([(y == c) / np.sum(y == c) for c in classes])
    U = (U - U.mean(axis=1, keepdims=True)) * np.sqrt(len(y) / len(classes))
    return leading((Z.T @ Z) * (Z.T @ U @ U.T @ Z))


def equal_samples(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Samples weighted so that every class has the same total weight, as if the small ones were repeated."""
    classes, counts = np.unique(y, return_counts=True)
    w = 1 / counts[y] / len(classes)
    Z = (X - w @ X) * np.sqrt(w)[:, None]
    Z /= np.linalg.norm(Z, axis=0)
    root = np.sqrt(w)[:, None]
    indicators = (y[:, None] == classes) * root
    basis, size, _ = np.linalg.svd(indicators - root @ (root.T @ indicators), full_matrices=False)
    Q = basis[:, size > 1e-9]
    return leading((Z.T @ Z) * (Z.T @ Q @ Q.T @ Z))


METHODS = {
    "span": lambda X, y: QAlphaSelector(RELEVANT).fit(X, y).weights_,
    "equal means": equal_means,
    "equal samples": equal_samples,
}


def draw(rng: np.random.Generator, means: np.ndarray, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((len(y), FEATURES))
    X[:, :RELEVANT] += means[y]
    return X, y


if __name__ == "__main__":
    print(f"{'class sizes':16s}" + "".join(f"{name:>26s}" for name in METHODS))
    for sizes in ((60, 60, 60), (80, 80, 20), (90, 80, 8), (150, 20, 8), (170, 5, 5)):
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
        for seed in range(20):
            rng = np.random.default_rng(seed)
            means = rng.standard_normal((3, RELEVANT))
            (X, y), (X_test, y_test) = draw(rng, means, sizes), draw(rng, means, (200, 200, 200))
            for name, weigh in METHODS.items():
                top = np.argsort(-weigh(X, y))[:RELEVANT]
                svm = LinearSVC(class_weight="balanced", dual=False).fit(X[:, top], y)
                accuracy = balanced_accuracy_score(y_test, svm.predict(X_test[:, top]))
                found[name].append((float(np.mean(top < RELEVANT)), accuracy))
        cells = (np.mean(found[name], axis=0) for name in METHODS)
        print(f"{sizes!s:16s}" + "".join(f"  precision {p:.2f} accuracy {a:.2f}" for p, a in cells))
