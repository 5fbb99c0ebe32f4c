"""Run the fuzzer: ``python -m fuzz.run --cases 1000`` (in the folder ``tests``), or ``make fuzz CASES=1000``.

Every case runs in a worker process with limits of time and memory. What fails is made simpler, and kept under
``tests/corpus``; the tests try these ever after. A run can be continued: with ``--record FILE`` it goes on from where
the file stands, and with ``--start N`` from case N.
``--minutes M`` ends it early, and the table says how many were tried. ``--page ../docs/trust.md`` puts what the record
holds into the page. The exit code is 1 if anything failed.
"""

import argparse
import hashlib
import json
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from fuzz.targets import TARGETS, draw, module_of, share
from fuzz.worker import Worker

CORPUS = Path(__file__).parents[1] / "corpus"
_ROUNDS = 20  # at most: the targets take turns, so that a run that is ended early has tried all of them alike


@dataclass
class Tally:
    """The outcomes of one target."""

    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    most: float = 0.0

    def add(self, outcome: str, seconds: float, megabytes: float) -> None:
        self.cases += 1
        self.kinds[kind(outcome)] += 1
        self.slowest = max(self.slowest, seconds)
        self.most = max(self.most, megabytes)

    def join(self, other: dict[str, Any]) -> None:
        self.cases += other["cases"]
        self.kinds.update(other["kinds"])
        self.slowest = max(self.slowest, other["slowest"])
        self.most = max(self.most, other["most"])

    @property
    def failures(self) -> int:
        return sum(count for kind, count in self.kinds.items() if kind.startswith("FAILED"))

    def row(self, target: str) -> str:
        """Return a row of the table."""
        refused = self.kinds["refused"]
        done = self.cases - refused - self.failures
        return (
            f"| {target:22} | {self.cases:6,} | {done:6,} | {refused:7,} | {self.failures:6,} "
            f"| {self.slowest:5.1f} s | {self.most:3.0f} MB |"
        )


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def write_page(record: Path, page: Path) -> None:
    """Put the table of all runs of a record between the two marks of a page."""
    tallies: dict[tuple[str, int], Tally] = {}
    commits: dict[tuple[str, int], dict[str, None]] = {}
    for line in record.read_text().splitlines():
        entry = json.loads(line)
        key = entry["target"], entry["seed"]
        tallies.setdefault(key, Tally()).join(entry)
        commits.setdefault(key, {})[entry["commit"]] = None
    head = (
        "| target | cases | done | refused | broke a promise | slowest | memory | seed | commit |\n" + "|---" * 9 + "|"
    )
    order = sorted(tallies, key=lambda key: (list(TARGETS).index(key[0]), key[1]))
    rows = [f"{' '.join(tallies[key].row(key[0]).split())} {key[1]} | {', '.join(commits[key])} |" for key in order]
    before, rest = page.read_text().split(_BEGIN)
    after = rest.split(_END)[1]
    page.write_text("\n".join([before + _BEGIN, "", head, *rows, "", _END + after]))


_BEGIN, _END = "<!-- table of python -m fuzz.run --page -->", "<!-- end of the table -->"


def kind(outcome: str) -> str:
    return outcome.partition(":")[0]


def shrunk(worker: Worker, target: str, case: Any, outcome: str, tries: int = 100) -> Any:
    """Return a simpler case that fails in the same way."""
    found = hasattr(module_of(target), "simpler")
    while found:
        found = False
        for other in module_of(target).simpler(case):
            tries -= 1
            if tries < 0:
                return case
            if kind(worker.attempt(target, other)[0]) == kind(outcome):
                case, found = other, True
                break
    return case


def keep(target: str, case: Any, outcome: str, corpus: Path) -> Path:
    """Put a case into the corpus: as the module of the target does, otherwise as JSON."""
    module = module_of(target)
    if hasattr(module, "keep"):
        kept: Path = module.keep(case, outcome, corpus)
        return kept
    text = json.dumps({"target": target, "spec": case, "outcome": outcome}, indent=1)
    path = corpus / f"{target}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
    corpus.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    return path


class Run:
    """One run over several targets.

    Parameters
    ----------
    seed : int
    corpus : Path or None
        Where failures are kept, made simpler.
    record : Path or None
        A file to which counts are added; those that are in it already are counted, and their cases are not tried again.
    """

    def __init__(self, seed: int, corpus: Path | None, record: Path | None = None) -> None:
        self.seed, self.corpus, self.record = seed, corpus, record
        self.tallies: dict[str, Tally] = {}
        self.reached: dict[str, int] = {}
        self._seen: set[tuple[str, str]] = set()
        self._worker = Worker()
        for line in record.read_text().splitlines() if record is not None and record.exists() else ():
            entry = json.loads(line)
            if entry["seed"] == seed:
                self.tallies.setdefault(entry["target"], Tally()).join(entry)
                self.reached[entry["target"]] = entry["last"]

    def go(self, targets: list[str], cases: int, start: int = 0, seconds: float = inf) -> int:
        """Try the cases, or as many as the time allows; print a table, and return the number of failures."""
        rounds, end = max(1, min(_ROUNDS, cases // 500)), time.monotonic() + seconds
        for turn in range(1, rounds + 1):
            for target in targets:
                first = max(start, self.reached.get(target, 0))
                last = start + share(target, cases) * turn // rounds
                if first < last and time.monotonic() < end:
                    self._part(target, first, last)
        self._worker.stop()
        return self.table(targets)

    def _part(self, target: str, first: int, last: int) -> None:
        part = Tally()
        for number, answer in self._worker.cases(target, self.seed, first, last):
            part.add(*answer)
            if answer[0].startswith("FAILED"):
                self._failed(target, number, answer[0])
        found = {"cases": part.cases, "kinds": part.kinds, "slowest": part.slowest, "most": part.most}
        self.tallies.setdefault(target, Tally()).join(found)
        self.reached[target] = last
        if self.record is not None:
            with self.record.open("a") as file:
                about = {"target": target, "seed": self.seed, "last": last, "commit": _commit()}
                file.write(json.dumps({**about, **found}) + "\n")

    def _failed(self, target: str, number: int, outcome: str) -> None:
        place = ""
        if self.corpus is not None and (target, kind(outcome)) not in self._seen:
            self._seen.add((target, kind(outcome)))
            helper = Worker()
            case = shrunk(helper, target, draw(target, self.seed, number), outcome)
            helper.stop()
            place = f"; kept as {keep(target, case, outcome, self.corpus).name}"
        print(f"{target}, case {number}: {outcome}{place}", flush=True)

    def table(self, targets: list[str]) -> int:
        """Print what came of each target; return the number of failures."""
        print(
            f"| {'target':22} |  cases | done   | refused | broken | slowest | memory |\n|---|---|---|---|---|---|---|"
        )
        for target in targets:
            print(self.tallies.get(target, Tally()).row(target))
        return sum(self.tallies[target].failures for target in targets if target in self.tallies)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cases",
        type=int,
        default=1000,
        help="cases per reader; other targets get a share of it, see fuzz/targets.py",
    )
    parser.add_argument("--targets", nargs="*", choices=TARGETS, default=list(TARGETS), help="all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--minutes", type=float, default=inf, help="begin nothing new after so many")
    parser.add_argument("--record", type=Path, help="file to which counts are added, and from which a run goes on")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where failures are kept")
    parser.add_argument("--page", type=Path, help="page whose table is made from the record")
    given = parser.parse_args()
    failures = Run(given.seed, given.corpus, given.record).go(
        given.targets, given.cases, given.start, 60 * given.minutes
    )
    if given.page is not None and given.record is not None:
        write_page(given.record, given.page)
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
