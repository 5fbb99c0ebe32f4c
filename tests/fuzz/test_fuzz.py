"""A short run of the fuzzer, and every case that failed once."""

import json
import os
import signal
import sys

import pytest

pytest.importorskip("resource", reason="limits of processes are those of POSIX")
from fuzz import interruptions, readers
from fuzz.run import CORPUS, Run, keep, shrunk
from fuzz.targets import TARGETS, TOGETHER, draw, module_of, share
from fuzz.worker import SECONDS, Worker, attempt

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits of the workers are those of Linux")

MODULES = {"fits": 10, "models": 25, "tampering": 12, "checkpoints": 12, "exports": 2}
"""Cases that run in this process."""
HERE = {target: MODULES[name] for target in TARGETS if (name := module_of(target).__name__.split(".")[1]) in MODULES}
FORKED = ("interrupted select", "interrupted compress", "interrupted apply", *TOGETHER, "terminal")
KEPT = sorted(CORPUS.glob("*.json"))
FILES = sorted((CORPUS / "readers").iterdir())
HOW = ({}, {"label": "y", "id": "who"}, {"samples": "columns"})


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.stop()


@pytest.mark.parametrize("target", HERE)
def test_a_few_cases(target):
    for number in range(HERE[target]):
        case = draw(target, 7, number)
        outcome = attempt(module_of(target), case)
        assert not outcome.startswith("FAILED"), f"{outcome} for {case}"


def test_a_few_files_and_interruptions(capsys):
    """In worker processes, as a long run does it."""
    targets = [*readers.sound(), *FORKED]
    assert Run(1, None).go(targets, 40) == 0, capsys.readouterr().out
    out = capsys.readouterr().out
    assert all(f"| {target:22} |" in out for target in targets)


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_failed_once(path, worker):
    case = json.loads(path.read_text())
    if case["target"].startswith(
        "interrupted "
    ):  # they fork, and this process has threads, which a fork may not survive
        outcome = worker.attempt(case["target"], case["spec"])[0]
    else:
        outcome = attempt(module_of(case["target"]), case["spec"])
    assert not outcome.startswith("FAILED"), outcome


@pytest.mark.parametrize("place", FILES, ids=[place.name for place in FILES])
def test_files_that_failed_once(place, worker):
    (found,) = place.iterdir()
    inside = [found] if found.is_file() else [path for path in found.rglob("*") if path.is_file()]
    files = {str(path.relative_to(place)).removeprefix("folder/"): path.read_bytes() for path in inside}
    in_place = place.name.startswith("open-")
    # a check that never ends is given up after seconds, so it is tried once
    for how in ({"open": True},) if in_place else HOW[: 1 if "hang" in place.name else None]:
        outcome = worker.attempt("csv", readers.Case("csv", files, how))[0]
        assert not outcome.startswith("FAILED"), outcome


def test_cases_are_the_same_for_the_same_seed():
    for target in TARGETS:
        assert draw(target, 3, 5) == draw(target, 3, 5)
        assert any(draw(target, 3, number) != draw(target, 3, 5) for number in range(5))


def test_what_takes_longer_gets_fewer_cases():
    shares = {
        "csv": 10_000,
        "QAlphaSelector": 5_000,
        "models": 2_000,
        "tampered FeatureMap": 1_000,
        "leaks FeatureMap": 1,
    }
    assert {target: share(target, 10_000) for target in shares} == shares
    assert share("interrupted demo", 10_000) == 500


class Broken:
    """A target that fails from 4 on."""

    @staticmethod
    def draw(rng, target):
        return {"x": int(rng.integers(1, 40))}

    @staticmethod
    def check(case):
        assert case["x"] < 4, "too large"
        return "fine"

    @staticmethod
    def simpler(case):
        yield {"x": case["x"] // 2}
        yield {"x": case["x"] - 1}


class Here(Worker):
    """A worker without a process."""

    def __init__(self):
        self.tried = []

    def attempt(self, target, case):
        return attempt(Broken, case), 0.0, 0.0

    def cases(self, target, seed, first, last):
        for number in range(first, last):
            self.tried.append(number)
            yield number, self.attempt(target, draw(target, seed, number))

    def stop(self):
        pass


@pytest.fixture
def broken(monkeypatch):
    monkeypatch.setattr("fuzz.run.module_of", lambda target: Broken)
    monkeypatch.setattr("fuzz.targets.module_of", lambda target: Broken)
    monkeypatch.setitem(sys.modules["fuzz.targets"]._MODULES, "broken", "")
    monkeypatch.setattr("fuzz.run.Worker", Here)


def test_failures_are_made_simpler_and_kept(tmp_path, broken):
    outcome = attempt(Broken, {"x": 39})
    assert outcome.startswith("FAILED AssertionError: too large")
    case = shrunk(Here(), "broken", {"x": 39}, outcome)
    assert case == {"x": 4}
    kept = json.loads(keep("broken", case, outcome, tmp_path).read_text())
    assert kept == {"target": "broken", "spec": {"x": 4}, "outcome": outcome}


def test_a_run_goes_on_where_its_record_stands(tmp_path, broken, capsys):
    record = tmp_path / "record"
    first = Run(0, tmp_path, record)
    failures = first.go(["broken"], 40)
    assert 0 < failures < 40 and first._worker.tried == list(range(40))
    assert "kept as" in capsys.readouterr().out
    second = Run(0, tmp_path, record)
    second.go(["broken"], 60)
    assert second._worker.tried == list(range(40, 60)) and second.tallies["broken"].cases == 60
    later = Run(0, None)
    later.go(["broken"], 20, start=100)
    assert later._worker.tried == list(range(100, 120))


def test_a_file_is_made_smaller_and_kept(tmp_path):
    case = readers.Case("csv", {"x.csv": b"a,b\n1,2\n3,z\n5,6\n"}, {})
    while smaller := [each for each in readers.simpler(case) if b"z" in each.files["x.csv"]]:
        case = smaller[0]
    assert case.files == {"x.csv": b"z"}
    assert (readers.keep(case, "FAILED crash SIGSEGV", tmp_path) / "x.csv").read_bytes() == b"z"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("os.kill(os.getpid(), 11)", "crash SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGPROF)", f"over {SECONDS} seconds"),
        ("raise KeyError", "KeyError"),
        ("bytearray(700_000_000)", "over 500 MB"),
    ],
)
def test_the_worker_notices(code, words, worker):
    assert worker.attempt("code", f"import os, signal\n{code}")[0].startswith(f"FAILED {words}")


def test_what_is_said_about_an_interruption_must_be_true(tmp_path):
    spec = {"signal": "SIGINT", "existing": False}
    expected = {"x.csv": b"1", "w.csv": b"2"}
    nothing = "error: Interrupted. Nothing was written; run the command again to start over.\n"
    assert interruptions._judged(spec, 128 + signal.SIGINT, nothing, tmp_path, expected) == "nothing written"
    for code, said in ((1, nothing), (0, ""), (130, "Traceback\n  File\n")):
        with pytest.raises(AssertionError):
            interruptions._judged(spec, code, said, tmp_path, expected)
    (tmp_path / "x.csv").write_bytes(b"1")
    with pytest.raises(AssertionError, match="only"):
        interruptions._judged(spec, 130, nothing, tmp_path, expected)
    (tmp_path / "w.csv").write_bytes(b"2")
    with pytest.raises(AssertionError, match="but"):
        interruptions._judged(spec, 130, nothing, tmp_path, expected)
    os.mkdir(tmp_path / ".eigensieve-x")
    with pytest.raises(AssertionError, match="left behind"):
        interruptions._judged(spec, 0, "", tmp_path, expected)
