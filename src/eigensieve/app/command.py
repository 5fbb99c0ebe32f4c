"""From the choices on the page to a command line."""

import re
from pathlib import Path

READING = {
    "samples": "--samples",
    "label": "--label",
    "batch": "--batch",
    "donors": "--donors",
    "id": "--id",
    "categories": "--categories",
}
"""Choices about how the table is read, and their options."""

SELECTING = READING | {"missing": "--missing", "n_features": "--n-features", "stability": "--stability"}
"""The same with choices about the selection."""

_LONGEST = 1_000
_NAME_BYTES = 150


class Refused(Exception):
    """A request that is not carried out: the problem with its fix, and the status of the HTTP answer."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def options(choices: object, allowed: dict[str, str]) -> list[str]:
    """Return options of the command line; those left empty keep their defaults.

    Each option and its value are one argument, so that no value can be taken for an option.
    """
    if not isinstance(choices, dict) or not set(choices) <= set(allowed):
        raise Refused(f"The choices must be among {', '.join(allowed)}.")
    arguments = []
    for name, value in choices.items():
        if not isinstance(value, str) or len(value) > _LONGEST or "\0" in value:
            raise Refused(f"The choice '{name}' must be a text of at most {_LONGEST} characters.")
        if value:
            arguments.append(f"{allowed[name]}={value}")
    return arguments


def safe_name(name: str) -> str:
    """Return the last part of a path as a plain file name: no folder, no option, no hidden file."""
    last = re.sub(r"[^\w.()+ -]", "_", re.split(r"[\\/]", name)[-1])
    # the end of a long name holds the format
    kept = last.encode()[-_NAME_BYTES:].decode(errors="ignore").lstrip(".- ").rstrip()
    return kept or "table.csv"


def outputs(table: str) -> dict[str, str]:
    """Return the files that a selection from the table writes, by the option that asks for each."""
    stem = Path(table).name.partition(".")[0] or "table"
    return {
        "output": f"{stem}-selected.csv",
        "weights": f"{stem}-weights.csv",
        "model": f"{stem}-model.skops",
        "report": f"{stem}-report.html",
    }


def select_command(table: str, choices: object) -> list[str]:
    written = [f"--{option}={name}" for option, name in outputs(table).items()]
    return ["select", table, *options(choices, SELECTING), *written]
