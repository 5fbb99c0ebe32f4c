"""Command line of the benchmark: run what is missing, print the tables, draw the pictures."""

import argparse
from pathlib import Path

from .data import DEVELOPMENT
from .report import draw, markdown, verdicts
from .run import COUNTS, Results, run
from .selectors import SELECTORS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(DEVELOPMENT), help="data sets by name, or NAME.npz files")
    parser.add_argument("--selectors", nargs="+", default=list(SELECTORS), choices=list(SELECTORS))
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS), help="numbers of features")
    parser.add_argument("--seeds", type=int, default=3, help="k-means runs with different seeds")
    parser.add_argument("--n-init", type=int, default=5, help="restarts within a k-means run")
    parser.add_argument("--max-samples", type=int, default=2_000, help="larger sets are drawn down to this, once")
    parser.add_argument("--peers-python", help="Python with scikit-feature (see requirements-peers.txt)")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of processor time for scikit-feature")
    parser.add_argument("--results", type=Path, required=True, help="results file (JSON lines), resumed when it exists")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    run(
        results,
        arguments.data,
        arguments.selectors,
        counts=tuple(arguments.counts),
        seeds=arguments.seeds,
        n_init=arguments.n_init,
        max_samples=arguments.max_samples,
        peers_python=arguments.peers_python,
        time_limit=arguments.time_limit,
    )
    rows = [r for r in results.rows if r["data"] in arguments.data and r["selector"] in arguments.selectors]
    print(markdown(rows))
    for ours in ("sieve", "sieve-k"):
        print(verdicts(rows, ours))
    if arguments.pictures is not None:
        for file in draw(rows, arguments.pictures, tuple(arguments.counts)):
            print(file)


if __name__ == "__main__":
    main()
