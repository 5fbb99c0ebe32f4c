"""How much slower a constraint, donors or gaps make a fit: medians of the ratio to the fit without, taken in turn."""

import time
import warnings
from typing import Any

import numpy as np

from eigensieve import SieveSelector
from eigensieve.datasets import make_planted_clusters

SHAPES = ((200, 20_000), (1_000, 1_000), (1_000, 5_000))
REPEATS = 5


Settings = dict[str, Any]


def seconds(X: np.ndarray, y: np.ndarray | None, count: int | str, settings: Settings, known: Settings) -> float:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SieveSelector(count, **settings).fit(X, y, **known)
    return time.process_time() - start


def cases(X: np.ndarray) -> dict[str, tuple[np.ndarray, Settings, Settings]]:
    """Data, parameters and arguments of `fit` per column of the table."""
    rng, (q, n) = np.random.default_rng(0), X.shape
    costs = rng.uniform(1, 5, n)
    found: dict[str, tuple[np.ndarray, Settings, Settings]] = {
        "keep 10": (X, {"keep": range(10)}, {}),
        "exclude 100": (X, {"exclude": range(100)}, {}),
        "one per group of 5": (X, {"feature_groups": np.arange(n) // 5}, {}),
        "costs, no limit": (X, {"feature_costs": costs}, {}),
        "costs, half of the money": (X, {"feature_costs": costs, "max_cost": 75.0}, {}),
        "weights": (X, {}, {"sample_weight": rng.uniform(0.5, 2.0, q)}),
    }
    for per in (5, 20):
        found[f"donors of {per}"] = (X, {}, {"groups": np.arange(q) // per})
    for share in (0.05, 0.5):
        found[f"{share:.0%} missing"] = (np.where(rng.random(X.shape) < share, np.nan, X), {}, {})
    return found


def main() -> None:
    print("Process time, one process.\n")
    first = True
    for shape in SHAPES:
        X, y, _ = make_planted_clusters(*shape, 100, random_state=0)
        some = cases(X)
        if first:
            print(f"| samples x features, number, labels | free | {' | '.join(some)} |\n|{'---|' * (len(some) + 2)}")
            first = False
        for count in (50, "auto"):
            for target in (None, y):
                seconds(X, target, count, {}, {})
                ratios, plain = [], []
                for _ in range(REPEATS):
                    plain.append(seconds(X, target, count, {}, {}))
                    ratios.append([seconds(data, target, count, *rest) / plain[-1] for data, *rest in some.values()])
                cells = " | ".join(f"{ratio:.2f}" for ratio in np.median(ratios, axis=0))
                name = f"{shape[0]:,} x {shape[1]:,}, {count}, {'no' if target is None else 'yes'}"
                print(f"| {name} | {np.median(plain):.2f} s | {cells} |", flush=True)
