"""Knowledge besides the table, from names and files: constraints on features, and pairs of samples."""

import csv
import os
from collections import Counter
from pathlib import Path

import numpy as np

from eigensieve._types import IntArray, JsonDict
from eigensieve._words import counted
from eigensieve.cli.errors import InputProblem, input_errors
from eigensieve.cli.methods import Params
from eigensieve.cli.reading import Samples

NAMED = {"keep": "--must-keep", "exclude": "--exclude"}
TABLES = {"feature_groups": "--groups", "feature_costs": "--costs"}
_HEADS = ("feature", "gene", "name")
_KINDS = ("cannot", "must")


def with_constraints(params: Params, samples: Samples) -> Params:
    """Return the parameters with features as column numbers, and groups and costs as one value per feature. Before,
    constraints are texts: names of features, or the path of a file."""
    found: JsonDict = {
        parameter: feature_places(params[parameter], samples, flag)
        for parameter, flag in NAMED.items()
        if parameter in params
    }
    for parameter, flag in TABLES.items():
        if parameter in params:
            places = _places(samples)
            table = _table(params[parameter], places, flag)
            missing = [name for name, place in places.items() if place not in table]
            if missing and parameter == "feature_costs":
                raise InputProblem(f"{flag} gives no cost for '{missing[0]}'. Give one for every feature.")
            found[parameter] = [table.get(place) for place in range(len(places))]
    return params | found


def feature_places(text: str, samples: Samples, flag: str) -> list[int]:
    """Return the column numbers of the features that a text or a file names, with commas or on lines of their own."""
    places, lines = _places(samples), [text]
    if os.path.isfile(text):  # a long list of names is no path
        with input_errors(text):
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
    parts = (part.strip() for line in lines for part in ([line] if line.strip() in places else line.split(",")))
    names = [part for part in parts if part]
    if names and names[0].lower() in _HEADS and names[0] not in places:
        names = names[1:]
    return [_place(name, places, flag) for name in names]


def _table(path: str, places: dict[str, int], flag: str) -> dict[int, str]:
    """Read a file with a feature and a value per line."""
    if not Path(path).is_file():
        raise InputProblem(f"{flag} must name a file with lines 'feature,value'. There is no file '{path}'.")
    with input_errors(path):
        rows = [row for row in _rows(path) if row]
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            columns = counted(len(row), "column")
            raise InputProblem(f"Line {number} of '{path}' has {columns}. {flag} needs lines 'feature,value'.")
    headed = bool(rows) and rows[0][0].strip().lower() in _HEADS
    table: dict[int, str] = {}
    for name, value in rows[headed:]:
        if table.setdefault(_place(name.strip(), places, flag), value.strip()) != value.strip():
            raise InputProblem(f"'{path}' gives two values for '{name.strip()}'. {flag} needs one per feature.")
    return table


def _rows(path: str) -> list[list[str]]:
    """Read the cells of a file whose first lines tell whether tabs or commas are between them."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = file.readlines()  # a pipe can be read only once
    return list(csv.reader(lines, delimiter="\t" if "\t" in "".join(lines[:20]) else ","))


def _places(samples: Samples) -> dict[str, int]:
    return {str(name): place for place, name in enumerate(samples.features)}


def _place(name: str, places: dict[str, int], flag: str) -> int:
    if name not in places:
        raise InputProblem(f"{flag} names '{name}', which is no feature of the input. Check its spelling.")
    return places[name]


def read_pairs(path: str, samples: Samples) -> dict[str, IntArray]:
    """Read pairs of samples: two columns of sample names (or row numbers from 0), and optionally cannot or must. The
    first line is a header if it names no sample and says neither cannot nor must. Returns the arguments `cannot_link`
    and `must_link` of ``fit``."""
    names = None if samples.ids is None else {name: place for place, name in enumerate(samples.ids)}
    repeated = {name for name, count in Counter(samples.ids).items() if count > 1}
    numbers = {int(row): place for place, row in enumerate(samples.rows)}

    def sample(cell: str) -> int | None:
        """The place of a sample among all, by its name or, where samples have none, its row; None for others."""
        if cell in repeated:
            raise InputProblem(
                f"{where} names '{cell}', a name that several samples of the input have. Give every sample a name of "
                "its own, or name another column with --id."
            )
        if names is not None:
            return names.get(cell)
        return numbers.get(int(cell)) if cell.isascii() and cell.isdecimal() else None

    links: dict[str, list[tuple[int, int]]] = {kind: [] for kind in _KINDS}
    for number, row in enumerate(_rows(path), start=1):
        if not row:
            continue
        where = f"Line {number} of the pairs file '{path}'"
        if len(row) not in (2, 3):
            columns = f"{where} has {len(row)} columns."
            raise InputProblem(f"{columns} Each line must name two samples and, optionally, 'cannot' or 'must'.")
        kind = row[2].strip().lower() if len(row) == 3 else None
        first, second = (sample(cell.strip()) for cell in row[:2])
        if first is not None and second is not None and kind in (None, *_KINDS):
            links[kind or "cannot"].append((first, second))
        elif number > 1 or kind in _KINDS or first is not None or second is not None:
            if first is not None and second is not None:
                raise InputProblem(f"{where} says '{row[2].strip()}'. The third column must be 'cannot' or 'must'.")
            raise InputProblem(
                f"{where} names '{row[0 if first is None else 1].strip()}', which is no sample of the input. Use the "
                "samples' names, or row numbers from 0 when they have none."
            )
    if not any(links.values()):
        raise InputProblem(f"The pairs file '{path}' holds no pair of samples of the input. Check the names in it.")
    return {f"{kind}_link": np.array(pairs) for kind, pairs in links.items() if pairs}
