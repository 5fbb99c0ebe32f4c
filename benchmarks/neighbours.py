"""The neighbour search against scikit-learn's and pynndescent's: CPU time for five neighbours, smallest of three.

``python benchmarks/neighbours.py [--quick]``. Set OMP_NUM_THREADS=1 for figures of one thread.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.neighbors import NearestNeighbors

from eigensieve.graphs.nearest import nearest

SHAPES = [(300, 100, np.float64), (1000, 100, np.float64), (2000, 100, np.float64), (20000, 50, np.float32)]
TREES_UP_TO, APPROXIMATE_FROM = 2000, 2000


def cpu_time(call: Callable[[], object]) -> float:
    """Return the least CPU time of three calls, in milliseconds; another call before them compiles and warms up."""
    call()
    times = []
    for _ in range(3):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return 1e3 * min(times)


def peers(X: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return the searches to compare with."""
    names = ["brute", "kd_tree"] if len(X) <= TREES_UP_TO else ["brute"]
    found: dict[str, Callable[[], object]] = {
        name: lambda name=name: NearestNeighbors(n_neighbors=5, algorithm=name, n_jobs=1).fit(X).kneighbors()
        for name in names
    }
    if len(X) >= APPROXIMATE_FROM:
        from pynndescent import NNDescent

        found["pynndescent"] = lambda: NNDescent(X, n_neighbors=30, random_state=0).neighbor_graph
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the two smallest shapes only")
    print("samples x features    ours    peer (how many times ours)")
    for q, d, dtype in SHAPES[:2] if parser.parse_args().quick else SHAPES:
        rng = np.random.default_rng(0)
        X = (rng.standard_normal((q, 6)) @ rng.standard_normal((6, d)) + 0.3 * rng.standard_normal((q, d))).astype(
            dtype
        )
        own = cpu_time(lambda X=X: nearest(X, X, 5))
        others = {name: cpu_time(call) for name, call in peers(X).items()}
        told = ", ".join(f"{name} {value:.1f} ms ({value / own:.1f})" for name, value in others.items())
        print(f"{q:>7} x {d:<10} {own:>7.1f} ms    {told}")


if __name__ == "__main__":
    main()
