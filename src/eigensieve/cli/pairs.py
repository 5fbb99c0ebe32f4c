"""Pairs of samples from a file: what belongs together and what does not."""

import csv
from collections import Counter

import numpy as np

from eigensieve._types import Array
from eigensieve.cli.errors import InputProblem
from eigensieve.cli.reading import Samples

_KINDS = ("cannot", "must")


def read_pairs(path: str, samples: Samples) -> dict[str, Array]:
    """Read pairs of samples: two columns of sample names (or row numbers from 0), and optionally cannot or must. The
    first line is a header if it names no sample and says neither cannot nor must. Returns the arguments `cannot_link`
    and `must_link` of ``fit``."""
    known = _Known(path, samples)
    links: dict[str, list[tuple[int, int]]] = {kind: [] for kind in _KINDS}
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = file.readlines()  # a pipe can be read only once
    rows = csv.reader(lines, delimiter="\t" if "\t" in "".join(lines[:20]) else ",")
    for number, row in enumerate(rows, start=1):
        if not row:
            continue
        if len(row) not in (2, 3):
            raise InputProblem(
                f"Line {number} of the pairs file '{path}' has {len(row)} columns. "
                "Each line must name two samples and, optionally, 'cannot' or 'must'."
            )
        kind = row[2].strip().lower() if len(row) == 3 else None
        first, second = (known.place(cell.strip(), number) for cell in row[:2])
        if first is not None and second is not None and kind in (None, *_KINDS):
            links[kind or "cannot"].append((first, second))
        elif number > 1 or kind in _KINDS or first is not None or second is not None:
            raise _bad_pair(path, number, row, first, second)
    if not any(links.values()):
        raise InputProblem(f"The pairs file '{path}' holds no pair of samples of the input. Check the names in it.")
    return {f"{kind}_link": np.array(pairs) for kind, pairs in links.items() if pairs}


class _Known:
    """The samples that a pair may name: by their names, or by row numbers from 0 where they have none."""

    def __init__(self, path: str, samples: Samples) -> None:
        self.path = path
        self.names = None if samples.ids is None else {name: place for place, name in enumerate(samples.ids)}
        self.repeated = {name for name, count in Counter(samples.ids).items() if count > 1}
        self.rows = {int(row): place for place, row in enumerate(samples.rows)}

    def place(self, cell: str, line: int) -> int | None:
        """The place of a sample among all; None where there is none."""
        if cell in self.repeated:
            raise InputProblem(
                f"Line {line} of the pairs file '{self.path}' names '{cell}', a name that several samples of the input "
                "have. Give every sample a name of its own, or name another column with --id."
            )
        if self.names is not None:
            return self.names.get(cell)
        return self.rows.get(int(cell)) if cell.isascii() and cell.isdecimal() else None


def _bad_pair(path: str, number: int, row: list[str], first: int | None, second: int | None) -> InputProblem:
    if first is None or second is None:
        unknown = row[0 if first is None else 1].strip()
        return InputProblem(
            f"Line {number} of the pairs file '{path}' names '{unknown}', which is no sample of the input. "
            "Use the samples' names, or row numbers from 0 when they have none."
        )
    return InputProblem(
        f"Line {number} of the pairs file '{path}' says '{row[2].strip()}'. "
        "The third column must be 'cannot' or 'must'."
    )
