"""Constraints on the selected features, from names on the command line or from files."""

import csv
import os
from pathlib import Path
from typing import Any

from eigensieve._words import counted
from eigensieve.cli.errors import InputProblem, UsageProblem, input_errors
from eigensieve.cli.methods import Params
from eigensieve.cli.reading import Samples

NAMED = {"keep": "--must-keep", "exclude": "--exclude"}
TABLES = {"feature_groups": "--groups", "feature_costs": "--costs"}
_HEADS = ("feature", "gene", "name")


def check_constraints(params: Params) -> None:
    """Refuse options that do nothing without another one, before anything is read."""
    for needs, flag, other in (
        ("feature_costs", "max_cost", "--costs"),
        ("feature_groups", "max_per_group", "--groups"),
    ):
        if flag in params and needs not in params:
            raise UsageProblem(f"--{flag.replace('_', '-')} does nothing without {other}. Drop it, or give {other}.")


def with_constraints(params: Params, samples: Samples) -> Params:
    """Return the parameters with features as column numbers, and groups and costs as one value per feature. Before,
    constraints are texts: names of features, or the path of a file."""
    places = {str(name): place for place, name in enumerate(samples.features)}
    found: dict[str, Any] = {
        parameter: feature_places(params[parameter], samples, flag)
        for parameter, flag in NAMED.items()
        if parameter in params
    }
    for parameter, flag in TABLES.items():
        if parameter in params:
            table = _table(params[parameter], places, flag)
            missing = [name for name, place in places.items() if place not in table]
            if missing and parameter == "feature_costs":
                raise InputProblem(f"{flag} gives no cost for '{missing[0]}'. Give one for every feature.")
            found[parameter] = [table.get(place) for place in range(len(places))]
    return params | found


def feature_places(text: str, samples: Samples, flag: str) -> list[int]:
    """Return the column numbers of the features that a text or a file names."""
    places = {str(name): place for place, name in enumerate(samples.features)}
    with input_errors(text):
        names = _names(text)
    if names and names[0].lower() in _HEADS and names[0] not in places:
        names = names[1:]
    return [_place(name, places, flag) for name in names]


def _names(text: str) -> list[str]:
    """Read names, one per line of a file, or separated by commas."""
    if not os.path.isfile(text):  # a long list of names is no path
        return [name.strip() for name in text.split(",") if name.strip()]
    lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
    return [line.strip() for line in lines if line.strip()]


def _table(path: str, places: dict[str, int], flag: str) -> dict[int, str]:
    """Read a file with a feature and a value per line."""
    if not Path(path).is_file():
        raise InputProblem(f"{flag} must name a file with lines 'feature,value'. There is no file '{path}'.")
    with input_errors(path):
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
        rows = [row for row in csv.reader(lines, delimiter="\t" if "\t" in "".join(lines[:5]) else ",") if row]
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            columns = counted(len(row), "column")
            raise InputProblem(f"Line {number} of '{path}' has {columns}. {flag} needs lines 'feature,value'.")
    first = [cell.strip().lower() for cell in rows[0]] if rows else []
    table: dict[int, str] = {}
    for name, value in rows[first[:1] in [[head] for head in _HEADS] :]:
        if table.setdefault(_place(name.strip(), places, flag), value.strip()) != value.strip():
            raise InputProblem(f"'{path}' gives two values for '{name.strip()}'. {flag} needs one per feature.")
    return table


def _place(name: str, places: dict[str, int], flag: str) -> int:
    if name not in places:
        raise InputProblem(f"{flag} names '{name}', which is no feature of the input. Check its spelling.")
    return places[name]
