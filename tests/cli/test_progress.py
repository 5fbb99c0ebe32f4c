"""Progress reaches the command line by a callback, and column statistics are computed once."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

from cli.conftest import write_csv
from eigensieve import QAlphaSelector, SieveSelector
from eigensieve._progress import progress_to
from eigensieve.cli.console import Console
from eigensieve.cli.options import PrintOptions
from eigensieve.data import DataMatrix


def test_a_fit_tells_its_progress_to_the_listener_and_prints_nothing(values, capsys):
    lines = []
    with progress_to(lines.append):
        QAlphaSelector(6, n_clusters=2, verbose=2).fit(values)
    assert lines and not any(line.startswith("[") for line in lines)
    assert capsys.readouterr().err == ""
    heard = len(lines)
    QAlphaSelector(6, n_clusters=2, verbose=2).fit(values)
    assert len(lines) == heard and "[QAlphaSelector]" in capsys.readouterr().err


def test_the_listener_is_gone_after_an_error(values):
    lines = []
    with pytest.raises(RuntimeError), progress_to(lines.append):
        raise RuntimeError
    SieveSelector(6).fit(values)
    assert lines == []


@pytest.mark.parametrize("command", [("select", "-n", 6), ("map",), ("compress", "--elements", 10)])
def test_commands_pass_progress_on(cli, table, monkeypatch, command):
    lines = []

    @contextmanager
    def working(self, what, about=None):
        yield lambda message: lines.append(f"{what}: {message}")

    monkeypatch.setattr(Console, "working", working)
    code, _, err = cli(command[0], table, "--label", "tissue", *command[1:])
    assert code == 0, err
    assert any(line.startswith(("Fitting", "Selecting elements")) for line in lines)


def test_a_terminal_shows_progress_beside_the_spinner(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Console(PrintOptions()).working("Fitting") as progress:
        progress("step 7\x1b[31m")
    shown = capsys.readouterr().err
    assert "Fitting: step 7\ufffd[31m" in shown


def test_progress_can_be_plain_lines_for_programs(cli, table):
    code, out, err = cli("select", table, "--label", "tissue", "--stability", 2, "--json", "--progress")
    assert code == 0 and json.loads(out)["command"] == "select"
    lines = [line for line in err.splitlines() if line.startswith("[")]
    assert any("Fitting SieveSelector" in line for line in lines) and any("Stability" in line for line in lines)


def test_a_model_written_from_a_terminal_is_not_verbose(cli, table, tmp_path, monkeypatch):
    from eigensieve import load_model

    pytest.importorskip("skops", reason="model files need skops")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert cli("select", table, "--label", "tissue", "-n", 6, "-m", tmp_path / "m.skops")[0] == 0
    assert load_model(tmp_path / "m.skops").verbose == 0


@pytest.mark.parametrize("method", ["sieve", "qalpha", "trace-ratio"])
def test_select_computes_column_statistics_once(cli, tmp_path, monkeypatch, values, method):
    X = np.hstack([values] * 6) + np.random.default_rng(0).standard_normal((40, 360))  # wider than the report's map
    table = tmp_path / "wide.csv"
    write_csv(table, X, [f"g{i}" for i in range(360)])
    shapes = []
    compute = DataMatrix.moments

    def counted(self):
        shapes.append(self.shape)
        return compute(self)

    monkeypatch.setattr(DataMatrix, "moments", counted)
    options = ("-n", 6, "--report", tmp_path / "r.html", "-o", tmp_path / "o.csv")
    code, _, err = cli("select", table, "--label", "tissue", "--method", method, *options)
    assert code == 0, err
    assert shapes.count(X.shape) == 1


def test_a_table_is_staged_once(cli, table, tmp_path, monkeypatch):
    import tempfile

    folders = []
    make = tempfile.mkdtemp

    def counted(*args, **kwargs):
        folders.append(make(*args, **kwargs))
        return folders[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", counted)
    assert cli("select", table, "--label", "tissue", "-n", 6, "-o", tmp_path / "o.csv")[0] == 0
    assert len(folders) == 1
