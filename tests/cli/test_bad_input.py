"""Wrong command lines and files: one line that names the fix, the right exit code, nothing half-written."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import N_FEATURES, program, write_csv
from eigensieve.cli import ExitCode

SELECT = ("select", "--method", "qalpha")


def edit(change):
    """Return a maker of a damaged copy of the table."""

    def make(table, folder):
        path = folder / "bad.csv"
        path.write_text(change(table.read_text()), encoding="utf-8")
        return path

    return make


def swap_cell(text):
    head, first, rest = text.split("\n", 2)
    return f"{head}\n{first.rsplit(',', 1)[0]},high\n{rest}"


def blank_column(text):
    lines = text.splitlines()
    return "\n".join([lines[0], *(line.rsplit(",", 1)[0] + "," for line in lines[1:])]) + "\n"


FILES = {
    "missing file": (lambda table, folder: folder / "none.csv", (), 3, "does not exist. Check"),
    "empty file": (edit(lambda text: ""), (), 3, "is empty. Check"),
    "header only": (edit(lambda text: text.split("\n")[0] + "\n"), (), 3, "no samples. Check"),
    "ragged rows": (edit(lambda text: text + "s99,a,1,2\n"), (), 3, "is ragged: data row 41.*Check that row"),
    "duplicate column names": (
        edit(lambda text: text.replace("g1,", "g0,", 1)),
        (),
        3,
        "duplicate column names: 'g0'. Give",
    ),
    "text in a numeric column": (
        edit(swap_cell),
        ("--categories", "error"),
        3,
        "has text in 1 numeric column: 'g59'.*remove or encode",
    ),
    "unknown label column": (None, ("--label", "tisue"), 3, "no label column 'tisue'. Did you mean 'tissue'"),
    "a text column nobody named": (None, ("--label", ""), 3, "label"),
    "missing values": (
        edit(blank_column),
        ("--missing", "error"),
        3,
        "missing or infinite values in 1 of 60.*--missing mean",
    ),
    "all samples filtered": (
        edit(blank_column),
        ("--missing", "drop-samples"),
        3,
        "leaves nothing. Use --missing mean",
    ),
    "nothing to fill in": (edit(blank_column), ("--missing", "mean"), 3, "without a single value.*drop-features"),
    "one sample": (
        edit(lambda text: "\n".join(text.split("\n")[:2]) + "\n"),
        (),
        3,
        "use --samples columns",
    ),
    "not a table": (lambda table, folder: make_binary(folder), (), 3, "not a text table. Give"),
    "unknown ending": (lambda table, folder: rename(table, folder, "bad.xyz"), (), 3, "unsupported file ending. Use"),
    "damaged gzip": (lambda table, folder: rename(table, folder, "bad.csv.gz"), (), 3, "damaged.*Get the file again"),
}


def make_binary(folder):
    path = folder / "bad.csv"
    path.write_bytes(b"PK\x00\x01\x02" * 50)
    return path


def rename(table, folder, name):
    path = folder / name
    path.write_bytes(table.read_bytes())
    return path


def one_line(err):
    """The notes aside, standard error is one line that starts with 'error:'."""
    lines = [line for line in err.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1 and lines[0].startswith("error: "), err
    return lines[0]


@pytest.mark.parametrize("case", FILES)
def test_bad_files(cli, table, tmp_path, case):
    make, options, expected, message = FILES[case]
    source = table if make is None else make(table, tmp_path)
    before = sorted(tmp_path.iterdir())
    label = () if "--label" in options else ("--label", "tissue")
    outputs = ("-o", tmp_path / "out.csv", "-r", tmp_path / "r.html", "-m", tmp_path / "m.skops")
    code, out, err = cli(*SELECT, source, *label, *options, *outputs)
    assert code == expected, err
    assert re.search(message, one_line(err)), err
    assert out == "" and sorted(tmp_path.iterdir()) == before


LINES = {
    "unknown command": (("selct", "x.csv"), 2, "No such command 'selct'"),
    "no input": (("select",), 2, "Missing argument 'INPUT'"),
    "unknown option": (("select", "x.csv", "--lable", "a"), 2, "No such option:? .?--lable"),
    "unknown method": (("select", "x.csv", "--method", "magic"), 2, "Choose one of: sieve, qalpha, trace-ratio"),
    "number of features": (("select", "x.csv", "-n", "many"), 2, "must be 'auto', 'fewest', a whole number"),
    "negative features": (("select", "x.csv", "-n", "-3"), 2, "must be 'auto', 'fewest', a whole number"),
    "option of another method": ((*SELECT, "x.csv", "--score", "fisher"), 2, "use --method trace-ratio"),
    "labels needed": (("select", "x.csv", "--method", "trace-ratio"), 2, "needs labels.*--label"),
    "side data without use": (
        ("select", "x.csv", "--method", "trace-ratio", "--label", "y", "--side", "s.csv"),
        2,
        "--side does nothing.*use --method sieve",
    ),
    "orientation": (("inspect", "x.csv", "--samples", "diagonal"), 2, "--samples must be one of auto, rows, columns"),
    "json and data on stdout": (("select", "x.csv", "--json", "-o", "-"), 2, "Name a file"),
    "format": (("inspect", "x.csv", "--format", "xls"), 2, "--format must be one of"),
}


@pytest.mark.parametrize("case", LINES)
def test_bad_command_lines(cli, case):
    arguments, expected, message = LINES[case]
    code, out, err = cli(*arguments)
    assert code == expected and out == ""
    assert re.search(message, one_line(err)), err


def test_a_bad_value_of_a_method_option_is_a_usage_problem(cli, table):
    code, _, err = cli(*SELECT, table, "--label", "tissue", "--criterion", "beauty")
    assert code == 2 and "--criterion must be" in one_line(err)


def test_an_existing_output_needs_force(cli, table, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("precious")
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-o", out)
    assert code == 4 and "--force" in one_line(err) and out.read_text() == "precious"
    assert cli(*SELECT, table, "--label", "tissue", "-o", out, "--force")[0] == 0
    assert out.read_text().startswith("sample,")


def test_two_outputs_in_one_place_are_refused(cli, table, tmp_path):
    place = tmp_path / "x.csv"
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-o", place, "-w", place)
    assert code == 4 and "Give each its own file" in one_line(err)


def test_an_unwritable_folder(cli, table, tmp_path):
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-o", tmp_path / "none" / "o.csv")
    assert code == 4 and "Create it first" in one_line(err)
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-r", "/proc/report.html")
    assert code == 4 and one_line(err)


def test_an_output_that_cannot_be_made_leaves_the_others_unwritten(cli, table, tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eigensieve.cli.selection.report_page", broken)
    before = sorted(tmp_path.iterdir())
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-o", tmp_path / "o.csv", "-r", tmp_path / "r.html")
    assert code == 4 and "No space left" in one_line(err) and sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("role", ["-w", "-r"])
def test_a_full_disk_leaves_nothing(table, tmp_path, role):
    """The system refuses files above 2 kB, as a full disk would: nothing is left, not even a hidden folder."""
    resource = pytest.importorskip("resource", reason="limits of processes are those of POSIX")
    target = tmp_path / ("out" + {"-w": ".csv", "-r": ".html"}[role])
    before = sorted(tmp_path.iterdir())
    process = program(
        *SELECT,
        table,
        "--label",
        "tissue",
        role,
        target,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)),
    )
    _, err = process.communicate(timeout=300)
    assert process.returncode == 4, err
    assert "No space left" in one_line(err.decode())
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(tmp_path, number, code):
    """A pipe that never ends keeps the program busy until the signal arrives."""
    read, write = os.pipe()
    process = program(
        *SELECT,
        "-",
        "-o",
        tmp_path / "out.csv",
        stdin=read,
        # a test run in the background has Ctrl-C switched off, and its children would inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(read)
    os.write(write, b"a,b,c\n1,2,3\n")
    deadline = time.monotonic() + 240
    while not any("readers" in line for line in open_maps(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    os.close(write)
    assert process.returncode == code, err
    assert b"Traceback" not in err and b"Nothing was written" in err
    assert list(tmp_path.iterdir()) == []


def open_maps(pid):
    """What the process waits in: it has reached the read of its standard input when it sleeps on the pipe."""
    try:
        with open(f"/proc/{pid}/wchan") as file:
            return ["readers"] if "pipe" in file.read() else []
    except OSError:
        return []


def test_interrupted_while_outputs_are_staged(cli, table, tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigensieve.cli.selection.report_page", interrupt)
    before = sorted(tmp_path.iterdir())
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-o", tmp_path / "o.csv", "-r", tmp_path / "r.html")
    assert code == 130 and "Interrupted" in one_line(err) and sorted(tmp_path.iterdir()) == before


def test_bad_models(cli, table, tmp_path):
    model = tmp_path / "m.skops"
    code, _, err = cli("apply", model, table)
    assert code == 5 and "does not exist" in one_line(err)
    model.write_bytes(b"not a model")
    code, _, err = cli("apply", model, table)
    assert code == 5 and "Fit and save the model again" in one_line(err)
    model.unlink()
    assert cli(*SELECT, table, "--label", "tissue", "-n", 6, "-m", model)[0] == 0
    rng = np.random.default_rng(0)
    write_csv(tmp_path / "other.csv", rng.standard_normal((10, N_FEATURES)), [f"h{i}" for i in range(N_FEATURES)])
    code, _, err = cli("apply", model, tmp_path / "other.csv", "--label", "tissue")
    assert code == 5 and "lacks 6 of the 6 features" in one_line(err)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s0,s1,s2,s3\n", "Line 1.*4 columns"),
        ("s0,s1\ns0,nobody\n", "Line 2.*'nobody', which is no sample"),
        ("s0,nobody\ns0,s1\n", "Line 1.*'nobody', which is no sample"),
        ("no,body,must\ns0,s1,must\n", "Line 1.*'no', which is no sample"),
        ("s0,s1,link\ns0,s1,must\n", "Line 1.*'link'.*'cannot' or 'must'"),
        ("s0,s1\ns0,s2,maybe\n", "Line 2.*'maybe'.*'cannot' or 'must'"),
        ("first,second\n", "holds no pair"),
    ],
)
def test_bad_pairs(cli, table, tmp_path, text, message):
    (tmp_path / "pairs.csv").write_text(text)
    code, _, err = cli(*SELECT, table, "--label", "tissue", "--pairs", tmp_path / "pairs.csv")
    assert code == 3 and re.search(message, one_line(err)), err


def test_pairs_of_a_repeated_name(cli, table, tmp_path):
    table.write_text(table.read_text().replace("s39,", "s0,"))
    (tmp_path / "pairs.csv").write_text("s1,s2\ns1,s0\n")
    named = (*SELECT, table, "--id", "sample", "--label", "tissue", "--pairs", tmp_path / "pairs.csv")
    code, _, err = cli(*named)
    assert code == 3 and re.search("Line 2.*'s0', a name that several samples", one_line(err)), err
    (tmp_path / "pairs.csv").write_text("s1,s2,must\n")
    assert cli(*named)[0] == 0


def test_side_data_with_other_columns(cli, table, values, tmp_path):
    write_csv(tmp_path / "side.csv", values[:, :10], [f"g{i}" for i in range(10)])
    text = (tmp_path / "side.csv").read_text().replace(",a,", ",1,").replace(",b,", ",2,")
    (tmp_path / "side.csv").write_text(text)
    code, _, err = cli(*SELECT, table, "--label", "tissue", "--side", tmp_path / "side.csv")
    assert code == 3 and "lacks 50 of the 60 features ('g10'" in one_line(err)


def test_a_closed_pipe_is_no_error(table):
    process = program(*SELECT, table, "--label", "tissue", "-o", "-", "--quiet")
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(300) == 0 and err == b""


def test_an_unexpected_failure_says_how_to_report_it(cli, table, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("a\nbug")

    monkeypatch.setattr("eigensieve.cli.selection.Fitting.fit", broken)
    code, _, err = cli(*SELECT, table, "--label", "tissue")
    assert code == 1 and "RuntimeError: a bug" in one_line(err) and "EIGENSIEVE_DEBUG" in err


def test_a_missing_package_is_named_with_the_command_that_adds_it(cli, table, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.delitem(sys.modules, "skops.io", raising=False)
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-n", 6, "-m", tmp_path / "m.skops")
    assert code == 6 and 'pip install "eigensieve[models]"' in one_line(err)
    assert not (tmp_path / "m.skops").exists()


def test_without_typer_the_script_says_what_to_install(monkeypatch, capsys):
    import eigensieve.cli

    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "eigensieve.cli.app")
    with pytest.raises(SystemExit) as stopped:
        eigensieve.cli.main()
    assert stopped.value.code == 6
    assert 'pip install "eigensieve[cli]"' in capsys.readouterr().err


def test_without_openpyxl_a_workbook_names_the_command(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    code, _, err = cli("inspect", tmp_path / "t.xlsx")
    assert code == 6 and 'pip install "eigensieve[excel]"' in one_line(err)


def test_the_module_runs_as_a_script():
    done = subprocess.run([sys.executable, "-m", "eigensieve", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("eigensieve ")


def test_exit_codes_are_documented():
    """The table in the docs is the one in the code."""
    docs = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
    if not docs.exists():
        pytest.skip("the documentation is not part of this installation")
    text = docs.read_text(encoding="utf-8").replace("`", "")
    for code in ExitCode:
        assert f"| {int(code)} | {code.meaning} |" in text
