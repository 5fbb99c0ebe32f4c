"""Many samples: the whole Laplacian selection against the time of its neighbour graph alone.

    python benchmarks/trace_ratio_large.py [--samples 100000]

Prints the ratio (target: at most 3) for 100,000 x 1,000 dense float32 data and for 20 newsgroups (sparse), peak memory,
and how many of the exact neighbours the approximate search finds. Compilation is warmed up first.
"""

import argparse
import resource
import time
from typing import Any

import numpy as np

from eigensieve.datasets import load_real
from eigensieve.estimators.trace_ratio import TraceRatioSelector
from eigensieve.graphs import knn_graph


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def clustered(n_samples: int, n_features: int) -> np.ndarray:
    """Twenty clusters seen by a tenth of the features; float32, made in pieces."""
    rng = np.random.default_rng(0)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    centres = np.zeros((20, n_features), dtype=np.float32)
    centres[:, : n_features // 10] = 2 * rng.standard_normal((20, n_features // 10))
    for first in range(0, n_samples, 5_000):
        rows = X[first : first + 5_000]
        rng.standard_normal(dtype=np.float32, out=rows)
        rows += centres[rng.integers(0, 20, len(rows))]
    return X


def measure(name: str, X: Any) -> None:
    before = peak_megabytes()
    start = time.perf_counter()
    graph = knn_graph(X, 5)
    graph_seconds = time.perf_counter() - start
    after_graph = peak_megabytes()
    start = time.perf_counter()
    given = TraceRatioSelector(100, score="laplacian", within=graph).fit(X)
    rest_seconds = time.perf_counter() - start
    start = time.perf_counter()
    whole = TraceRatioSelector(100, score="laplacian").fit(X)
    whole_seconds = time.perf_counter() - start
    same = np.array_equal(given.support_, whole.support_)
    print(
        f"{name} {X.shape[0]:,} x {X.shape[1]:,}: graph alone {graph_seconds:.1f} s, whole selection "
        f"{whole_seconds:.1f} s, ratio {whole_seconds / graph_seconds:.2f} (target at most 3); scatters and subset "
        f"alone {rest_seconds:.2f} s, {whole.n_iter_} steps, same subset {same}; "
        f"memory above the data: graph {after_graph - before:.0f} MB, the rest {peak_megabytes() - after_graph:.0f} MB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    options = parser.parse_args()

    small = clustered(3_000, 100)
    start = time.perf_counter()
    approximate = knn_graph(small, 5, bandwidth=None, method="approximate")
    print(f"first use of pynndescent, compilation included: {time.perf_counter() - start:.1f} s", flush=True)
    exact = knn_graph(small, 5, bandwidth=None, method="exact")
    recall = exact.multiply(approximate).sum() / exact.sum()
    print(f"approximate neighbours, 3,000 x 100: {100 * recall:.1f} % of the exact edges found", flush=True)

    try:
        news = load_real("newsgroups20_bydate").data
    except FileNotFoundError as error:
        print(f"20 newsgroups left out: {error}")
    else:
        measure("20 newsgroups (sparse)", news)
    measure("dense float32", clustered(options.samples, 1_000))


if __name__ == "__main__":
    main()
