"""Run the fuzzer: ``python -m fuzz.run --cases 1000`` (in the folder ``tests``), or ``make fuzz CASES=1000``.

Every case runs in a worker process with limits of time and memory. What fails is made simpler, and kept as a file under
``tests/corpus``; ``test_fuzz.py`` tries these ever after. The exit code is 1 if anything failed.
"""

import argparse
import hashlib
import importlib.util
import json
import multiprocessing
import resource
import signal
import time
import traceback
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import checkpoints, fits, models

CORPUS = Path(__file__).parents[1] / "corpus"
TARGETS: dict[str, Any] = {**dict.fromkeys(fits.targets(), fits), "models": models, "checkpoints": checkpoints}
"""What is tried -> the module with ``draw``, ``check`` and ``simpler``."""

SECONDS = 10  # of processor time that a case may take
PATIENCE = 120  # seconds until a worker that uses no processor counts as hung
MEMORY = 8 << 30  # bytes of addresses; compiled code and libraries take most of them
_WARM_UP = 30  # compiled functions are loaded in the first cases


def attempt(target: str, spec: dict[str, Any]) -> str:
    """Try one case here; return what came of it, beginning with "FAILED" if a promise was broken."""
    try:
        return str(TARGETS[target].check(spec))
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/eigensieve/" in frame.filename]
        where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        return f"FAILED {type(error).__name__}{where}: {str(error).strip()[:200]}"


def _work(pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while True:
        number, target, spec = pipe.recv()
        # the default action of SIGPROF ends the process: nothing that runs can prevent it
        signal.setitimer(signal.ITIMER_PROF, SECONDS + (_WARM_UP if number < _WARM_UP else 0))
        start = time.process_time()
        found = attempt(target, spec)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send((found, time.process_time() - start))


class Worker:
    """A process that tries cases, started again when one kills it."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.number = 0

    def attempt(self, target: str, spec: dict[str, Any]) -> tuple[str, float]:
        self.pipe.send((self.number, target, spec))
        self.number += 1
        try:
            if self.pipe.poll(PATIENCE):
                found: tuple[str, float] = self.pipe.recv()
                return found
            outcome = f"FAILED: no answer in {PATIENCE} seconds"
        except EOFError:
            self.process.join()
            killed = self.process.exitcode == -signal.SIGPROF
            outcome = f"FAILED: {f'over {SECONDS} seconds' if killed else f'exit {self.process.exitcode}'}"
        self.stop()
        self._start()
        return outcome, float(SECONDS)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def _kind(outcome: str) -> str:
    return outcome.partition(":")[0]


def shrunk(worker: Worker, target: str, spec: dict[str, Any], outcome: str, tries: int = 60) -> dict[str, Any]:
    """Return a simpler case that fails in the same way."""
    found = True
    while found and tries > 0:
        found = False
        for other in TARGETS[target].simpler(spec):
            tries -= 1
            if _kind(worker.attempt(target, other)[0]) == _kind(outcome):
                spec, found = other, True
                break
    return spec


def keep(target: str, spec: dict[str, Any], outcome: str, corpus: Path) -> Path:
    """Write a case to the corpus."""
    text = json.dumps({"target": target, "spec": spec, "outcome": outcome}, indent=1)
    path = corpus / f"{target}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
    corpus.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    return path


def run(cases: int, targets: list[str], seed: int, corpus: Path | None) -> int:
    """Try so many cases per target, print what came of them, keep what failed; return the number of failures."""
    worker, failures = Worker(), 0
    for target in targets:
        rng = np.random.default_rng([seed, len(target)])
        kinds: Counter[str] = Counter()
        seen: set[str] = set()
        slowest = 0.0
        for _ in range(cases):
            spec = TARGETS[target].draw(rng, target)
            outcome, seconds = worker.attempt(target, spec)
            slowest = max(slowest, seconds)
            kinds[_kind(outcome)] += 1
            if outcome.startswith("FAILED"):
                failures += 1
                if corpus is not None and _kind(outcome) not in seen:
                    seen.add(_kind(outcome))
                    path = keep(target, shrunk(worker, target, spec, outcome), outcome, corpus)
                    print(f"{target}: {outcome}; kept as {path.name}", flush=True)
        print(f"{target:22} {cases:7,} cases: {dict(kinds)}, slowest {slowest:.1f} s", flush=True)
    worker.stop()
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="cases per target")
    parser.add_argument("--targets", nargs="*", choices=[*TARGETS, "readers"], help="all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where failures are kept")
    given = parser.parse_args()
    targets = given.targets or [*TARGETS, "readers"]
    failures = run(given.cases, [name for name in targets if name != "readers"], given.seed, given.corpus)
    if "readers" in targets and importlib.util.find_spec("fuzz.readers") is not None:
        readers = importlib.import_module("fuzz.readers")
        failures += readers.main(given.cases, None, given.seed, given.corpus / "readers")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
