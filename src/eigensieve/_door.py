"""The door of a room: its ``__init__`` lists what other rooms may use. Each name is imported when it is first used."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from sys import modules
from typing import Any


def open_door(room: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a room.

    The names are those that the room's ``__init__`` imports under ``if TYPE_CHECKING:``. Type checkers read them there,
    so every name is written once, and importing the room costs next to nothing.

    Parameters
    ----------
    room : str
        ``__name__`` of the room.
    file : str
        ``__file__`` of the room.
    """
    homes: dict[str, str] = {}
    for block in ast.parse(Path(file).read_text(encoding="utf-8")).body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and line.module:
                    homes |= {alias.name: line.module for alias in line.names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home = import_module(homes[name])
        found = getattr(home, name)
        # All names of one file are set at once. Names from other files are not imported before they are used.
        here = {other for other, place in homes.items() if place == homes[name]}
        vars(modules[room]).update({other: value for other, value in vars(home).items() if other in here})
        return found

    names = sorted(homes)
    return find, lambda: names, names
