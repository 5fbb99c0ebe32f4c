"""The reference page lists every public name, and their docstrings list every parameter and nothing else."""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
HEADING = re.compile(r"^(\S.*)\n-{3,}$", flags=re.MULTILINE)


def reference() -> Iterator[tuple[str, str]]:
    """Module and name of everything on the reference page."""
    for block in re.findall(r"```\{eval-rst\}\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        module = re.search(r"currentmodule:: (\S+)", block)
        assert module
        yield from ((module[1], name) for name in re.findall(r"^   (\w+)$", block, flags=re.MULTILINE))


def with_methods() -> Iterator[tuple[str, Any]]:
    """What the page lists, and the methods that eigensieve itself defines for it."""
    for module, name in reference():
        value = getattr(importlib.import_module(module), name)
        yield name, value
        for method_name, method in inspect.getmembers(value, inspect.isroutine) if inspect.isclass(value) else ():
            ours = (getattr(method, "__module__", None) or "").startswith("eigensieve")
            if ours and not method_name.startswith("_"):
                yield f"{name}.{method_name}", method


OBJECTS = dict(with_methods())


def section(docstring: str, heading: str) -> str:
    """A section of a numpydoc docstring, empty where it is missing."""
    parts = HEADING.split(docstring)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(heading, "")


def entries(text: str) -> dict[str, str]:
    """The names of a numpydoc section with their descriptions; ``a, b : int`` names two."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        if line and not line.startswith(" "):
            names = [name.strip().lstrip("*") for name in line.partition(" : ")[0].split(",")]
            found |= dict.fromkeys(names, "")
        for name in names if line.startswith(" ") else ():
            found[name] += line.strip()
    return found


@pytest.mark.parametrize("module", ["eigensieve", "eigensieve.datasets", "eigensieve.plotting", "eigensieve.theory"])
def test_every_public_name_is_on_the_reference_page(module: str) -> None:
    listed = {name for where, name in reference() if where == module}
    assert listed == set(importlib.import_module(module).__all__) - {"__version__", "DATA_VARIABLE"}


@pytest.mark.parametrize("name", OBJECTS)
def test_the_docstring_explains_every_parameter(name: str) -> None:
    value = OBJECTS[name]
    docstring = inspect.getdoc(value) or ""
    assert docstring, f"{name} has no docstring"
    if inspect.isclass(value) and issubclass(value, Exception):
        return  # an error takes a message
    fields = inspect.isclass(value) and hasattr(value, "_fields")  # named tuples
    explained = entries(section(docstring, "Attributes" if fields else "Parameters"))
    given = set(inspect.signature(value).parameters) - {"self", "cls"}
    assert set(explained) == given, f"not explained: {given - set(explained)}; unknown: {set(explained) - given}"
    empty = [parameter for parameter, text in explained.items() if not text]
    assert not empty, f"without a word about {empty}"


@pytest.mark.parametrize("name", OBJECTS)
def test_the_docstring_has_no_accidental_markup(name: str) -> None:
    """A bare ``name_`` is a link and ``|x|`` a substitution to Sphinx, which ``make docs`` refuses."""
    text = re.sub(r"``.*?``|`.*?`", "", inspect.getdoc(OBJECTS[name]) or "", flags=re.DOTALL)
    without_names = re.sub(r"^[\w*]+(, [\w*]+)*(?= : |$)", "", text, flags=re.MULTILINE)
    prose = "\n".join(line for line in without_names.splitlines() if not line.startswith((">>>", "...")))
    assert re.findall(r"(?<!\w)[a-zA-Z]\w*_(?![\w{])|\|\S[^|\n]*\|", prose) == []
