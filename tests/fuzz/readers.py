"""Damaged files for every reader: each is read, or refused in one line, quickly and with little memory.

``python -m fuzz.readers --cases 1000`` (in the folder ``tests``) tries so many files per reader. A failure is made
smaller and kept under ``tests/corpus/readers``, where a test reads it ever after.
"""

import argparse
import hashlib
import math
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.reader_damage import (
    Rng,
    damaged_binary,
    damaged_gzip,
    damaged_mat,
    damaged_npy,
    damaged_text,
    damaged_zip,
)
from fuzz.reader_seeds import Files, seeds
from fuzz.reader_worker import Outcome, Worker

CORPUS = Path(__file__).parents[1] / "corpus" / "readers"
_DAMAGE = {".gz": damaged_gzip, ".npz": damaged_zip, ".npy": damaged_npy, ".mat": damaged_mat}
_TEXT = (".csv", ".tsv", ".txt", ".svm", ".mtx", ".json")
_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"label": "y"},
    {"label": "y", "id": "who"},
    {"samples": "columns"},
    {"label": "label"},
)


@dataclass(frozen=True)
class Case:
    """Files to read, and how.

    Attributes
    ----------
    reader : str
        Name of the reader in the seeds.
    files : dict of bytes
        One file, or the files of a folder.
    how : dict
        Arguments of ``read_table``.
    """

    reader: str
    files: Files
    how: dict[str, Any]

    def place_in(self, folder: Path) -> Path:
        """Write the files, and return the path to read."""
        if len(self.files) == 1:
            ((name, content),) = self.files.items()
            (folder / name).write_bytes(content)
            return folder / name
        for name, content in self.files.items():
            (folder / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "folder" / name).write_bytes(content)
        first = Path(name).parts[0]  # a folder within, where there is one
        return folder / "folder" / first if len(Path(name).parts) > 1 else folder / "folder"


def cases(rng: Rng, readers: list[str] | None = None) -> Iterator[Case]:
    """Damaged files without end, one per reader in turn."""
    with tempfile.TemporaryDirectory() as folder:
        sound = seeds(Path(folder))
    while True:
        for reader in readers or list(sound):
            files = dict(sound[reader][int(rng.integers(len(sound[reader])))])
            name = list(files)[int(rng.integers(len(files)))]
            files[name] = damaged(rng, name, files[name])
            how = dict(_ARGUMENTS[int(rng.integers(len(_ARGUMENTS)))])
            if reader.startswith("open "):
                how = {"open": True}
            yield Case(reader, files, how)


def damaged(rng: Rng, name: str, content: bytes) -> bytes:
    """Damage that suits the kind of file."""
    ending = Path(name).suffix
    if ending in _DAMAGE:
        return _DAMAGE[ending](rng, content)
    return damaged_text(rng, content) if ending in _TEXT else damaged_binary(rng, content)


def try_case(worker: Worker, case: Case) -> Outcome:
    """Read one case in a worker."""
    with tempfile.TemporaryDirectory() as folder:
        return worker.read(case.place_in(Path(folder)), case.how)


def smaller(worker: Worker, case: Case, outcome: Outcome, tries: int = 60) -> Case:
    """Leave out parts of a case with one file, as long as it fails in the same way."""
    if len(case.files) > 1 or outcome.kind == "hang":
        return case
    ((name, content),) = case.files.items()
    part = max(1, len(content) // 2)
    while tries and part:
        place = 0
        while tries and place < len(content):
            tries -= 1
            shorter = content[:place] + content[place + part :]
            again = try_case(worker, Case(case.reader, {name: shorter}, case.how)) if shorter else Outcome("refused")
            if (again.kind, _kind(again)) == (outcome.kind, _kind(outcome)):
                content = shorter
            else:
                place += part
        part //= 2
    return Case(case.reader, {name: content}, case.how)


def _kind(outcome: Outcome) -> str:
    return outcome.about.split(":")[0] if outcome.kind == "exception" else ""


def keep(case: Case, outcome: Outcome, corpus: Path) -> Path:
    """Put a failure into the corpus: a folder with the files, named after reader and content."""
    digest = hashlib.sha256(b"".join(name.encode() + content for name, content in case.files.items())).hexdigest()[:10]
    place = corpus / f"{case.reader.replace(' ', '-')}-{outcome.kind}-{digest}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    case.place_in(place)
    return place


def main(
    cases_per_reader: int,
    readers: list[str] | None = None,
    seed: int = 0,
    corpus: Path | None = CORPUS,
    show: int = 1,
    minutes: float = math.inf,
) -> int:
    """Try damaged files, print figures per reader, keep failures; return their number."""
    worker = Worker()
    counts: dict[str, Counter[str]] = {}
    slowest: Counter[str] = Counter()
    failures: Counter[tuple[str, str, str]] = Counter()
    end = time.monotonic() + 60 * minutes
    for case in cases(np.random.default_rng(seed), readers):
        counts.setdefault(case.reader, Counter())
        if counts[case.reader].total() >= cases_per_reader or time.monotonic() > end:
            break
        outcome = try_case(worker, case)
        counts[case.reader][outcome.kind] += 1
        slowest[case.reader] = max(slowest[case.reader], outcome.seconds)  # type: ignore[assignment]
        if outcome.good:
            continue
        key = (case.reader, outcome.kind, _kind(outcome))
        failures[key] += 1
        if failures[key] <= show and corpus is not None:
            place = keep(smaller(worker, case, outcome), outcome, corpus)
            print(f"{case.reader}: {outcome.kind}, {outcome.about[:200]!r}; kept as {place.name}", flush=True)
    worker.stop()
    for reader, found in counts.items():
        print(f"{reader:12} {found.total():7,} files: {dict(found)}, slowest {slowest[reader]:.1f} s")
    for key, count in failures.most_common(40):
        print(f"  {count:6,} x {' | '.join(key)}")
    return sum(failures.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="files per reader")
    parser.add_argument("--readers", nargs="*", help="names of readers; all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=1, help="how many failures of one kind are kept")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many minutes")
    given = parser.parse_args()
    raise SystemExit(bool(main(given.cases, given.readers, given.seed, given.corpus, given.show, given.minutes)))
