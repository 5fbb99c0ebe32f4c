"""The harness of the benchmark of selectors: limits, the results file, sparse sets, groups of sets."""

import csv
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_a_call_over_a_limit_is_ended_and_the_next_one_runs() -> None:
    from benchmarks.quality.limits import OverLimit, Worker

    worker = Worker(seconds=0.5, megabytes=200.0)
    try:
        assert worker.call(divmod, 7, 3) == (2, 1)
        with pytest.raises(OverLimit, match=r"over 0\.5 s"):
            worker.call(time.sleep, 60)
        with pytest.raises(OverLimit, match=r"over 0\.5 s"):
            worker.call(pow, 3, 10**8)
        assert worker.call(divmod, 9, 2) == (4, 1)
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            worker.call(divmod, 1, 0)
    finally:
        worker.close()


def test_a_call_that_takes_too_much_memory_is_ended() -> None:
    from benchmarks.quality.limits import OverLimit, Worker

    worker = Worker(seconds=60.0, megabytes=200.0)
    try:
        with pytest.raises(OverLimit, match="over 200 MB"):
            worker.call(_hold, 600)
    finally:
        worker.close()


def _hold(megabytes: int) -> None:
    held = bytearray(megabytes * 2**20)
    time.sleep(30)
    del held


def test_results_say_what_they_were_made_with(tmp_path: Path) -> None:
    from benchmarks.quality.results import Results

    head = {"data": "a", "selector": "b", "seed": 0, "n_init": 1, "max_samples": 9}
    file = tmp_path / "r.jsonl"
    Results(file).add(head | {"count": 5, "accuracy": 0.5})
    file.write_text(file.read_text() + '{"data": "a", "sel')
    results = Results(file)
    assert results.has(head | {"count": 5})
    results.add(head | {"count": 6})
    lines = file.read_text().splitlines()
    assert json.loads(lines[0])["numpy"] == np.__version__
    assert len(lines) == 4
    assert [row["count"] for row in Results(file).rows] == [5, 6]
    results.write_table(tmp_path / "r.csv")
    with (tmp_path / "r.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["count"], row["accuracy"], row["numpy"]) for row in rows] == [
        ("5", "0.5", np.__version__),
        ("6", "", np.__version__),
    ]


def test_sparse_sets_limits_and_the_wide_expression_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.quality.__main__ import main

    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = csr_matrix(rng.poisson(0.3, (20, 240)) * (1.0 + 5.0 * y[:, None] * (np.arange(240) < 20)))
    parts = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
    np.savez(tmp_path / "wide.npz", y=y, kind=np.array("expression (microRNA)"), **parts)
    np.savez(tmp_path / "other.npz", y=y, kind=np.array("text"), **parts)
    files = [str(tmp_path / f"{name}.npz") for name in ("wide", "other")]
    options = ["--data", *files, "--results", str(tmp_path / "r.jsonl"), "--table", str(tmp_path / "r.csv")]
    options += ["--selectors", "variance", "css-raw", "--ours", "variance", "--counts", "50", "--seeds", "1"]
    options += ["--seconds", "60", "--megabytes", "2000"]
    monkeypatch.setattr(sys, "argv", ["quality", *options])
    main()
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    rows = [row for row in rows if "data" in row]
    assert [(row["samples"], row["features"], row["status"]) for row in rows] == [(20, 240, "ok")] * 4
    assert len({row["digest"] for row in rows}) == 1
    printed = capsys.readouterr().out
    group = printed.partition("Wide expression")[2]
    assert "2 sets, features: 50." in printed
    assert "1 sets, features: 50." in group
    assert (tmp_path / "r.csv").exists()
