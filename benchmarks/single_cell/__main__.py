"""Command line of the benchmark: run the missing parts, print the tables."""

import argparse
from pathlib import Path

from .choosers import CHOOSERS, WITH_BATCHES
from .data import REAL, chosen_on, simulated
from .report import by_set, shared_sets, table, verdicts, with_key
from .run import COUNTS, run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.single_cell", description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="results file (JSON lines), resumed when it exists")
    parser.add_argument("--half", choices=["choose", "report", "both"], default="report")
    parser.add_argument("--sets", nargs="+", choices=[*REAL, *simulated()], help="instead of a half")
    parser.add_argument("--choosers", nargs="+", default=[*CHOOSERS, *WITH_BATCHES])
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS), help="numbers of genes")
    parser.add_argument("--quick", action="store_true", help="500 genes of three small sets: a minute")
    arguments = parser.parse_args()
    sets = arguments.sets or [
        name
        for name in [*REAL, *simulated()]
        if arguments.half == "both" or chosen_on(name) == (arguments.half == "choose")
    ]
    if arguments.quick:
        sets, arguments.counts = ["pollen", "batches_strong_b", "rare_strong_b"], [500]
    rows = run(arguments.results, sets, arguments.choosers, counts=arguments.counts)
    for title, some in (("with the batch key where there are batches", with_key(rows)), ("without batch key", rows)):
        shared = shared_sets(some, sets)
        print(f"\n{len(shared)} sets, {title}\n{table(some, shared)}\n{verdicts(some, shared)}")
    print("\n" + by_set(with_key(rows), shared_sets(with_key(rows), sets)))


if __name__ == "__main__":
    main()
