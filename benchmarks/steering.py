"""Time of labelled, side-data and pair fits against the unsupervised fit of the same data, and growth with features.

python benchmarks/steering.py [n_features]
"""

import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigensieve import QAlphaSelector
from eigensieve.qalpha import PAIR_STRENGTH

N_SAMPLES, REPEATS = 100, 3


def data(n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N_SAMPLES)
    X = rng.standard_normal((N_SAMPLES, n_features), dtype=np.float32)
    X[:, :50] += 2.0 * rng.standard_normal((3, 50), dtype=np.float32)[y]
    side = rng.standard_normal((N_SAMPLES, n_features), dtype=np.float32)
    pairs = rng.integers(0, N_SAMPLES, (1000, 2))
    return X, y, side, pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]


def cases(X: np.ndarray, y: np.ndarray, side: np.ndarray, pairs: np.ndarray) -> dict:
    few = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    return {
        "unsupervised": lambda: QAlphaSelector(50).fit(X),
        "labels (span)": lambda: QAlphaSelector(50).fit(X, y),
        "side data": lambda: QAlphaSelector(50).fit(X, side=side),
        "labels + side data": lambda: QAlphaSelector(50).fit(X, y, side=side),
        "a few labels": lambda: QAlphaSelector(50).fit(X, few),
        "pairs": lambda: QAlphaSelector(50, solver_options={"max_iter": 30}).fit(X, cannot_link=pairs),
    }


def measure(n_features: int) -> dict[str, tuple[float, int]]:
    found = {}
    for name, fit in cases(*data(n_features)).items():
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            model = fit()
            times.append(time.perf_counter() - start)
        found[name] = (float(np.median(times)), model.n_passes_)
    return found


def million_pairs(n_samples: int = 3000, n_features: int = 1000) -> str:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    X[: n_samples // 2, :20] += 2.0
    half = n_samples // 2
    pairs = np.column_stack([rng.integers(0, half, 1_000_000), rng.integers(half, n_samples, 1_000_000)])
    start = time.perf_counter()
    model = QAlphaSelector(20, strength=0.05 / PAIR_STRENGTH).fit(X, cannot_link=pairs)
    seconds = time.perf_counter() - start
    return f"a million pairs, {n_samples:,} x {n_features:,}: {seconds:.1f} s, {model.n_passes_} passes"


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)  # pairs stop after 30 steps on purpose
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    for fit in cases(*data(500)).values():  # compile and load before the clock runs
        fit()
    half, full = measure(n // 2), measure(n)
    print(f"{N_SAMPLES} samples, median of {REPEATS}")
    print(f"{'':20s}{n // 2:>16,d}{n:>16,d} features; against unsupervised; time per pass for 2x features")
    for name, (seconds, passes) in full.items():
        small, few_passes = half[name]
        growth = (seconds / passes) / (small / few_passes)
        cells = f"{small:6.2f}s{few_passes:4d} passes{seconds:6.2f}s{passes:4d} passes"
        print(f"{name:20s}{cells}{seconds / full['unsupervised'][0]:22.2f}x{growth:20.2f}x")
    print(million_pairs())
