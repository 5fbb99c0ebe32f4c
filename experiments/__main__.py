"""``python -m experiments [NAME]... [--quick]``, from the root of a clone."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from eigensieve.datasets import DATA_VARIABLE
from experiments.catalog import EXPERIMENTS
from experiments.common import markdown
from experiments.page import VERDICTS, section, verdict_rows, write_page
from experiments.running import load_results, run_experiment


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the named experiments (all if none is named), print them, and write the page of all results so far."""
    parser = argparse.ArgumentParser("python -m experiments", description="The papers' experiments, run again.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"experiments to run: {', '.join(EXPERIMENTS)}")
    parser.add_argument("--quick", action="store_true", help="a few runs of each, less than a minute for all")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("reproduced"),
        help="folder of the raw results; runs in it are not repeated",
    )
    parser.add_argument("--page", type=Path, help="the page (default: reproduced.md in the folder of the results)")
    parser.add_argument("--data", type=Path, help=f"folder of the real data sets (default: {DATA_VARIABLE})")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment '{unknown[0]}'. Choose from: {', '.join(EXPERIMENTS)}.")
    if given.data is not None:
        if not given.data.is_dir():
            parser.error(f"'{given.data}' is not a folder. Name the folder that holds the NAME.npz files.")
        os.environ[DATA_VARIABLE] = str(given.data)
    chosen = [EXPERIMENTS[name] for name in given.names or EXPERIMENTS]
    for experiment in chosen:
        results = run_experiment(experiment, given.results, quick=given.quick, progress=_say)
        print(section(experiment, results), end="\n\n")
    everything = [(each, load_results(each, given.results)) for each in EXPERIMENTS.values()]
    page = given.page or given.results / "reproduced.md"
    write_page(everything, page)
    print(markdown(VERDICTS, verdict_rows([pair for pair in everything if pair[0] in chosen])))
    print(f"\nPage: {page.resolve()}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
