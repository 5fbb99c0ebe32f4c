"""False discoveries, power and size of labelled selectors on real data with planted labels."""

import argparse
from pathlib import Path

import numpy as np

from ..limits import Worker
from ..results import Results
from .generator import FAMILIES
from .peers import PEERS
from .run import KEY, run, wanted


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.planted", description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, help="data sets by name, or NAME.npz files")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--selectors", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--samples", nargs="+", type=int, default=[50, 100, 200, 500])
    parser.add_argument("--features", nargs="+", type=int, default=[500, 2_000, 20_000])
    parser.add_argument("--relevant", type=int, default=10, help="planted features")
    parser.add_argument("--signal", type=float, default=4.0, help="log odds of one standard deviation of the effect")
    parser.add_argument("--rate", type=float, default=0.1, help="false discovery rate that is asked for")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300.0, help="most processor time of a choice")
    parser.add_argument("--megabytes", type=float, default=8_000.0, help="memory limit of a choice")
    parser.add_argument("--results", type=Path, required=True, help="results file (JSON lines), resumed when it exists")
    parser.add_argument("--table", type=Path, help="write all results as one CSV table")
    arguments = parser.parse_args()
    results = Results(arguments.results, KEY)
    worker = Worker(arguments.seconds, arguments.megabytes)
    try:
        for row in wanted(arguments):
            if not results.has(row):
                results.add(row | run(row, worker))
    finally:
        worker.close()
    print(markdown(results.rows))
    if arguments.table is not None:
        results.write_table(arguments.table)


def markdown(rows: list[dict]) -> str:
    """One table per family: means over the problems that a selector finished.

    The limit is the upper end of a 95 % interval of the false discovery rate (normal, over problems).
    """
    lines = []
    for family in dict.fromkeys(row["family"] for row in rows):
        lines += [f"## {family}", "", "| | false discovery rate | limit | with decoys | power | size | s | problems |"]
        lines += ["|---" * 8 + "|"]
        for name in dict.fromkeys(row["selector"] for row in rows if row["family"] == family):
            mine = [row for row in rows if (row["family"], row["selector"]) == (family, name)]
            done = [row for row in mine if row["status"] == "ok"]
            means = {key: np.mean([row[key] for row in done] or [np.nan]) for key in ("fdp", "strict", "power", "size")}
            error = np.std([row["fdp"] for row in done], ddof=1) / np.sqrt(len(done)) if len(done) > 1 else np.nan
            seconds = np.mean([row["seconds"] for row in done] or [np.nan])
            lines.append(
                f"| {name} | {means['fdp']:.3f} | {means['fdp'] + 1.96 * error:.3f} | {means['strict']:.3f} "
                f"| {means['power']:.3f} | {means['size']:.1f} | {seconds:.2f} | {len(done)} of {len(mine)} |"
            )
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
