"""Planted labels on real columns: which columns are independent of the labels, and how selectors are judged."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def _real() -> np.ndarray:
    return load_breast_cancer().data[:, :30]


@pytest.mark.parametrize("family", ["linear", "nonlinear", "interactions", "decoys"])
def test_columns_are_real_and_noise_keeps_its_own_dependence(family: str) -> None:
    from benchmarks.quality.planted.generator import plant

    X = _real()
    made = plant(X, family, 569, 30, 4, 3.0, 0)
    assert made.X.shape == (569, 30)
    assert made.planted.sum() == 4
    assert (made.related.sum() > 0) == (family == "decoys")
    assert not (made.planted & made.related).any()
    sorted_real = {tuple(column) for column in np.sort(X, axis=0).T}
    assert all(tuple(column) in sorted_real for column in np.sort(made.X, axis=0).T)
    noise = ~made.planted & ~made.related
    within = np.corrcoef(made.X[:, noise].T)
    assert np.abs(within - np.eye(noise.sum())).max() > 0.9
    across = np.corrcoef(made.X.T)[np.ix_(noise, ~noise)]
    assert np.abs(across).max() < 0.2


def test_labels_follow_the_effect() -> None:
    from benchmarks.quality.planted.generator import plant

    X = np.random.default_rng(0).standard_normal((2000, 6))
    made = plant(X, "linear", 2000, 6, 1, 3.0, 1)
    z = made.X[:, made.planted].ravel()
    slope = np.corrcoef(z, made.y)[0, 1]
    assert abs(slope) > 0.5
    products = plant(X, "interactions", 2000, 6, 2, 3.0, 1)
    a, b = products.X[:, products.planted].T
    assert abs(np.corrcoef(a * b, products.y)[0, 1]) > 0.4
    assert max(abs(np.corrcoef(c, products.y)[0, 1]) for c in (a, b)) < 0.1


def test_a_choice_is_judged_by_what_is_planted() -> None:
    from benchmarks.quality.planted.generator import Planted

    planted, related = np.array([1, 1, 0, 0, 0], bool), np.array([0, 0, 1, 0, 0], bool)
    made = Planted(np.zeros((3, 5)), np.zeros(3), planted, related)
    assert made.judge(np.array([0, 2, 3, 4])) == {"fdp": 0.5, "strict": 0.75, "power": 0.5, "size": 4}
    assert made.judge(np.array([], dtype=int)) == {"fdp": 0.0, "strict": 0.0, "power": 0.0, "size": 0}


def test_wrong_problems_are_told() -> None:
    from benchmarks.quality.planted.generator import plant

    with pytest.raises(ValueError, match="The 'family' parameter of plant must be one of"):
        plant(_real(), "other", 50, 20, 4, 3.0, 0)
    with pytest.raises(ValueError, match="The 'n_samples' parameter of plant must be at most 569"):
        plant(_real(), "linear", 570, 20, 4, 3.0, 0)


@pytest.mark.parametrize("name", ["sieve", "f-test", "stability", "stabl"])
def test_peers_find_what_is_planted_and_little_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.quality.planted import peers
    from benchmarks.quality.planted.generator import plant

    monkeypatch.setattr(peers, "_DRAWS", 20)
    X = np.random.default_rng(2).standard_normal((300, 120))
    made = plant(X, "linear", 300, 120, 4, 6.0, 0)
    found = made.judge(peers.PEERS[name](made.X, made.y, 0.1, 4, 0))
    assert found["power"] >= 0.75
    assert found["size"] <= 12


def test_the_table_has_rates_power_and_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.quality.planted.__main__ import main

    np.savez(tmp_path / "own.npz", X=_real(), y=load_breast_cancer().target)
    options = ["--data", str(tmp_path / "own.npz"), "--families", "linear", "--selectors", "f-test", "--samples", "100"]
    options += ["--features", "20", "--relevant", "4", "--draws", "2", "--results", str(tmp_path / "r.jsonl")]
    command = [sys.executable, "-m", "benchmarks.quality.planted", *options]
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0
    monkeypatch.setattr(sys, "argv", ["planted", *options])
    main()
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()][1:]
    assert [row["status"] for row in rows] == ["ok", "ok"]
    mean = np.mean([row["power"] for row in rows])
    assert f"| {mean:.3f} |" in capsys.readouterr().out
