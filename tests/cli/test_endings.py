"""How commands end: the exit code fits, the message is true, nothing that must not be replaced is replaced."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import eigensieve.cli
from cli.conftest import program
from eigensieve import save_model
from eigensieve.cli import outputs
from eigensieve.cli.app import run
from eigensieve.cli.outputs import Outputs, signals_held, without_formulas
from eigensieve.tables import Table, write_table

SELECT = ("select", "--method", "trace-ratio", "--score", "laplacian", "--n-features", "5")
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (getattr(signal, "SIGHUP", None), 129)]
unix = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
ENDINGS = [".csv", ".csv.gz", ".parquet", ".feather", ".npy", ".npz", ".mat", ".svm", ".mtx", ".h5ad"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_damaged_input_is_an_input_problem(cli, tmp_path, ending, damage):
    table = Table(X=np.eye(6), feature_names=list("abcdef"), sample_names=None, format="csv")
    path = tmp_path / f"x{ending}"
    write_table(path, table)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "cut" else content[:40] + b"\x00\xff" * 400)
    code, _, err = cli("inspect", path)
    if ending in (".csv", ".svm") and damage == "cut":
        return  # half of a text may be one
    assert code == 3 and str(path) in err and err.count("\n") == 1, err


def test_ctrl_c_while_libraries_are_imported_ends_in_a_line(monkeypatch, capsys):
    @contextlib.contextmanager
    def interrupted():
        yield
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("eigensieve.cli.signals_held", interrupted)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as stopped:
            eigensieve.cli.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "error: Interrupted. Nothing was written; run the command again to start over.\n"


@pytest.mark.parametrize("error", [EOFError("end"), MemoryError("8 TiB"), OSError("no"), ValueError("bad")])
def test_whatever_a_reader_raises_is_an_input_problem(cli, table, monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("eigensieve.cli.reading.read_any", fail)
    code, _, err = cli("inspect", table)
    assert code == 3
    assert ("Not enough memory" in err) == isinstance(error, MemoryError)


@pytest.mark.parametrize(("error", "code", "words"), [(EOFError, 1, "EOFError"), (MemoryError, 3, "Not enough memory")])
def test_failures_elsewhere(cli, table, monkeypatch, error, code, words):
    """typer takes EOFError for Ctrl-C."""

    def fail(*args, **kwargs):
        raise error("here")

    monkeypatch.setattr("eigensieve.cli.commands.select._show", fail)
    found, _, err = cli(*SELECT, table, "--label", "tissue")
    assert found == code and words in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", [("select", "-n", "3", "--json"), ("select", "-n", "3"), ("inspect",)])
def test_no_space_for_what_is_printed_is_an_output_problem(table, tmp_path, command):
    places = ("-w", tmp_path / "w.csv") if "--json" in command else ()
    with open("/dev/full", "w") as full:
        process = program(command[0], table, *command[1:], *places, stdout=full)
        _, err = process.communicate(timeout=300)
    last = err.decode().splitlines()[-1]
    assert process.returncode == 4 and last.startswith("error: No space left while writing 'standard output'")
    assert ("w.csv" in last) == bool(places) == (tmp_path / "w.csv").exists()


def test_without_a_command_there_is_the_help_and_no_error(cli):
    code, out, err = cli()
    assert code in (0, 2) and "Exit codes" in out + err and "error:" not in err


def test_a_damaged_model_is_a_model_problem(cli, table, tmp_path):
    from eigensieve import TraceRatioSelector

    path = tmp_path / "m.skops"
    save_model(TraceRatioSelector(2, score="laplacian").fit(np.random.default_rng(0).normal(size=(20, 5))), path)
    content = path.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 15)):
        path.write_bytes(content[:place] + b"\xff\x00\xff" + content[place + 3 :])
        code, _, err = cli("apply", path, table, "--label", "tissue", "-o", tmp_path / "o.csv", "--force")
        assert code in (0, 5), err


def test_interrupted_after_the_outputs_are_there(cli, table, tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigensieve.cli.commands.select._show", interrupt)
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-o", tmp_path / "o.csv")
    assert code == 130 and (tmp_path / "o.csv").exists()
    assert "Nothing was written" not in err and "o.csv" in err


@pytest.fixture(autouse=True)
def heard():
    """Let signals be heard: a process in the background may ignore some."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@unix
def test_signals_wait_until_all_outputs_are_there(tmp_path, monkeypatch):
    publish = outputs.StagedFile.publish

    def publish_and_interrupt(self, **options):
        os.kill(os.getpid(), signal.SIGINT)
        publish(self, **options)

    monkeypatch.setattr(outputs.StagedFile, "publish", publish_and_interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    outputs.PUBLISHED.clear()
    try:
        with pytest.raises(KeyboardInterrupt), Outputs(force=False) as files:  # noqa: PT012
            for name in "ab":
                files.write(name, str(tmp_path / name), lambda path: path.write_text("x"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"] and len(outputs.PUBLISHED) == 2


def test_a_signal_just_after_a_hidden_folder_was_made(tmp_path, monkeypatch):
    class Interrupted(outputs.StagedFile):
        def __init__(self, destination):
            super().__init__(destination)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(outputs, "StagedFile", Interrupted)
    with pytest.raises(KeyboardInterrupt), Outputs(force=False) as staged:
        staged.write("table", str(tmp_path / "o.csv"), lambda path: path.write_text("a"))
    assert list(tmp_path.iterdir()) == []


@unix
@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("written", [False, True])
def test_a_signal_before_hidden_files_are_removed(cli, table, tmp_path, monkeypatch, number, code, written):
    """It may come just before the context begins to end, or before signals wait."""
    owner, name = (outputs, "discard_staged") if written else (Outputs, "__exit__")
    step = getattr(owner, name)

    def interrupted(*args):
        os.kill(os.getpid(), number)
        step(*args)

    monkeypatch.setattr(owner, name, interrupted)
    (tmp_path / "out").mkdir()
    found, _, err = cli(*SELECT, table, "--label", "tissue", "-o", tmp_path / "out" / "o.csv")
    assert found == code and ("Nothing was written" in err) == (not written), err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["o.csv"] * written


@unix
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_within_a_destructor_is_not_lost(cli, table, monkeypatch, number, code):
    """Python drops exceptions of destructors; the command would go on and end with 0."""

    class Dying:
        def __del__(self):
            signal.raise_signal(number)

    def wait(*args, **kwargs):
        here = Dying()
        del here
        time.sleep(30)

    monkeypatch.setattr("eigensieve.cli.commands.select._show", wait)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found, _, err = cli(*SELECT, table, "--label", "tissue")
    finally:
        signal.signal(signal.SIGINT, before)
    assert found == code and "Nothing was written" in err and "Traceback" not in err, err


@unix
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_second_signal_does_not_disturb_the_ending(cli, table, monkeypatch, number, code):
    def again(how):
        os.kill(os.getpid(), number)
        return f"{how} once."

    monkeypatch.setattr("eigensieve.cli.commands.select._show", lambda *_, **__: os.kill(os.getpid(), number))
    monkeypatch.setattr("eigensieve.cli.app._ended", again)
    before = signal.getsignal(number)
    found, _, err = cli(*SELECT, table, "--label", "tissue")
    assert found == code and err.strip().endswith("once.") and "Traceback" not in err, err
    assert signal.getsignal(number) is before


@unix
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_that_a_library_turns_into_its_own_error_is_told(cli, table, monkeypatch, number, code):
    """As numpy does where its compiled code calls Python, for example to read the fields of a buffer."""

    def read(*args, **kwargs):
        try:
            os.kill(os.getpid(), number)
            time.sleep(30)
        except BaseException as error:
            raise ValueError("'T{d:val:q:i1:}' is not a valid PEP 3118 buffer format string") from error

    monkeypatch.setattr("eigensieve.TraceRatioSelector.fit", read)
    found, _, err = cli(*SELECT, table, "--label", "tissue")
    assert found == code and "Nothing was written" in err and "PEP 3118" not in err, err


@unix
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_that_a_library_drops_while_it_is_imported_ends_the_page(cli, monkeypatch, number, code):
    server = pytest.importorskip("eigensieve.app.server")
    require, waiting = server.require, []

    def dropped(name, extra):
        with contextlib.suppress(BaseException):
            os.kill(os.getpid(), number)
            time.sleep(0.05)
        return require(name, extra=extra)

    monkeypatch.setattr(server, "require", dropped)
    monkeypatch.setattr(server.asyncio, "run", waiting.append)
    found, _, err = cli("app", "--no-browser")
    assert found == code and not waiting and "Nothing was written" in err, err


@unix
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_waits_for_the_table_of_weights(cli, table, tmp_path, monkeypatch, number, code):
    """An exception within polars is a panic: pages on standard error, and exit code 1."""
    ended = []

    def write(frame, file, **options):
        os.kill(os.getpid(), number)
        ended.append(time.sleep(0.05))

    monkeypatch.setattr("polars.DataFrame.write_csv", write)
    found, _, err = cli(*SELECT, table, "--label", "tissue", "--weights", tmp_path / "w.csv")
    assert ended and found == code and "Nothing was written" in err, err
    assert not list(tmp_path.glob("w.csv"))


@unix
@pytest.mark.parametrize("number", [number for number, _ in SIGNALS])
def test_a_signal_after_the_command_is_told(monkeypatch, capsys, number):
    def over(arguments):
        os.kill(os.getpid(), number)
        return 0

    monkeypatch.setattr("eigensieve.cli.app._run", over)
    before = signal.getsignal(number)
    assert run(["inspect"]) == 128 + number
    assert "Nothing was written" in capsys.readouterr().err
    assert signal.getsignal(number) is before


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with signals_held():
        assert callable(signal.getsignal(signal.SIGTERM)) or before is signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("ignored", "code"), [(False, 129), (True, 0)])
def test_a_hangup_cleans_up_unless_it_is_ignored(table, tmp_path, ignored, code):
    """``nohup`` ignores the signal: then the command goes on."""
    read, write = os.pipe()
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    out = tmp_path / "out"
    out.mkdir()
    process = program(
        *SELECT, "-", "--label", "tissue", "-o", out / "o.csv", stdin=read,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, handler),
    )  # fmt: skip
    os.close(read)
    deadline = time.monotonic() + 240
    while "pipe" not in Path(f"/proc/{process.pid}/wchan").read_text() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGHUP)
    with os.fdopen(write, "wb") as pipe:
        if ignored:
            pipe.write(table.read_bytes())
    _, err = process.communicate(timeout=300)
    assert process.returncode == code, err
    assert (b"Hung up. Nothing was written" in err) != ignored
    assert [path.name for path in out.iterdir()] == (["o.csv"] if ignored else [])


def _null_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root may make a device node")


def _device_link(path):
    path.symlink_to(os.devnull)


@pytest.mark.skipif(sys.platform != "linux", reason="the number of the device is Linux's")
@pytest.mark.parametrize(
    ("make", "kind"),
    [(getattr(os, "mkfifo", None), stat.S_ISFIFO), (_null_device, stat.S_ISCHR), (_device_link, stat.S_ISCHR)],
)
def test_force_never_replaces_a_device_or_pipe(cli, table, tmp_path, make, kind):
    make(tmp_path / "there.csv")
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-o", tmp_path / "there.csv", "--force")
    assert code == 4 and "device, pipe or socket" in err
    assert kind((tmp_path / "there.csv").stat().st_mode)


_SHORT_OF_MEMORY = """
import contextlib, io, json, resource, sys
from pathlib import Path
import numpy as np
from eigensieve.cli.app import run

folder = Path(sys.argv[1])
for name, size in (("small", 300), ("large", 1200)):
    np.save(folder / f"{name}.npy", np.random.default_rng(0).standard_normal((size, size)))

def select(name):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        how = ["--method", "qalpha", "--n-features", "5", "-o", str(folder / "o.npy")]
        code = run(["select", str(folder / name), *how])
    made = (folder / "o.npy").exists()
    (folder / "o.npy").unlink(missing_ok=True)
    return int(code), said.getvalue(), made

found = [select("small.npy")]
for megabytes in (2, 6, 16):
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + megabytes * 10**6, resource.RLIM_INFINITY))
    found.append(select("large.npy"))
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_out_of_memory_says_so(tmp_path):
    """A table of 11.5 MB where the process may grow by less, so that reading fails, or by little more: the fit fails.

    The small table comes first. It loads the libraries, and OpenBLAS takes its memory: without any, it waits for ever.
    """
    command = [sys.executable, "-c", _SHORT_OF_MEMORY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    enough, *short = json.loads(done.stdout)
    assert enough[0] == 0 and enough[2]
    assert [code for code, _, _ in short[:2]] == [3, 3]
    for code, said, made in short:
        assert made == (code == 0)
        assert code == 0 or (code == 3 and "memory" in said and said.count("\n") == 1), said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.npy", "small.npy"]


def test_a_link_is_followed_with_force_only(cli, table, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    command = (*SELECT, table, "--label", "tissue", "-o", tmp_path / "link.csv")
    assert cli(*command)[0] == 4
    assert cli(*command, "--force")[0] == 0
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "target.csv").is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_not_utf8(cli, table, tmp_path):
    odd = {
        ending: tmp_path / os.fsdecode(b"caf\xe9" + ending.encode())
        for ending in (".csv", ".w.csv", ".m.skops", ".html")
    }
    table.rename(odd[".csv"])
    out = tmp_path / os.fsdecode(b"\xff.csv")
    written = ("-o", out, "--weights", odd[".w.csv"], "--model", odd[".m.skops"], "--report", odd[".html"])
    code, text, err = cli(*SELECT, odd[".csv"], "--label", "tissue", *written, "--json")
    assert code == 0, err
    assert os.fsencode(json.loads(text)["outputs"]["table"]) == os.fsencode(out)
    assert all(path.stat().st_size for path in (*odd.values(), out))
    code, _, err = cli("apply", odd[".m.skops"], odd[".csv"], "--label", "tissue", "-o", tmp_path / "o.csv")
    assert code == 0, err


def test_names_that_a_spreadsheet_would_compute(cli, tmp_path):
    rng = np.random.default_rng(0)
    names = ["=cmd|' /C calc'!A0", "+x", "-y", "@z", "plain"]
    lines = [
        ",".join(["who", *names]),
        *(f"-s{i}," + ",".join(map(repr, row)) for i, row in enumerate(rng.normal(size=(9, 5)).tolist())),
    ]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    for safe in (False, True):
        written = ("-o", tmp_path / "o.csv", "-w", tmp_path / "w.csv", "--force", *(["--safe-names"] if safe else []))
        code, _, err = cli(*SELECT, tmp_path / "x.csv", *written)
        assert code == 0, err
        cells = (tmp_path / "o.csv").read_text().replace("\n", ",").split(",")
        first = [line.split(",")[0] for line in (tmp_path / "w.csv").read_text().splitlines()]
        assert ("'=cmd|' /C calc'!A0" in cells and "'-s3" in cells and "'@z" in first and "plain" in first) == safe
        assert ("=cmd|' /C calc'!A0" in cells and "-s3" in cells and "@z" in first) != safe
    assert without_formulas(["-1", "-1e5", "a"]) == ["-1", "-1e5", "a"]


@pytest.mark.parametrize("content", [b"s0,s1\xff\n", b"a" * 200_000 + b",s1\n", b"\x00\n", b"s0,s1\ra,b"])
def test_damaged_pairs_are_an_input_problem(cli, table, tmp_path, content):
    (tmp_path / "pairs.csv").write_bytes(content)
    code, _, err = cli("select", "--method", "qalpha", table, "--label", "tissue", "--pairs", tmp_path / "pairs.csv")
    assert code == 3 and "pairs.csv" in err and "Traceback" not in err, err


@pytest.mark.parametrize("row", ["\u0661", "1_0", "+1"])
def test_rows_of_pairs_are_plain_numbers(cli, tmp_path, row):
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(12)))
    (tmp_path / "pairs.csv").write_text(f"0,1\n{row},2\n", encoding="utf-8")
    code, _, err = cli("select", "--method", "qalpha", tmp_path / "x.csv", "--pairs", tmp_path / "pairs.csv")
    assert code == 3 and "which is no sample of the input" in err, err
