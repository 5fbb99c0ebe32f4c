"""The cost of SieveSelector beside randomized PCA, in one run.

``python benchmarks/sieve_cost.py`` prints, per shape, the median time of ``SieveSelector(100)`` and of
``SieveSelector()`` over that of ``PCA(50, svd_solver="randomized")``, with the limits that they should keep.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA

from eigensieve import SieveSelector

SHAPES = ((100, 25_000), (500, 5_000), (1_000, 2_000), (2_000, 2_000), (5_000, 2_000), (20_000, 2_000))
LIMITS = {(100, 25_000): (1.0, 3.0)}
USUAL = (3.0, 12.0)


def data(n_samples: int, n_features: int) -> np.ndarray:
    """Ten groups that differ in a tenth of the features, and ten shared directions, as real data has."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    X[:, : n_features // 10] += rng.normal(0, 1.0, (10, n_features // 10)).astype(np.float32)[np.arange(n_samples) % 10]
    shared = rng.standard_normal((n_samples, 10)) @ rng.normal(0, 0.3, (10, n_features))
    return X + shared.astype(np.float32)


def median(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most-samples", type=int, default=20_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    SieveSelector().fit(data(50, 100))
    for shape in (shape for shape in SHAPES if shape[0] <= arguments.most_samples):
        X = data(*shape)
        base = median(lambda X=X: PCA(50, svd_solver="randomized", random_state=0).fit(X), arguments.repeats)
        line = f"{shape[0]:7,} x {shape[1]:6,}  PCA(50) {base:6.2f} s"
        for model, limit in zip((SieveSelector(100), SieveSelector()), LIMITS.get(shape, USUAL), strict=True):
            ratio = median(lambda X=X, model=model: model.fit(X), arguments.repeats) / base
            line += f"   {model!s:35.35s} {ratio:5.1f}x (at most {limit:.0f}x)"
        print(line, flush=True)


if __name__ == "__main__":
    main()
