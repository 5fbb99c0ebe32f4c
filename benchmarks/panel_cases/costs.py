"""The best panel for the money: the sieve against the F-test, both by gain per cost, at the same budgets.

Costs are log-normal. Each chooser sees a random half of the samples of a real set with labels. A panel's value
is the accuracy, on the other half, of a logistic regression and of the 5 nearest neighbours.
"""

from collections.abc import Callable

import numpy as np
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import SieveSelector
from eigensieve.datasets import load_real

SETS = ("SRBCT_khan", "NCI60", "tissue_dslabs", "lung_gordon", "chowdary", "LSVT_voice", "libras", "UCR_Plane", "mdrr")
BUDGETS = (3.0, 6.0, 12.0)
SEEDS = range(5)
MOST = 3_000  # features of a set, drawn once


def by_f_test(X: np.ndarray, y: np.ndarray, costs: np.ndarray, budget: float) -> np.ndarray:
    """Greedy cost-benefit: features by F per cost while they fit the remaining budget."""
    worth = np.nan_to_num(f_classif(X, y)[0]) / costs
    chosen: list[int] = []
    for feature in np.argsort(-worth, kind="stable"):
        if costs[chosen].sum() + costs[feature] <= budget:
            chosen.append(int(feature))
    return np.array(chosen)


def by_sieve(X: np.ndarray, y: np.ndarray, costs: np.ndarray, budget: float) -> np.ndarray:
    model = SieveSelector(1.0, feature_costs=costs, max_cost=budget).fit(X, y)
    return np.asarray(model.selection_order_)


CHOOSERS: dict[str, Callable[..., np.ndarray]] = {"sieve": by_sieve, "F-test per cost": by_f_test}


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = load_real(name)
    X, y = np.asarray(data.data, dtype=np.float64), np.asarray(data.target)
    classes, counts = np.unique(y, return_counts=True)
    rows = np.isin(y, classes[counts >= 4])
    X, y = X[rows], y[rows]
    if X.shape[1] > MOST:
        X = X[:, np.sort(np.random.default_rng(0).permutation(X.shape[1])[:MOST])]
    return X[:, X.std(axis=0) > 0], y


def value(X: np.ndarray, y: np.ndarray, new: np.ndarray, known: np.ndarray) -> float:
    models = (LogisticRegression(max_iter=2_000), KNeighborsClassifier(5))
    return float(np.mean([make_pipeline(StandardScaler(), m).fit(X, y).score(new, known) for m in models]))


def main() -> None:
    columns = [f"{who}, budget {budget:g}" for budget in BUDGETS for who in CHOOSERS]
    print(f"| set | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    totals, spent = [], []
    for name in SETS:
        X, y = read(name)
        rows = []
        for seed in SEEDS:
            costs = np.random.default_rng(seed).lognormal(0.0, 0.7, X.shape[1])
            A, B, a, b = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
            varies = A.std(axis=0) > 0
            A, B, costs = A[:, varies], B[:, varies], costs[varies]
            cells = []
            for budget in BUDGETS:
                for choose in CHOOSERS.values():
                    panel = choose(A, a, costs, budget)
                    assert costs[panel].sum() <= budget * (1 + 1e-9)
                    cells.append((value(A[:, panel], a, B[:, panel], b), costs[panel].sum()))
            rows.append(cells)
        found = np.mean(rows, axis=0)
        totals.append(found[:, 0])
        spent.append(found[:, 1])
        print(f"| {name} | {' | '.join(f'{cell:.3f}' for cell in found[:, 0])} |", flush=True)
    print(f"| mean | {' | '.join(f'{cell:.3f}' for cell in np.mean(totals, axis=0))} |")
    print(f"| spent | {' | '.join(f'{cell:.2f}' for cell in np.mean(spent, axis=0))} |")
    worth = np.mean(totals, axis=0) / np.mean(spent, axis=0)
    print(f"| value per cost | {' | '.join(f'{cell:.4f}' for cell in worth)} |")
