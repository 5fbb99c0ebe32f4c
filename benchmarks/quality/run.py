"""Run selectors on data sets into a results file; finished runs are skipped."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from benchmarks.measure import extra_bytes

from .data import about, load, standardized
from .limits import OverLimit, Worker
from .results import Results
from .scoring import score
from .selectors import Selector, input_for, selector_of

COUNTS = (10, 20, 50, 100, 200)


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
        """The head of a row of the results."""
        about = {"data": data, "selector": selector, "count": count, "seed": seed}
        return about | {"n_init": self.n_init, "max_samples": self.max_samples}


def run(results: Results, data: Iterable[str], selectors: Iterable[str], protocol: Protocol, worker: Worker) -> None:
    """Fill the results file with every combination asked for that it lacks."""
    for name in data:
        for label in selectors:
            wanted = [
                protocol.row(name, label, count, seed)
                for count in protocol.counts
                for seed in range(max(protocol.seeds, selector_of(label).draws))
            ]
            wanted = [row for row in wanted if not results.has(row)]
            if wanted:
                _run_one(results, wanted, worker)


def _run_one(results: Results, wanted: list[dict], worker: Worker) -> None:
    """Run one selector on one set."""
    name, label, n_init, max_samples = (wanted[0][key] for key in ("data", "selector", "n_init", "max_samples"))
    selector = selector_of(label)
    X, y = load(name, max_samples)
    head = about(name, max_samples) | {"largest_class": round(float(np.bincount(y).max() / len(y)), 4)}
    Z = standardized(X)
    wanted = [row for row in wanted if selector.whole or row["count"] < X.shape[1]]
    counts = sorted({row["count"] for row in wanted})
    choices: dict[tuple, dict] = {}
    scored: dict[tuple, dict] = {}
    for row in wanted:
        count, seed = row["count"], row["seed"]
        draw = seed % selector.draws
        asked = min(X.shape[1], counts[-1] if selector.nested or selector.whole else count)
        if (asked, draw) not in choices:
            choices[asked, draw] = _within_limits(worker, label, name, max_samples, asked, counts, draw)
        choice = choices[asked, draw]
        row = row | head | choice["cost"]
        if "orders" not in choice:
            results.add(row)
            continue
        chosen = choice["orders"][count]
        if len(chosen) < count and not selector.whole:
            results.add(row | {"status": f"chose only {len(chosen)}"})
            continue
        key = (len(chosen), seed, draw)
        if key not in scored and len(chosen):
            scored[key] = {k: round(v, 5) for k, v in score(Z, chosen, y, seed, n_init).items()}
        results.add(row | {"chosen": len(chosen)} | scored.get(key, {}))
    means = [r["accuracy"] for r in results.rows if r["data"] == name and r["selector"] == label and "accuracy" in r]
    print(f"{name:18s} {label:20s} accuracy {np.mean(means) if means else float('nan'):.3f}", flush=True)


def _within_limits(worker: Worker, label: str, name: str, max_samples: int, *rest) -> dict:
    try:
        # The data are read before, so that the limits are those of the selector.
        worker.call(_read, name, max_samples, selector_of(label).raw)
        return worker.call(choose, label, name, max_samples, *rest)
    except OverLimit as problem:
        return {"cost": {"status": f"failed: {problem}"}}


def _read(name: str, max_samples: int, raw: bool) -> None:
    _given(name, max_samples, raw)


@lru_cache(maxsize=1)
def _given(name: str, max_samples: int, raw: bool) -> np.ndarray:
    return input_for(raw, load(name, max_samples)[0])


def choose(label: str, name: str, max_samples: int, asked: int, counts: list[int], draw: int) -> dict:
    """Return the chosen features by count and what they cost, or why there are none.

    Processor time: other work on the machine does not count.
    """
    selector = selector_of(label)
    y = load(name, max_samples)[1]
    X = _given(name, max_samples, selector.raw)
    found: dict = {}

    def call() -> None:
        begin = time.process_time()
        found["order"] = selector.choose(X, int(y.max()) + 1, asked, draw, y)
        found["seconds"] = time.process_time() - begin

    try:
        peak = extra_bytes(call)
    except (ValueError, ArithmeticError, RuntimeError, MemoryError, ImportError) as problem:
        return {"cost": {"status": f"failed: {problem}"}}
    cost = {"status": "ok", "seconds": round(found["seconds"], 3), "megabytes": round(peak / 2**20, 1)}
    return {"orders": {count: _first(found["order"], count, selector) for count in counts}, "cost": cost}


def _first(order, count: int, selector: Selector) -> np.ndarray:
    """The features chosen when `count` are wanted."""
    if callable(order):
        order = order(count)
    return np.asarray(order if selector.whole else order[:count])
