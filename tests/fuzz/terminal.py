"""Commands on a terminal, with tables whose names hold control sequences: none of them reaches the terminal."""

import os
import pty
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.interruptions import be_the_command_line

Spec = dict[str, Any]

SECONDS = 30

COMMANDS: dict[str, tuple[str, ...]] = {
    "inspect": ("inspect", "{table}", "--label", "y"),
    "select": ("select", "{table}", "--label", "y", "--method", "qalpha", "-n", "4"),
    "map": ("map", "{table}", "--label", "y", "-n", "4"),
    "missing": ("inspect", "{table}", "--label", "{word}"),
}
WORDS = (
    "\x1b]0;owned\x07",  # the title of the window
    "\x1b[2J\x1b[H",  # clears the screen
    "\x1b[31m",
    "\x1b]8;;http://example.org\x1b\\",  # a link
    "\x1b[6n",  # the terminal answers this as if typed
    "\x9b31m",
    "\x07\x08\x08",
    "\r",
    "\u202eabc",  # right to left
    "\x1bP+q\x1b\\",
    "\x7f\x00",
)
_OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]|\x1b\[[0-9]*[AKG]|\x1b\[2K|\x1b\]8;[^\x1b]*\x1b\\")
"""Colours, the cursor of a progress bar, and cleared lines: what rich writes itself."""


def draw(rng: np.random.Generator, target: str) -> Spec:
    return {
        "command": list(COMMANDS)[int(rng.integers(len(COMMANDS)))],
        "word": int(rng.integers(len(WORDS))),
        "where": ("feature", "class", "file")[int(rng.integers(3))],
        "seed": int(rng.integers(2**31)),
    }


def check(spec: Spec) -> str:
    word = WORDS[spec["word"]].replace("\x00", "")
    rng = np.random.default_rng(spec["seed"])
    X = rng.standard_normal((24, 8))
    X[:12, :3] += 3
    names = [f"g{i}" for i in range(8)]
    classes = ["a", "b"]
    if spec["where"] == "feature":
        names[0] = f"g{word}0"
    elif spec["where"] == "class":
        classes[0] = f"a{word}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (f"t{word}.csv".replace("/", "") if spec["where"] == "file" else "t.csv")
        lines = [[f'"{classes[i >= 12]}"', *(f"{value:.5g}" for value in row)] for i, row in enumerate(X)]
        text = "\n".join(",".join(line) for line in [['"y"', *(f'"{name}"' for name in names)], *lines])
        path.write_text(text + "\n", newline="")
        parts = [part.format(table=path, word=word) for part in COMMANDS[spec["command"]]]
        shown = _on_a_terminal(parts)
    rest = _OWN.sub("", shown)
    found = sorted({character for character in rest if ord(character) < 32 and character not in "\r\n\t"})
    assert not found and "\x9b" not in rest and "\x7f" not in rest, f"{found} in {rest[:300]!r}"
    assert "\u202e" not in rest, "text from right to left"
    for place in re.finditer(r"\r(?!\n)", rest):
        assert not rest[place.end() :].startswith(("0", "\n", ",")), f"a carriage return of a name: {rest[:300]!r}"
    assert "owned" not in "".join(re.findall(r"\x1b\][^\x07\x1b]*", shown))
    return "clean"


def _on_a_terminal(arguments: list[str]) -> str:
    """Run the command line on a terminal of its own; return everything that it wrote."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        be_the_command_line(arguments)
    shown, end = b"", time.monotonic() + 100
    while time.monotonic() < end:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode("utf-8", errors="replace")
