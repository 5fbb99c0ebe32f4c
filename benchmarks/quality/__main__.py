"""Command line of the benchmark: run the missing parts, print the tables, draw the pictures."""

import argparse
from pathlib import Path

from .data import PARTS
from .limits import Worker
from .pictures import draw
from .report import markdown
from .results import Results
from .run import COUNTS, Protocol, run
from .selectors import DEEP, SELECTORS, selector_of


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS), help="which sets")
    parser.add_argument("--data", nargs="+", help="data sets by name, or NAME.npz files, in place of --part")
    parser.add_argument("--selectors", nargs="*", default=list(SELECTORS), choices=[*SELECTORS, *DEEP], metavar="NAME",
                        help=f"built in: {', '.join(SELECTORS)}; with PyTorch: {', '.join(DEEP)}")  # fmt: skip
    parser.add_argument("--selector", action="append", default=[], metavar="[raw] [labels] MODULE:CLASS(ARGUMENTS)",
                        help="any scikit-learn selector; its arguments may name count, k and seed")  # fmt: skip
    parser.add_argument("--ours", default="sieve", help="the selector whose lead is tested")
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS), help="numbers of features")
    parser.add_argument("--seeds", type=int, default=2, help="k-means runs with different seeds")
    parser.add_argument("--n-init", type=int, default=5, help="restarts within a k-means run")
    parser.add_argument("--max-samples", type=int, default=2_000, help="larger sets are drawn down to this, once")
    parser.add_argument(
        "--seconds", type=float, help="most processor time of a choice; it runs in a process of its own"
    )
    parser.add_argument("--megabytes", type=float, help="memory limit of a choice, on top of the data; likewise")
    parser.add_argument("--results", type=Path, required=True, help="results file (JSON lines), resumed when it exists")
    parser.add_argument("--table", type=Path, help="write all results as one CSV table")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures")
    arguments = parser.parse_args()
    selectors = {label: selector_of(label) for label in [*arguments.selectors, *arguments.selector]}
    if arguments.ours not in selectors:
        parser.error(f"--ours {arguments.ours} is none of the selectors: {', '.join(selectors)}.")
    data = arguments.data or [name for part in arguments.part for name in PARTS[part]]
    counts = tuple(arguments.counts)
    protocol = Protocol(counts, arguments.seeds, arguments.n_init, arguments.max_samples)
    results = Results(arguments.results)
    worker = Worker(arguments.seconds, arguments.megabytes)
    try:
        run(results, data, selectors, protocol, worker)
    finally:
        worker.close()
    rows = [
        row
        for row in results.rows
        if row["data"] in data
        and row["selector"] in selectors
        and protocol.row(row["data"], row["selector"], row["count"], row["seed"]).items() <= row.items()
    ]
    print(markdown(rows, selectors, arguments.ours))
    if arguments.table is not None:
        results.write_table(arguments.table)
    if arguments.pictures is not None:
        files = draw(rows, selectors, arguments.pictures, counts)
        print("\n".join(map(str, files)) or "No pictures: they show sets on which nothing was chosen.")


if __name__ == "__main__":
    main()
