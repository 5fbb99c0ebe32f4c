"""The table, the programs that work on it and their outputs, in a folder that is removed at the end."""

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from eigensieve._types import JsonDict
from eigensieve.app.command import READING, Refused, options, outputs, safe_name, select_command

MAX_BYTES = 4 << 30
_LINE = 1 << 24  # bytes of the longest line that is read from a program
_PATIENCE = 3.0  # seconds that a program has to end by itself
_NAMES = 50  # selected features whose names the page shows


class Program:
    """One command line of eigensieve (`arguments` follow ``eigensieve``) that runs as a process of its own."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self.arguments = arguments
        self.folder = folder
        self.state = "running"
        self.progress = ""
        self.notes: list[str] = []
        self.error = ""
        self.document: JsonDict = {}
        self.started = time.monotonic()
        self.seconds = 0.0
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Start it and read its output until it ends."""
        pipe = asyncio.subprocess.PIPE
        # -P: a file in the folder, such as numpy.py, must not be taken for a module.
        command = [sys.executable, "-P", "-m", "eigensieve", *self.arguments]
        process = self._process = await asyncio.create_subprocess_exec(
            *command, cwd=self.folder, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, limit=_LINE,
            start_new_session=True,
        )  # fmt: skip
        if self.state == "stopped":  # before it had begun
            self._signal(signal.SIGKILL)
        assert process.stdout is not None
        printed, _ = await asyncio.gather(process.stdout.read(), self._listen(process.stderr))
        code = await process.wait()
        self.seconds = time.monotonic() - self.started
        if self.state == "stopped":
            return
        self.state = "done" if code == 0 else "failed"
        if code == 0:
            self.document = json.loads(printed)
        self.error = self.error or ("" if code == 0 else f"The program ended with code {code}.")

    async def _listen(self, stream: asyncio.StreamReader | None) -> None:
        """Sort the lines of standard error: progress, notes, an error."""
        assert stream is not None
        while read := await stream.readline():
            line = read.decode(errors="replace").strip()
            kind, _, rest = line.partition(": ")
            if line.startswith("["):
                self.progress = line
            elif kind == "note":
                self.notes.append(rest)
            elif kind == "error":
                self.error = rest

    async def stop(self) -> None:
        if self.state != "running":
            return
        self.state = "stopped"
        self._signal(signal.SIGTERM)
        if self._process is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _PATIENCE)
        self._signal(signal.SIGKILL)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        """Send a signal to the program and to the processes it has started."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


class Workspace:
    """One table, of at most `max_bytes`, and its selection. There is one selection at a time."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self.folder = Path(tempfile.mkdtemp(prefix="eigensieve-"))  # for this user alone
        self.table: Path | None = None
        self.selection: Program | None = None
        self._look: Program | None = None
        self._receiving = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, name: str, size: str | None, parts: AsyncIterator[bytes]) -> str:
        """Take a table in place of the one before, which is removed with its outputs; return its name.

        `name` and `size` come from the browser.
        """
        self._check_idle()
        if size is not None and (not size.isdecimal() or int(size) > self.max_bytes):
            raise self._too_large()
        self._receiving = True
        try:
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            path = folder / safe_name(name)
            try:
                await self._write(path, parts)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        finally:
            self._receiving = False
        if self.table is not None:
            shutil.rmtree(self.table.parent, ignore_errors=True)
        self.table, self.selection = path, None
        return path.name

    async def _write(self, path: Path, parts: AsyncIterator[bytes]) -> None:
        received = 0
        try:
            with path.open("wb") as file:
                async for part in parts:
                    received += len(part)
                    if received > self.max_bytes:
                        raise self._too_large()
                    await asyncio.to_thread(file.write, part)
        except OSError as error:
            raise Refused(f"The table cannot be stored: {error.strerror}.", 507) from error

    def _too_large(self) -> Refused:
        limit = f"{self.max_bytes / (1 << 30):.3g} GB"
        return Refused(f"The table is larger than {limit}. Use eigensieve select in a shell, without a copy.", 413)

    async def look(self, choices: object) -> JsonDict:
        """Return how the table is understood with these choices. An earlier look that still runs is ended."""
        if self._look is not None:
            await self._look.stop()
        table = self._given()  # meanwhile another table may have come in place of the one before
        arguments = ["inspect", table.name, *options(choices, READING), "--json"]
        look = self._look = Program(arguments, table.parent)
        try:
            await look.run()
        except asyncio.CancelledError as error:  # the server ends
            look.kill()
            raise Refused("The page has ended.", 503) from error
        if look.state == "stopped":
            raise Refused("Another look at the table was asked for.", 409)
        if look.state == "failed":
            raise Refused(look.error, 422)
        return look.document

    def start(self, choices: object) -> None:
        table = self._given()
        self._check_idle()
        for name in outputs(table.name).values():
            (table.parent / name).unlink(missing_ok=True)
        self.selection = Program([*select_command(table.name, choices), "--json", "--progress"], table.parent)
        task = asyncio.create_task(self.selection.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        if self.selection is not None:
            await self.selection.stop()

    def state(self) -> JsonDict:
        """Return the state of table and selection for the page."""
        run = self.selection
        return {
            "table": None if self.table is None else self.table.name,
            "selection": None if run is None else self._state_of(run),
        }

    def _state_of(self, run: Program) -> JsonDict:
        found, files = run.document, {}
        if run.state == "done":
            files = {role: self._output(role).name for role in outputs("") if self._output(role).exists()}
        return {
            "state": run.state,
            "progress": run.progress,
            "seconds": run.seconds or time.monotonic() - run.started,
            "notes": run.notes,
            "error": run.error,
            "command": shlex.join(["eigensieve", *run.arguments[:-2]]),
            "features": found.get("input", {}).get("features"),
            "samples": found.get("input", {}).get("samples"),
            "selected": len(found.get("selected", ())),
            "names": (found.get("names") or [])[:_NAMES],
            "files": files,
        }

    def file(self, role: str) -> tuple[str, bytes]:
        """Return name and content of an output of the selection by its role."""
        if role not in outputs("") or self.selection is None or self.selection.state != "done":
            raise Refused("There is no such file.", 404)
        path = self._output(role)
        try:
            return path.name, path.read_bytes()
        except OSError as error:  # it was not written, or another table has come
            raise Refused("There is no such file.", 404) from error

    def _output(self, role: str) -> Path:
        table = self._given()
        return table.parent / outputs(table.name)[role]

    def _given(self) -> Path:
        if self.table is None:
            raise Refused("There is no table yet. Drop one first.", 409)
        return self.table

    def _check_idle(self) -> None:
        if self._receiving:
            raise Refused("A table is being received. Wait until it is there.", 409)
        if self.selection is not None and self.selection.state == "running":
            raise Refused("A selection is running. Stop it first, or wait until it is done.", 409)

    async def close(self) -> None:
        """End the programs and remove all files."""
        for program in (self._look, self.selection):
            if program is not None:
                await program.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.remove()

    def remove(self) -> None:
        """Remove all files, at once: a program that still runs is killed."""
        for program in (self._look, self.selection):
            if program is not None:
                program.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
