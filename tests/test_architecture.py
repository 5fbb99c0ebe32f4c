"""The rooms of the house: imports point only downwards, the public surface is what it says."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest

import eigensieve

ROOT = Path(eigensieve.__file__).parent
ROOMS = [
    "cli",
    "report",
    "plotting",
    "experiments",
    "estimators",
    "sieve",
    "qalpha",
    "traceratio",
    "elements",
    "evidence",
    "graphs",
    "operators",
    "data",
    "tables",
    "datasets",
]
SHARED = {"_door", "_extras", "_files", "_progress", "_types", "_words"}
FILES = sorted(ROOT.rglob("*.py"))
COMPILED = [path for path in FILES if re.search(r"^\s*(import|from) numba\b", path.read_text(), re.MULTILINE)]


def imported_modules(path: Path) -> set[str]:
    """Every eigensieve module a file imports, at the top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if {alias.name for alias in node.names} != {"__version__"}:
                found.add(node.module or "")
    return {name for name in found if name == "eigensieve" or name.startswith("eigensieve.")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    if len(parts) == 1:
        return
    room = ROOMS.index(parts[0])
    for name in imported_modules(path):
        pieces = name.split(".")
        if len(pieces) == 1:
            assert parts[0] in ("cli", "report"), f"{path}: only the top rooms may import the public API"
            continue
        if pieces[1] in SHARED:
            continue
        assert ROOMS.index(pieces[1]) >= room, f"{path} ({parts[0]}) imports {name}, which is above it"
        if pieces[1] != parts[0]:
            assert len(pieces) == 2, f"{path} imports {name}: other rooms are entered by their door"


@pytest.mark.parametrize("room", ROOMS)
def test_a_door_opens(room: str) -> None:
    """Every name on a door is there, and none of them is the name of a file behind it, which would hide it."""
    door = importlib.import_module(f"eigensieve.{room}")
    assert len((door.__doc__ or "").splitlines()) >= 3, "a door says what the room owns and where to begin"
    files = {path.stem for path in (ROOT / room).iterdir()}
    for name in door.__all__:
        assert getattr(door, name) is not None
        assert name not in files


@pytest.mark.parametrize("path", sorted(ROOT.glob("*/*/__init__.py")), ids=lambda path: path.parent.name)
def test_a_room_inside_a_room_says_what_it_owns(path: Path) -> None:
    assert len((ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()) >= 3


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_stay_readable(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body:
                length = (body[-1].end_lineno or 0) - body[0].lineno + 1
                assert length <= 60, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_things_with_one_home_are_nowhere_else(path: Path) -> None:
    text = path.read_text()
    if path.name != "_files.py":
        assert "os.replace(" not in text, "files are written by eigensieve._files.staged"
    if path.name != "_types.py":
        assert "\nArray = " not in text, "the array type is eigensieve._types.Array"


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.name)
def test_compiled_loops_stand_beside_what_they_compile(path: Path) -> None:
    assert path.name.startswith("_")
    assert path.name.endswith("_numba.py")
    assert path.with_name(path.name[1:].replace("_numba", "")).exists()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_readable(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_only_the_data_room_asks_about_sparsity() -> None:
    for path in FILES:
        room = path.relative_to(ROOT).parts[0]
        if room in ("sieve", "evidence", "qalpha", "traceratio", "operators"):
            assert "issparse" not in path.read_text(), path


def test_every_public_name_is_there_and_documented() -> None:
    for name in eigensieve.__all__:
        assert getattr(eigensieve, name) is not None
    assert set(dir(eigensieve)) == set(eigensieve.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = eigensieve.nothing


def test_importing_is_lazy() -> None:
    """Neither the compiler nor any optional package is loaded by import, nor by naming a selector."""
    heavy = ["numba", "matplotlib", "dask", "polars", "typer", "anndata", "pandas"]
    code = (
        "import sys, eigensieve; eigensieve.QAlphaSelector; "
        f"print([name for name in {heavy} if name in sys.modules and name not in before])"
    )
    before = "import sys; import sklearn.feature_selection; before = set(sys.modules); "
    output = subprocess.run([sys.executable, "-c", before + code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "[]"


def test_missing_extra_names_the_command() -> None:
    from eigensieve._extras import require

    with pytest.raises(ImportError, match=r'pip install "eigensieve\[plot\]"'):
        require("package_that_is_not_there", extra="plot")


@pytest.mark.parametrize("room", ["eigensieve", "eigensieve.plotting", "eigensieve.tables", "eigensieve.datasets"])
def test_public_functions_are_typed_and_listed(room: str) -> None:
    public = importlib.import_module(room)
    assert set(public.__all__) <= set(dir(public))
    for name in public.__all__:
        found = getattr(public, name)
        functions = [found] if inspect.isfunction(found) else []
        if inspect.isclass(found):
            functions = [f for key, f in inspect.getmembers(found, inspect.isfunction) if not key.startswith("_")]
        for function in [f for f in functions if f.__module__.startswith("eigensieve")]:
            signature = inspect.signature(function)
            given = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
            assert signature.return_annotation is not signature.empty, function
            assert all(p.annotation is not p.empty for p in given), function
            assert function.__name__ != "fit" or signature.return_annotation is Self, function
        if inspect.isclass(found) and hasattr(found, "fit"):
            for option in inspect.signature(found).parameters.values():
                assert not isinstance(option.default, str) or "Literal" in str(option.annotation), f"{name}: {option}"
