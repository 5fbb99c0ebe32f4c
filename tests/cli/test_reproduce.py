"""``eigensieve reproduce``: names, the results folder, the page, and what is refused."""

import html
import json
from pathlib import Path

import pytest

from eigensieve.experiments import EXPERIMENTS


def test_list(cli):
    code, out, _ = cli("reproduce", "--list", "--json")
    assert code == 0
    assert json.loads(out)["experiments"] == list(EXPERIMENTS)


def test_one_experiment_leaves_results_page_and_verdicts(cli, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ("reproduce", "laplacian", "--quick", "--results", tmp_path / "raw", "--page", tmp_path / "page.md")
    code, out, _ = cli(*arguments)
    assert code == 0
    assert "| data | Laplacian | standard, unit | standard, centred | chance |" in out and "Verdicts" in out
    raw = (tmp_path / "raw" / "laplacian.jsonl").read_text()
    assert len(raw.splitlines()) == sum(EXPERIMENTS["laplacian"].quick.values())
    page = (tmp_path / "page.md").read_text()
    assert all(f"## {experiment.title}" in page for experiment in EXPERIMENTS.values())
    assert (tmp_path / "images" / "reproduced-laplacian.png").exists()
    report = (tmp_path / "raw" / "reproduced.html").read_text()
    assert report.count("data:image/png;base64,") == 1 and "<td class='wide'>uniform</td>" in report
    assert all(html.escape(claim.text) in report for each in EXPERIMENTS.values() for claim in each.claims)

    code, out, _ = cli(*arguments, "--json")
    assert code == 0
    assert (tmp_path / "raw" / "laplacian.jsonl").read_text() == raw
    (claim,) = json.loads(out)["claims"]
    assert Path(json.loads(out)["report"]).samefile(tmp_path / "raw" / "reproduced.html")
    assert claim["experiment"] == "laplacian" and claim["verdict"] in {
        f"{word} in the runs so far" for word in ("reproduced", "partly", "not reproduced")
    }


def test_unknown_names_and_folders(cli, tmp_path):
    code, _, err = cli("reproduce", "nothing")
    assert code == 2 and "There is no experiment 'nothing'. Choose from: positivity" in err
    code, _, err = cli("reproduce", "wine", "--data", tmp_path / "missing")
    assert code == 2
    code, _, err = cli("reproduce", "laplacian", "--data", tmp_path / "missing")
    assert code == 3 and "is not a folder" in err


def test_data_folder_is_used(cli, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("EIGENSIEVE_DATA", "")  # restored after the test, whatever the command sets
    empty = tmp_path / "empty"
    empty.mkdir()
    code, out, _ = cli("reproduce", "faces", "--quick", "--data", empty, "--results", tmp_path / "raw")
    assert code == 0
    assert "Not in the data folder: ORL_32x32, Yale_32x32, warpPIE10P." in out
