"""Run selectors on data sets into a results file of JSON lines; what is in the file already is not run again."""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measure import extra_bytes

from .data import load, standardized
from .scoring import score
from .selectors import Selector, input_for

COUNTS = (10, 20, 50, 100, 200)


class Results:
    """The results file: one JSON object per line, appended as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict] = []
        if path.exists():
            self.rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        self._done = {self._key(row) for row in self.rows}

    @staticmethod
    def _key(row: dict) -> tuple:
        return tuple(row[part] for part in ("data", "selector", "count", "seed", "n_init", "max_samples"))

    def has(self, wanted: dict) -> bool:
        return self._key(wanted) in self._done

    def add(self, row: dict) -> None:
        self.rows.append(row)
        self._done.add(self._key(row))
        with self.path.open("a") as stream:
            stream.write(json.dumps(row) + "\n")


@dataclass(frozen=True)
class Protocol:
    """How selectors are compared.

    Attributes
    ----------
    counts : tuple of int
        Numbers of features.
    seeds : int
        K-means runs with different seeds.
    n_init : int
        Restarts within a k-means run.
    max_samples : int
        Larger sets are drawn down to this.
    """

    counts: tuple[int, ...] = COUNTS
    seeds: int = 2
    n_init: int = 5
    max_samples: int = 2_000

    def row(self, data: str, selector: str, count: int, seed: int) -> dict:
        """The head of a row of the results: what it is about."""
        about = {"data": data, "selector": selector, "count": count, "seed": seed}
        return about | {"n_init": self.n_init, "max_samples": self.max_samples}


def run(results: Results, data: Iterable[str], selectors: dict[str, Selector], protocol: Protocol) -> None:
    """Fill the results file with every combination asked for that it lacks."""
    for name in data:
        for label, selector in selectors.items():
            wanted = [
                protocol.row(name, label, count, seed)
                for count in protocol.counts
                for seed in range(max(protocol.seeds, selector.draws))
            ]
            wanted = [row for row in wanted if not results.has(row)]
            if wanted:
                _run_one(results, selector, wanted)


def _run_one(results: Results, selector: Selector, wanted: list[dict]) -> None:
    """Run one selector on one set."""
    name, label, n_init = wanted[0]["data"], wanted[0]["selector"], wanted[0]["n_init"]
    X, y = load(name, wanted[0]["max_samples"])
    largest_class = round(float(np.bincount(y).max() / len(y)), 4)
    Z = standardized(X)
    given = input_for(selector, X)
    largest = max(row["count"] for row in wanted)
    choices: dict[tuple, dict] = {}
    scored: dict[tuple, dict] = {}
    for row in wanted:
        count, seed = row["count"], row["seed"]
        if count >= X.shape[1] and not selector.whole:
            continue
        draw = seed % selector.draws
        asked = min(X.shape[1], largest if selector.nested or selector.whole else count)
        if (asked, draw) not in choices:
            choices[asked, draw] = _choose(selector, given, int(y.max()) + 1, asked, draw, y)
        choice = choices[asked, draw]
        row = row | {"largest_class": largest_class} | choice["cost"]
        if "order" not in choice:
            results.add(row)
            continue
        order = choice["order"](count) if callable(choice["order"]) else choice["order"]
        chosen = order if selector.whole else order[:count]
        if len(chosen) < count and not selector.whole:
            results.add(row | {"status": f"chose only {len(chosen)}"})
            continue
        key = (len(chosen), seed, draw)
        if key not in scored and len(chosen):
            scored[key] = {k: round(v, 5) for k, v in score(Z, chosen, y, seed, n_init).items()}
        results.add(row | {"chosen": len(chosen)} | scored.get(key, {}))
    means = [r["accuracy"] for r in results.rows if r["data"] == name and r["selector"] == label and "accuracy" in r]
    print(f"{name:18s} {label:20s} accuracy {np.mean(means) if means else float('nan'):.3f}", flush=True)


def _choose(selector: Selector, X, n_clusters, count, draw, y) -> dict:
    """Return the order of the features and what it cost, or why there is none.

    Processor time: other work on the machine does not count.
    """
    found: dict = {}

    def call() -> None:
        begin = time.process_time()
        found["order"] = selector.choose(X, n_clusters, count, draw, y)
        found["seconds"] = time.process_time() - begin

    try:
        peak = extra_bytes(call)
    except (ValueError, ArithmeticError, RuntimeError, MemoryError, ImportError) as problem:
        return {"cost": {"status": f"failed: {problem}"}}
    cost = {"status": "ok", "seconds": round(found["seconds"], 3), "megabytes": round(peak / 2**20, 1)}
    return {"order": found["order"], "cost": cost}
