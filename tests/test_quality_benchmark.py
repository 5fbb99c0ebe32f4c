"""The benchmark of selectors, on a set of the user's own: any selector runs, results are kept, tests are right."""

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def quality(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def _own_set(folder: Path) -> str:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 60))
    X[:, :8] += 3.0 * y[:, None]
    np.savez(folder / "own.npz", X=X, y=y)
    return str(folder / "own.npz")


def test_any_selector_runs_and_results_are_kept(quality: None, tmp_path: Path, capsys, monkeypatch) -> None:
    from benchmarks.quality.__main__ import main

    texts = (
        "labels sklearn.feature_selection:SelectKBest(k=count)",
        "raw sklearn.feature_selection:VarianceThreshold()",
        "raw eigensieve:SieveSelector('fewest')",
    )
    options = ["--data", _own_set(tmp_path), "--results", str(tmp_path / "r.jsonl"), "--pictures", str(tmp_path)]
    options += ["--selectors", "sieve", "variance", "random", "--counts", "50", "--seeds", "1", "--n-init", "2"]
    monkeypatch.setattr(sys, "argv", ["quality", *options, *(part for text in texts for part in ("--selector", text))])
    main()
    environment, *rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert {row["environment"] for row in rows} == {environment["environment"]}
    best = {row["selector"]: row["accuracy"] for row in rows}
    assert best[texts[0]] == best["sieve"] == 1.0
    assert {row["chosen"] for row in rows if row["selector"] == texts[1]} == {60}
    assert all(1 <= row["chosen"] <= 8 and row["accuracy"] > 0.9 for row in rows if row["selector"] == texts[2])
    assert all(row["seconds"] >= 0 and row["megabytes"] >= 0 and 0 < row["r2"] < 1 for row in rows)
    assert f"| {texts[0]} (labels) |" in capsys.readouterr().out
    assert len(list(tmp_path.glob("*.svg"))) == 4
    main()
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 1 + len(rows)


def test_the_ten_lines_of_the_page_run_beside_the_others(
    quality: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.quality.__main__ import main

    page = (ROOT / "docs" / "measured" / "add-a-selector.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    assert len(code.split("\n")) <= 11
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    command = next(line for line in page.split("\n") if "mine:Spread" in line)
    options = [
        *shlex.split(command)[3:],
        "--counts",
        "20",
        "--seeds",
        "1",
        "--n-init",
        "2",
        "--data",
        _own_set(tmp_path),
    ]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["quality", *shlex.split(command)[3:], *options])
    main()
    assert "raw mine:Spread(count)" in capsys.readouterr().out
    rows = [json.loads(line) for line in Path("quality.jsonl").read_text().splitlines()[1:]]
    assert {row["selector"] for row in rows} == {"sieve", "random", "variance", "raw mine:Spread(count)"}
    assert all(row["chosen"] == 20 for row in rows)
    assert Path("quality.csv").exists()


def test_sets_that_were_chosen_on_have_no_pictures(quality: None, tmp_path: Path) -> None:
    from benchmarks.quality.pictures import draw
    from benchmarks.quality.selectors import SELECTORS

    row = {"data": "USPS", "selector": "variance", "count": 50, "accuracy": 0.5, "nmi": 0.5}
    assert draw([row], SELECTORS, tmp_path / "pictures", (50,)) == []
    assert not (tmp_path / "pictures").exists()


def test_adjusted_p_values_and_what_they_tell_apart(quality: None) -> None:
    from benchmarks.quality.pictures import cliques
    from benchmarks.quality.report import holm

    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    rng = np.random.default_rng(0)
    base = rng.random(30)
    means = np.column_stack([base + 0.3, base + 0.3 + 1e-3 * rng.standard_normal(30), base])
    assert cliques(means) == [(0, 1)]


def test_reconstruction_is_that_of_ridge_regression(quality: None) -> None:
    from benchmarks.quality.scoring import reconstruction
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(1)
    Z = rng.standard_normal((30, 12)) @ rng.standard_normal((12, 12))
    half = np.random.default_rng(0).permutation(30) < 15
    for chosen in (np.arange(4), np.arange(12)):
        lost = total = 0.0
        for train in (half, ~half):
            model = Ridge(alpha=train.sum()).fit(Z[train][:, chosen], Z[train])
            lost += np.sum((Z[~train] - model.predict(Z[~train][:, chosen])) ** 2)
            total += np.sum((Z[~train] - Z[train].mean(axis=0)) ** 2)
        assert reconstruction(Z, chosen) == pytest.approx(1 - lost / total)
