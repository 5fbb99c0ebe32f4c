"""How much slower a constraint makes a fit: medians of the ratio to the fit without constraints, taken in turn."""

import time
import warnings

import numpy as np

from eigensieve import SieveSelector
from eigensieve.datasets import make_planted_clusters

SHAPES = ((200, 20_000), (1_000, 5_000))
REPEATS = 5


def seconds(X: np.ndarray, y: np.ndarray | None, settings: dict[str, object], count: int | str) -> float:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SieveSelector(count, **settings).fit(X, y)
    return time.perf_counter() - start


def main() -> None:
    names = ("keep 10", "exclude 100", "one per group of 5", "costs, no limit", "costs, half of the money")
    print(f"| samples x features, number, labels | free | {' | '.join(names)} |\n|{'---|' * (len(names) + 2)}")
    for shape in SHAPES:
        X, y, _ = make_planted_clusters(*shape, 100, random_state=0)
        n = shape[1]
        costs = np.random.default_rng(0).uniform(1, 5, n)
        settings = (
            {"keep": range(10)},
            {"exclude": range(100)},
            {"feature_groups": np.arange(n) // 5},
            {"feature_costs": costs},
            {"feature_costs": costs, "max_cost": 75.0},
        )
        for count in (50, "auto"):
            for target in (None, y):
                seconds(X, target, {}, count)
                ratios, plain = [], []
                for _ in range(REPEATS):
                    plain.append(seconds(X, target, {}, count))
                    ratios.append([seconds(X, target, some, count) / plain[-1] for some in settings])
                cells = " | ".join(f"{ratio:.2f}" for ratio in np.median(ratios, axis=0))
                name = f"{shape[0]:,} x {shape[1]:,}, {count}, {'no' if target is None else 'yes'}"
                print(f"| {name} | {np.median(plain):.2f} s | {cells} |", flush=True)
