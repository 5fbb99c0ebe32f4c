"""Run selectors on data sets into a results file of JSON lines; what is in the file already is not run again."""

import json
import math
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from eigensieve.graphs import knn_graph

from .data import load, standardized
from .scoring import score
from .selectors import SELECTORS, Selector, input_for

COUNTS = (10, 20, 50, 100, 200)


class Results:
    """The results file: one JSON object a line, appended as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict] = []
        if path.exists():
            self.rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        self._done = {self._key(row) for row in self.rows}

    @staticmethod
    def _key(row: dict) -> tuple:
        return row["data"], row["selector"], row["count"], row["seed"]

    def has(self, data: str, selector: str, count: int, seed: int) -> bool:
        return (data, selector, count, seed) in self._done

    def add(self, row: dict) -> None:
        self.rows.append(row)
        self._done.add(self._key(row))
        with self.path.open("a") as stream:
            stream.write(json.dumps(row) + "\n")


def run(
    results: Results,
    data: Iterable[str],
    selectors: Iterable[str],
    *,
    counts: tuple[int, ...] = COUNTS,
    seeds: int = 3,
    n_init: int = 5,
    max_samples: int = 2_000,
    peers_python: str | None = None,
    time_limit: float = 60.0,
) -> None:
    """Fill the results file with every combination asked for that it lacks."""
    for name in data:
        for label in selectors:
            selector = SELECTORS[label]
            if selector.peer and peers_python is None:
                continue
            wanted = [
                (count, seed)
                for count in counts
                for seed in range(max(seeds, selector.draws))
                if not results.has(name, label, count, seed)
            ]
            if wanted:
                _run_one(results, name, label, selector, wanted, n_init, max_samples, peers_python, time_limit)


def _run_one(results, name, label, selector, wanted, n_init, max_samples, peers_python, time_limit):
    X, y = load(name, max_samples)
    Z = standardized(X)
    given = input_for(selector, X)
    n_clusters = int(y.max()) + 1
    orders: dict[tuple, tuple[np.ndarray | str, float]] = {}
    largest = max(count for count, _ in wanted)
    scored: dict[tuple, dict] = {}
    for count, seed in wanted:
        if count >= X.shape[1] and label != "all":
            continue
        draw = seed % selector.draws
        asked = min(X.shape[1], largest if selector.nested else count)
        if (asked, draw) not in orders:
            start = time.perf_counter()
            order = _choose(selector, given, n_clusters, asked, draw, y, peers_python, time_limit)
            orders[asked, draw] = order, time.perf_counter() - start
        order, seconds = orders[asked, draw]
        row = {"data": name, "selector": label, "count": count, "seed": seed, "seconds": round(seconds, 3)}
        if isinstance(order, str):
            results.add(row | {"status": order})
            continue
        chosen = order if label == "all" else order[:count]
        key = (len(chosen), seed, draw)
        if key not in scored:
            scored[key] = score(Z[:, chosen], y, seed, n_init)
        results.add(row | {"status": "ok"} | {k: round(v, 5) for k, v in scored[key].items()})
    means = [r["accuracy"] for r in results.rows if r["data"] == name and r["selector"] == label and "accuracy" in r]
    print(f"{name:18s} {label:20s} accuracy {np.mean(means) if means else float('nan'):.3f}", flush=True)


def _choose(selector: Selector, X, n_clusters, count, draw, y, peers_python, time_limit) -> np.ndarray | str:
    """Return the order of the features, or why there is none."""
    if selector.choose is not None:
        return selector.choose(X, n_clusters, count, draw, y)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.npy")
        W = knn_graph(X, 5)
        np.savez(source, X=X, data=W.data, indices=W.indices, indptr=W.indptr, n_clusters=n_clusters, count=count)
        worker = Path(__file__).with_name("peer_worker.py")
        # -P: this folder's module names must not hide the standard library's.
        command = [str(peers_python), "-P", str(worker), selector.peer, str(source), str(target)]
        seconds = math.ceil(time_limit)

        def limited() -> None:  # processor time: a busy machine does not count against a peer
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

        done = subprocess.run(command, check=False, capture_output=True, preexec_fn=limited)
        if done.returncode == -signal.SIGXCPU:
            return f"not done in {time_limit:g} s of processor time"
        if done.returncode != 0:
            reason = done.stderr.decode().strip().splitlines() or [f"signal {-done.returncode}"]
            return f"failed: {reason[-1]}"
        return np.load(target)
