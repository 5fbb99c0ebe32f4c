"""A short search for files that readers fall for, and all files that an earlier search found."""

import shutil
import sys

import numpy as np
import pytest

from fuzz.reader_worker import Worker
from fuzz.readers import CORPUS, Case, cases, damaged, keep, main, smaller, try_case

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits of the workers are those of Linux")

KEPT = sorted(CORPUS.iterdir()) if CORPUS.exists() else []
HOW = ({}, {"label": "y", "id": "who"}, {"samples": "columns"})


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.stop()


@pytest.mark.parametrize("place", KEPT, ids=lambda place: place.name)
def test_what_once_went_wrong_goes_right(place, worker, tmp_path):
    (found,) = place.iterdir()
    path = tmp_path / found.name
    (shutil.copytree if found.is_dir() else shutil.copy)(found, path)
    # a check that never ends is given up after seconds, so it is tried once
    for how in ({"open": True},) if place.name.startswith("open-") else HOW[: 1 if "hang" in place.name else None]:
        outcome = worker.read(path, how)
        assert outcome.good, outcome


def test_a_short_search(capsys):
    assert main(40, seed=1, corpus=None, minutes=0.3) == 0, capsys.readouterr().out


def test_cases_are_the_same_for_the_same_seed():
    first, second = (cases(np.random.default_rng(3)) for _ in range(2))
    for _ in range(20):
        assert next(first) == next(second)


def test_damage_changes_most_files():
    rng = np.random.default_rng(0)
    content = b"a,b\n1,2\n3,4\n"
    changed = [damaged(rng, "x.csv", content) != content for _ in range(50)]
    assert sum(changed) > 40


def test_a_failure_is_made_smaller_and_kept(worker, tmp_path, monkeypatch):
    """A file that "fails" wherever it holds a certain byte is cut down to that byte."""

    def fails_with_z(self, path, how):
        from fuzz.reader_worker import Outcome

        return Outcome("crash", "SIGSEGV") if b"z" in path.read_bytes() else Outcome("refused")

    monkeypatch.setattr(Worker, "read", fails_with_z)
    case = Case("csv", {"x.csv": b"a,b\n1,2\n3,z\n5,6\n"}, {})
    outcome = try_case(worker, case)
    small = smaller(worker, case, outcome)
    assert small.files == {"x.csv": b"z"}
    assert (keep(small, outcome, tmp_path) / "x.csv").read_bytes() == b"z"


@pytest.mark.parametrize(
    ("code", "kind"),
    [("os.kill(os.getpid(), 11)", "crash"), ("raise KeyError", "exception"), ("bytearray(700_000_000)", "memory")],
)
def test_the_worker_notices(code, kind, tmp_path, monkeypatch):
    """Crashes, foreign exceptions and memory, in a reader that a file named like this has."""
    (tmp_path / "x.csv").write_text(code)
    fresh = Worker()
    assert fresh.read(tmp_path / "x.csv", {"run": True}).kind == kind
    fresh.stop()
