"""The results file: JSON lines, one per run, and one per environment that runs were made in."""

import csv
import json
import os
from pathlib import Path

from .environment import environment

KEY = ("data", "selector", "count", "seed", "n_init", "max_samples")


class Results:
    """The results file. A row is appended as soon as it is known, with the digest of its environment.

    A line that was cut off, by a machine that stopped, is left out.

    Parameters
    ----------
    path : Path
    key : tuple of str
        The columns that tell runs apart.
    """

    def __init__(self, path: Path, key: tuple[str, ...] = KEY) -> None:
        self.path, self.key = path, key
        self.rows: list[dict] = []
        self.environments: dict[str, dict] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            self._read(line)
        self._done = {self._key(row) for row in self.rows}
        self._here = environment()

    def _read(self, line: str) -> None:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            return
        if "data" in row:
            self.rows.append(row)
        else:
            self.environments[row["environment"]] = row

    def _key(self, row: dict) -> tuple:
        return tuple(row[part] for part in self.key)

    def has(self, wanted: dict) -> bool:
        return self._key(wanted) in self._done

    def add(self, row: dict) -> None:
        row = row | {"environment": self._here["environment"]}
        lines = [row]
        if self._here["environment"] not in self.environments:
            self.environments[self._here["environment"]] = self._here
            lines = [self._here, row]
        self.rows.append(row)
        self._done.add(self._key(row))
        cut_off = self.path.exists() and self.path.stat().st_size and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("a") as stream:
            stream.write("\n" * bool(cut_off) + "".join(json.dumps(line) + "\n" for line in lines))

    def write_table(self, file: Path) -> None:
        """Write all runs as one CSV table: a line per run, versions and hardware in columns."""
        rows = [row | self.environments.get(row.get("environment", ""), {}) for row in self.rows]
        columns = list(dict.fromkeys(column for row in rows for column in row))
        part = file.with_name(f"{file.name}.part")
        with part.open("w", newline="") as stream:
            table = csv.DictWriter(stream, columns)
            table.writeheader()
            table.writerows(rows)
        os.replace(part, file)
