"""Missing values: the sieve on data with gaps beside imputation followed by the sieve, on real sets.

A share of the values is taken out, at random or small values first. 50 features are chosen without labels and judged on
the complete data: accuracy of 1-NN (leave one out) and NMI of k-means with the classes.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

from eigensieve import SieveSelector

SETS = (
    "SRBCT_khan",
    "lymphoma_alizadeh3",
    "forages_nir",
    "satimage",
    "optdigits",
    "UCR_Plane",
    "tissue_dslabs",
    "yeoh_ALL_6types",
    "TOX_171",
    "MetRef_donor",
)
COUNT, MOST_SAMPLES, MOST_FEATURES, DRAWS = 50, 200, 300, 1


def iterative(X: np.ndarray) -> np.ndarray:
    return np.asarray(IterativeImputer(max_iter=3, n_nearest_features=20, random_state=0).fit_transform(X))


WAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaps as they are": lambda X: X,
    "median": SimpleImputer(strategy="median").fit_transform,
    "kNN": KNNImputer().fit_transform,
    "iterative": iterative,
}


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """At most 200 samples and 300 features of a set, drawn at random."""
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), file["y"]
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(X))[:MOST_SAMPLES])
    X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    return X[:, np.sort(rng.permutation(X.shape[1])[:MOST_FEATURES])], y


def with_gaps(X: np.ndarray, rate: float, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Take out values at random, or those that are small for their feature; some features lose more than others."""
    if kind == "random":
        return np.where(rng.random(X.shape) < rate, np.nan, X)
    size = (X - X.mean(axis=0)) / X.std(axis=0) + 0.5 * rng.standard_normal(X.shape) + rng.standard_normal(X.shape[1])
    return np.where(size < np.quantile(size, rate), np.nan, X)


def quality(X: np.ndarray, y: np.ndarray, chosen: np.ndarray) -> tuple[float, float]:
    """1-NN accuracy, and NMI of k-means, on the chosen features of the complete data."""
    Z = X[:, chosen]
    Z = (Z - Z.mean(axis=0)) / np.maximum(Z.std(axis=0), 1e-12)
    nearest = KNeighborsClassifier(1).fit(Z, y).kneighbors(return_distance=False)[:, 0]
    found = [KMeans(len(np.unique(y)), n_init=3, random_state=seed).fit_predict(Z) for seed in range(3)]
    return float(np.mean(y[nearest] == y)), float(np.mean([normalized_mutual_info_score(y, each) for each in found]))


def main() -> None:
    folder = Path(os.environ["EIGENSIEVE_DATA"])
    names = [name for name in SETS if (folder / f"{name}.npz").exists()]
    print(f"{len(names)} sets, {DRAWS} draws of the gaps.")
    print()
    print("| missing | share | way | 1-NN | NMI | 1-NN beyond gaps as they are | NMI beyond |")
    print("|---|---|---|---|---|---|---|")
    for kind in ("random", "size"):
        for rate in (0.05, 0.2, 0.5):
            found = {way: [] for way in WAYS}
            for name in names:
                for seed in range(DRAWS):
                    for way, values in _one(folder, name, kind, rate, seed).items():
                        found[way].append(values)
            base = np.array(found["gaps as they are"])
            for way, rows in found.items():
                values = np.array(rows)
                more = (values - base).reshape(len(names), -1, 2).mean(axis=1)
                error = more.std(axis=0, ddof=1) / np.sqrt(len(names))
                gains = " | ".join(f"{a:+.3f} ± {b:.3f}" for a, b in zip(more.mean(axis=0), error, strict=True))
                mean = values.mean(axis=0)
                print(f"| {kind} | {rate:.0%} | {way} | {mean[0]:.3f} | {mean[1]:.3f} | {gains} |", flush=True)


def _one(folder: Path, name: str, kind: str, rate: float, seed: int) -> dict[str, tuple[float, float]]:
    whole, y = load(folder, name)
    X = with_gaps(whole, rate, kind, np.random.default_rng(seed))
    some = (~np.isnan(X)).sum(axis=0) > 0
    whole, X = whole[:, some], X[:, some]
    count = min(COUNT, X.shape[1] // 2)
    return {way: quality(whole, y, SieveSelector(count).fit(fill(X)).selection_order_) for way, fill in WAYS.items()}
