"""``python -m experiments``: names, the results folder, the page, and refusals."""

import pytest

from experiments.__main__ import main
from experiments.catalog import EXPERIMENTS


def test_one_experiment_leaves_results_page_and_verdicts(capsys, tmp_path):
    arguments = ["laplacian", "--quick", "--results", str(tmp_path / "raw"), "--page", str(tmp_path / "page.md")]
    main(arguments)
    out = capsys.readouterr().out
    assert "| data | Laplacian | Laplacian, moving d | Laplacian, as printed | standard, unit |" in out
    raw = (tmp_path / "raw" / "laplacian.jsonl").read_text()
    assert len(raw.splitlines()) == sum(EXPERIMENTS["laplacian"].quick.values())
    page = (tmp_path / "page.md").read_text()
    assert all(f"## {experiment.title}" in page for experiment in EXPERIMENTS.values())
    assert (tmp_path / "images" / "reproduced-laplacian.png").exists()
    main(arguments)
    assert (tmp_path / "raw" / "laplacian.jsonl").read_text() == raw


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["nothing"], "there is no experiment 'nothing'"), (["laplacian", "--data", "missing"], "is not a folder")],
)
def test_unknown_names_and_folders(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_data_folder_is_used(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENSIEVE_DATA", "")  # restored after the test, whatever the command sets
    (tmp_path / "empty").mkdir()
    main(["faces", "--quick", "--data", str(tmp_path / "empty"), "--results", str(tmp_path / "raw")])
    assert "Not in the data folder: ORL_32x32, " in capsys.readouterr().out
