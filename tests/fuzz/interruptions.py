"""Commands that are ended by a signal at a random moment.

Afterwards all outputs are there, whole, or none is; older files are there unless they were replaced; no hidden
folder is left; the exit code is the documented one of the signal, or 0; and what the last line says is true. The same
command then succeeds in the same place.
"""

import io
import os
import signal
import sys
import tempfile
import time
import zipfile
from contextlib import redirect_stderr
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve._files import PREFIX

Spec = dict[str, Any]

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")
_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SELECT = ("select", "{table}", "--label", "y")
_COMPARE = ("compare", "{table}", "--label", "y", "--methods", "qalpha,variance")
COMMANDS: dict[str, tuple[str, ...]] = {
    "select": (*_SELECT, "-o", "{out}/x.csv", "-w", "{out}/w.csv", "-r", "{out}/r.html", "-m", "{out}/m.skops"),
    "qalpha": (*_SELECT, "--method", "qalpha", "-n", "5", "-o", "{out}/x.parquet", "-w", "{out}/w.json"),
    "ratio": (*_SELECT, "--method", "trace-ratio", "-n", "5", "-o", "{out}/x.h5ad", "-m", "{out}/m.skops"),
    "compress": ("compress", "{table}", "--label", "y", "-e", "20", "--c", "{out}/x.c", "-m", "{out}/m.skops"),
    "map": ("map", "{table}", "--label", "y", "-o", "{out}/x.csv", "-m", "{out}/m.skops"),
    "apply": ("apply", "{model}", "{table}", "--label", "y", "-o", "{out}/x.csv"),
    "compare": (*_COMPARE, "-n", "3", "--folds", "2", "-o", "{out}/x.csv", "-r", "{out}/r.html"),
    "score": ("score", "{table}", "--label", "y", "-p", "g0,g1", "-o", "{out}/x.csv", "-r", "{out}/r.html"),
    "demo": ("demo", "--features", "31", "-o", "{out}/r.html"),
    "inspect": ("inspect", "{table}", "--label", "y"),
    "app": ("app", "--no-browser"),
}
PREFIX_OF_TARGETS = "interrupted "
_WITHOUT_OUTPUT = ("inspect", "app")
_AFTER = ("start", "writing", "written")
_WITHOUT_SEED = ("ratio", "map", "apply", "demo", "inspect", "app")
_OLD = b"what was there before\n"
_PATIENCE = 300.0
_START = 2.0  # seconds of processor time until a program has imported what it needs
_APP = 0.3  # seconds within which the page is there, and a little more
_MORE = {"start": 0.01, "writing": 0.3, "written": 0.05}
"""Seconds of the clock, at most, from a share of the whole run, the first output begun, or the first one in place."""


def draw(rng: np.random.Generator, target: str) -> Spec:
    command = target.removeprefix(PREFIX_OF_TARGETS)
    return {
        "command": command,
        "signal": SIGNALS[int(rng.choice(4, p=[0.35, 0.3, 0.25, 0.1]))],
        "after": "start" if command in _WITHOUT_OUTPUT else _AFTER[int(rng.choice(3, p=[0.4, 0.35, 0.25]))],
        "moment": float(rng.random()),
        "twice": bool(rng.random() < 0.2),
        "existing": bool(rng.random() < 0.5),
        # a new process, which takes seconds to start, or a fork of this one, which has everything imported
        "program": bool(rng.random() < 0.01),
        "again": bool(rng.random() < 0.25) and command != "app",  # which ends with a signal only
    }


@cache
def _table() -> Path:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    X[:20, :5] += 3
    path = Path(tempfile.mkdtemp()) / "table.csv"
    names = ",".join(f"g{i}" for i in range(30))
    rows = [f"{'ab'[i >= 20]},{','.join(f'{value:.6g}' for value in row)}" for i, row in enumerate(X)]
    path.write_text("\n".join([f"y,{names}", *rows]) + "\n")
    return path


def _arguments(command: str, out: Path) -> list[str]:
    model = _model() if command == "apply" else None
    parts = [part.format(table=_table(), out=out, model=model) for part in COMMANDS[command]]
    return parts if command in _WITHOUT_SEED else [*parts, "--seed", "0"]


@cache
def _model() -> Path:
    """A model file for `apply`."""
    from eigensieve.cli.app import run

    path = Path(tempfile.mkdtemp()) / "model.skops"
    with redirect_stderr(io.StringIO()):
        run(["select", str(_table()), "--label", "y", "--method", "qalpha", "-n", "5", "-m", str(path), "--quiet"])
    return path


class _Child:
    """The command line in a process of its own."""

    def __init__(self, spec: Spec, out: Path, said: Path) -> None:
        forced = spec["existing"] and spec["command"] not in ("demo", *_WITHOUT_OUTPUT)
        parts = [*_arguments(spec["command"], out), *(["--force"] if forced else [])]
        said.touch()
        self.begun, self.for_ever = time.monotonic(), spec["command"] == "app"
        self._code: int | None = None
        if spec["program"]:
            command = [sys.executable, "-m", "eigensieve", *parts]
            files = [
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, str(said), os.O_WRONLY, 0),
            ]
            own = {**os.environ, "TMPDIR": str(out)}
            # a shell lets what it starts in the background ignore SIGINT, and that would be inherited
            self.pid = os.posix_spawn(sys.executable, command, own, file_actions=files, setsigdef=_HEARD)
        else:
            # Python drops what a signal raises within a fork, so signals wait for the command.
            signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
            self.pid = os.fork()
            if self.pid == 0:
                tempfile.tempdir = str(out)
                be_the_command_line(parts, said)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)

    @property
    def code(self) -> int | None:
        """The exit code as a shell has it, once there is one."""
        if self._code is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                code = os.waitstatus_to_exitcode(status)
                self._code = 128 - code if code < 0 else code
        return self._code

    def seconds(self) -> float:
        """Processor time so far, or that of the clock for a command that waits."""
        if self.for_ever:
            return time.monotonic() - self.begun
        try:
            return time.clock_gettime(~self.pid << 3 | 2)  # the clock of another process, as Linux numbers it
        except OSError:  # it has just ended
            return inf


def be_the_command_line(arguments: list[str], said: Path | None = None) -> None:
    """Run a command in this process, a fork, and end it; `said` gets what the command says on standard error."""
    from eigensieve.cli import main

    code: Any = 1
    try:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number in _HEARD:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
        if said is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.argv = ["eigensieve", *arguments]
        main()
    except SystemExit as stop:
        code = stop.code
    except KeyboardInterrupt:
        code = 130
    finally:
        sys.stderr.flush()
        os._exit(int(code))


@cache
def _whole(command: str) -> tuple[dict[str, bytes], float]:
    """The outputs of a run that nothing disturbs, and the seconds of processor time it takes."""
    from eigensieve.cli.app import run

    if command == "app":
        import uvicorn  # noqa: F401

        import eigensieve.app.server  # noqa: F401

        return {}, _APP
    # Forks find the modules imported and the functions compiled. Polars is imported and not used: its threads do not
    # survive a fork.
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(io.StringIO()):
        parts = _arguments(command, Path(folder))
        for output in ("-w", "-o") if command in ("map", "apply", "compare", "score") else ("-w",):
            if output in parts and command != "apply":
                del parts[parts.index(output) : parts.index(output) + 2]
        run([*parts, "--quiet"])
    with tempfile.TemporaryDirectory() as folder:
        out, said = Path(folder) / "out", Path(folder) / "said"
        out.mkdir()
        child, seconds = _Child({"command": command, "existing": False, "program": False}, out, said), 0.0
        while child.code is None:
            now = child.seconds()
            seconds = now if now < inf else seconds
            time.sleep(0.002)
        assert child.code == 0, f"exit code {child.code}, {said.read_text()}"
        return {path.name: path.read_bytes() for path in out.iterdir()}, seconds


def check(spec: Spec) -> str:
    expected, seconds = _whole(spec["command"])
    with tempfile.TemporaryDirectory() as folder:
        out, said = Path(folder) / "out", Path(folder) / "said"
        out.mkdir()
        for name in expected if spec["existing"] else ():
            (out / name).write_bytes(_OLD)
        code = _interrupted(_Child(spec, out, said), spec, out, seconds)
        outcome = _judged(spec, code, said.read_text(errors="replace"), out, expected)
        if spec.get("again"):
            _run_again(spec, out, Path(folder) / "said again", expected)
        return outcome


def _run_again(spec: Spec, out: Path, said: Path, expected: dict[str, bytes]) -> None:
    child, end = _Child({**spec, "existing": True, "program": False}, out, said), time.monotonic() + _PATIENCE
    while child.code is None and time.monotonic() < end:
        time.sleep(0.005)
    assert child.code == 0, f"again: exit code {child.code}, {said.read_text()[-300:]}"
    for name, content in expected.items():
        _check_whole(name, (out / name).read_bytes(), content)


def _interrupted(child: _Child, spec: Spec, out: Path, seconds: float) -> int:
    """Send the signal at its moment and return the exit code."""
    end = time.monotonic() + _PATIENCE
    moment = spec["moment"] * (seconds + (_START if spec["program"] else 0.0))
    while child.code is None and not _begun(child, spec, out, moment):
        time.sleep(0.001)
    time.sleep(_MORE[spec["after"]] * spec["moment"] ** 2)
    for _ in range(1 + spec["twice"]):
        if child.code is None:
            os.kill(child.pid, getattr(signal, spec["signal"]))
            time.sleep(0.02 * spec["moment"])
    while child.code is None:
        if time.monotonic() > end:
            os.kill(child.pid, signal.SIGKILL)
            raise AssertionError(f"did not end in {_PATIENCE:g} seconds")
        time.sleep(0.002)
    return int(child.code)


def _begun(child: _Child, spec: Spec, out: Path, moment: float) -> bool:
    if spec["after"] == "start" or child.for_ever:
        return child.seconds() >= moment
    hidden = [path for path in out.iterdir() if path.name.startswith(PREFIX)]
    if spec["after"] == "writing":
        return bool(hidden)
    return any(path.is_file() and path.stat().st_size != len(_OLD) for path in out.iterdir())


def _judged(spec: Spec, code: int, said: str, out: Path, expected: dict[str, bytes]) -> str:
    number = getattr(signal, spec["signal"])
    killed = number == signal.SIGKILL
    assert code in (0, 128 + number), f"exit code {code}, {said[-300:]}"
    found = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    left = [path.name for path in out.iterdir() if path.name not in expected]
    assert killed or not left, f"left behind: {left}, {said[-300:]}"
    new = [name for name in expected if found.get(name, _OLD) != _OLD]
    assert killed or len(new) in (0, len(expected)), f"only {new} of {list(expected)}"
    assert not spec["existing"] or not set(expected) - set(found), "what was there before is gone"
    for name in new:
        _check_whole(name, found[name], expected[name])
    if code == 0:
        assert (new or not expected) and "error" not in said, f"exit code 0, {new}, {said[-300:]}"
        return "done"
    if not killed and said:  # a program that has only begun says nothing of its own
        assert said.count("\n") == 1, f"several lines: {said[-300:]}"
        assert ("Nothing was written" in said) == (not new), f"{new}, but: {said[-300:]}"
    return "written" if new else "nothing written"


def _check_whole(name: str, found: bytes, expected: bytes) -> None:
    """Raise unless this is the whole file. Times of computing and dates differ between runs."""
    if name.endswith((".html", ".skops", ".h5ad", ".c")):
        assert abs(len(found) - len(expected)) < 200, f"{name} has {len(found)} bytes, not {len(expected)}"
        assert found[-8:].strip() == expected[-8:].strip() or not name.endswith((".html", ".c")), f"{name} is cut"
        assert not name.endswith(".skops") or zipfile.ZipFile(io.BytesIO(found)).testzip() is None
    else:
        assert found == expected, f"{name} differs"
