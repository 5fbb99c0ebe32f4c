"""Trace ratio, Fisher and Laplacian scores against scikit-feature, ITMO-FS and scikit-learn.

    python benchmarks/trace_ratio.py --peers-python peers/bin/python

The peers live in an environment of their own (benchmarks/requirements-peers.txt) and run in subprocesses; without
``--peers-python`` only the comparison with scikit-learn is run. All ratios are of times measured in this run.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.feature_selection import f_classif

from eigensieve.datasets import load_real
from eigensieve.estimators.trace_ratio import TraceRatioSelector
from eigensieve.estimators.trace_ratio_scores import fisher_score, laplacian_score

WORKER = Path(__file__).with_name("trace_ratio_worker.py")


def median_seconds(*functions: Callable[[], Any], repeats: int = 9) -> list[float]:
    """Median time of each function, taken in turns so that a busy machine hits all of them alike."""
    for function in functions:
        function()
    times = np.empty((repeats, len(functions)))
    for r in range(repeats):
        for f, function in enumerate(functions):
            start = time.perf_counter()
            function()
            times[r, f] = time.perf_counter() - start
    return np.median(times, axis=0).tolist()


def in_process(python: str, task: str, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Run one task of the worker under the given Python."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = f"{folder}/data.npz", f"{folder}/out.npz"
        np.savez(data, X=X, y=y)
        subprocess.run([python, str(WORKER), task, data, out], check=True)
        with np.load(out) as stored:
            return dict(stored)


def wide_data(n_samples: int = 200, n_features: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Four classes, 300 informative features, features of very different scales."""
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 4
    X = rng.standard_normal((n_samples, n_features))
    X[:, :300] += rng.standard_normal((4, 300))[y]
    X *= 10.0 ** rng.uniform(-1, 1, n_features)
    return X[:, rng.permutation(n_features)], y


def fisher_trace_ratio(peers: str) -> None:
    print("\nFisher trace ratio, 100 of 20,000 features, 200 samples (each in a process of its own)")
    X, y = wide_data()
    runs = {
        "eigensieve": [in_process(sys.executable, "eigensieve_fisher", X, y) for _ in range(3)],
        "scikit-feature": [in_process(peers, "skfeature_fisher", X, y)],
        "ITMO-FS": [in_process(peers, "itmo_fisher", X, y)],
    }
    reference = TraceRatioSelector(100).fit(X, y)
    b, e = reference.between_scatter_, reference.within_scatter_
    medians = {
        name: {key: float(np.median([run[key] for run in found])) for key in ("seconds", "cpu_seconds", "megabytes")}
        for name, found in runs.items()
    }
    ours = medians["eigensieve"]
    for name, found in medians.items():
        subset = runs[name][0]["subset"]
        print(
            f"  {name:15s} {found['seconds']:9.4f} s ({found['seconds'] / ours['seconds']:6.0f} x ours), processor "
            f"{found['cpu_seconds']:9.4f} s ({found['cpu_seconds'] / ours['cpu_seconds']:6.0f} x), "
            f"{found['megabytes']:8.1f} MB (ours is {100 * ours['megabytes'] / found['megabytes']:.2f} %), subset "
            f"score {b[subset].sum() / e[subset].sum():.6f} of the optimum {reference.subset_score_:.6f}"
        )
    print(f"  steps {reference.n_iter_}, lambda {[round(value, 6) for value in reference.history_]}")


def fisher_scores() -> None:
    print("\nFisher scores against scikit-learn's f_classif (same process, target at most 1.5)")
    rng = np.random.default_rng(1)
    for q, n, classes in ((200, 20_000, 4), (200, 20_000, 40), (2_000, 1_000, 5), (9_298, 256, 10)):
        y = np.arange(q) % classes
        for dtype in (np.float64, np.float32):
            X = rng.standard_normal((q, n)).astype(dtype)
            ours, theirs = median_seconds(
                lambda X=X, y=y: fisher_score(X, y), lambda X=X, y=y: f_classif(X, y), repeats=15
            )
            F = f_classif(X.astype(float), y)[0] * (classes - 1) / (q - classes)
            worst = np.abs(fisher_score(X, y) / F - 1).max()
            print(
                f"  {q:6,} x {n:6,}, {classes:2d} classes, {np.dtype(dtype).name}: {1e3 * ours:7.2f} ms "
                f"against {1e3 * theirs:7.2f} ms, ratio {ours / theirs:.2f}; largest relative difference {worst:.1e}"
            )


def laplacian_scores(peers: str) -> None:
    print("\nLaplacian scores, graph included, against scikit-feature's (each in a process of its own)")
    rng = np.random.default_rng(2)
    problems = {
        "200 x 20,000": (wide_data()[0], "no slower"),
        "2,000 x 1,000": (rng.standard_normal((2_000, 1_000)), "5 x faster"),
    }
    try:
        problems["USPS 9,298 x 256"] = (load_real("USPS").data.astype(float), "5 x faster")
    except FileNotFoundError as error:
        print(f"  USPS left out: {error}")
    for name, (X, target) in problems.items():
        theirs = in_process(peers, "skfeature_laplacian", X, np.zeros(len(X)))
        ours = in_process(sys.executable, "eigensieve_laplacian", X, np.zeros(len(X)))
        W = coo_array((theirs["weight"], (theirs["row"], theirs["col"])), shape=(len(X), len(X)))
        same = laplacian_score(X, graph=W)
        worst = np.nanmax(np.abs(1 / same - theirs["scores"]))
        wall, cpu = (float(theirs[key] / ours[key]) for key in ("seconds", "cpu_seconds"))
        print(
            f"  {name:17s} {ours['seconds']:7.3f} s (processor {ours['cpu_seconds']:6.3f}) against "
            f"{theirs['seconds']:7.3f} s ({theirs['cpu_seconds']:6.3f}): {wall:5.1f} x faster, processor {cpu:5.1f} x "
            f"(target {target}); on their graph the scores differ by at most {worst:.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["fisher", "laplacian", "trace-ratio"], help="run one part")
    parser.add_argument("--peers-python", help="Python of the environment that holds scikit-feature and ITMO-FS")
    options = parser.parse_args()
    wanted = options.only
    if wanted in (None, "fisher"):
        fisher_scores()
    if options.peers_python is None:
        print("\nPass --peers-python to compare with scikit-feature and ITMO-FS.")
        return
    if wanted in (None, "laplacian"):
        laplacian_scores(options.peers_python)
    if wanted in (None, "trace-ratio"):
        fisher_trace_ratio(options.peers_python)


if __name__ == "__main__":
    main()
