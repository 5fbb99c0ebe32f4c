"""A short run of the fuzzer, and every case that failed once."""

import json
from pathlib import Path

import numpy as np
import pytest

from fuzz.run import CORPUS, TARGETS, Worker, attempt, keep, shrunk

CASES = {"models": 25, "checkpoints": 12}
KEPT = sorted(CORPUS.glob("*.json"))


@pytest.mark.parametrize("target", TARGETS)
def test_a_few_cases(target: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(CASES.get(target, 10)):
        spec = TARGETS[target].draw(rng, target)
        outcome = attempt(target, spec)
        assert not outcome.startswith("FAILED"), f"{outcome} for {spec}"


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_failed_once(path: Path) -> None:
    case = json.loads(path.read_text())
    outcome = attempt(case["target"], case["spec"])
    assert not outcome.startswith("FAILED"), outcome


class Broken:
    """A target that fails from 4 on."""

    @staticmethod
    def check(spec: dict[str, int]) -> str:
        assert spec["x"] < 4, "too large"
        return "fine"

    @staticmethod
    def simpler(spec: dict[str, int]):  # type: ignore[no-untyped-def]
        yield {"x": spec["x"] // 2}
        yield {"x": spec["x"] - 1}


class Here(Worker):
    """A worker without a process."""

    def __init__(self) -> None:
        pass

    def attempt(self, target: str, spec: dict[str, int]) -> tuple[str, float]:
        return attempt(target, spec), 0.0


def test_failures_are_made_simpler_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "broken", Broken)
    outcome = attempt("broken", {"x": 39})
    assert outcome.startswith("FAILED AssertionError: too large")
    spec = shrunk(Here(), "broken", {"x": 39}, outcome)
    assert spec == {"x": 4}
    kept = json.loads(keep("broken", spec, outcome, tmp_path).read_text())
    assert kept == {"target": "broken", "spec": {"x": 4}, "outcome": outcome}
