"""One selector on one planted problem.

The worker's process imports this module by its name, so it is apart from the command line.
"""

import argparse
import time
from collections.abc import Iterator

from ..data import load, standardized
from ..limits import OverLimit, Worker
from .generator import plant
from .peers import PEERS

KEY = ("data", "family", "n_samples", "n_features", "relevant", "signal", "rate", "selector", "seed")


def wanted(arguments: argparse.Namespace) -> Iterator[dict]:
    """The head of every row, problem by problem; only sizes that a set has."""
    fixed = {key: getattr(arguments, key) for key in ("relevant", "signal", "rate")}
    for data in arguments.data:
        rows, columns = load(data, max(arguments.samples))[0].shape
        for n_samples in (size for size in arguments.samples if size <= rows):
            for n_features in (size for size in arguments.features if size <= columns):
                for family in arguments.families:
                    for seed in range(arguments.draws):
                        for selector in arguments.selectors:
                            yield fixed | {
                                "data": data,
                                "family": family,
                                "n_samples": n_samples,
                                "n_features": n_features,
                                "selector": selector,
                                "seed": seed,
                            }


def run(row: dict, worker: Worker) -> dict:
    """Run the selector within the limits, and tell how it went."""
    try:
        found = worker.call(choose, row)
    except (OverLimit, RuntimeError) as problem:
        found = {"status": f"failed: {problem}"}
    print(row["data"].rpartition("/")[2], row["family"], row["n_samples"], row["n_features"], row["selector"], found)
    return found


def choose(row: dict) -> dict:
    """Make the problem, run the selector, and judge what it chose. It sees standardised data."""
    X = load(row["data"], 10**9)[0]
    made = plant(X, *(row[key] for key in ("family", "n_samples", "n_features", "relevant", "signal", "seed")))
    begin = time.process_time()
    try:
        chosen = PEERS[row["selector"]](standardized(made.X), made.y, row["rate"], row["relevant"], row["seed"])
    except (ValueError, ArithmeticError, RuntimeError, MemoryError, ImportError) as problem:
        return {"status": f"failed: {problem}"}
    return made.judge(chosen) | {"status": "ok", "seconds": round(time.process_time() - begin, 3)}
