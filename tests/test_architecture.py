"""The packages: imports point only downwards, through public names; importing is cheap and needs no sources."""

import ast
import compileall
import importlib
import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Self

import numpy as np
import pytest

import eigensieve

ROOT = Path(eigensieve.__file__).parent
PACKAGES = [
    "cli",
    "app",
    "report",
    "plotting",
    "cells",
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
SHARED = {
    "_compiled",
    "_errors",
    "_extras",
    "_files",
    "_progress",
    "_sklearn",
    "_types",
    "_version",
    "_words",
    "theory",
}
FILES = sorted(ROOT.rglob("*.py"))
STUBS = sorted(ROOT.rglob("*.pyi"))
COMPILED = [path for path in FILES if "import njit" in path.read_text()]


def imported_modules(path: Path) -> set[str]:
    """Every eigensieve module a file imports, at the top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
    return {name for name in found if name == "eigensieve" or name.startswith("eigensieve.")}


def public_names(package: str) -> list[str]:
    """Return the names that the ``__init__`` of a package imports: other packages may use these."""
    folder = ROOT / package
    source = next(path for path in (folder / "__init__.pyi", folder / "__init__.py") if path.exists())
    lines = [node for node in ast.parse(source.read_text()).body if isinstance(node, ast.ImportFrom)]
    own = [node for node in lines if node.level or (node.module or "").startswith(f"eigensieve.{package}")]
    return [alias.name for node in own for alias in node.names]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    if len(parts) == 1:
        return
    package = PACKAGES.index(parts[0])
    for name in imported_modules(path):
        pieces = name.split(".")
        if len(pieces) == 1:
            assert parts[0] in ("cli", "report"), f"{path}: only cli and report may import the public API"
            continue
        if pieces[1] in SHARED:
            continue
        assert PACKAGES.index(pieces[1]) >= package, f"{path} ({parts[0]}) imports {name}, which is above it"
        # A compiled loop may call another one. Packages do not list these, so that importing them loads no compiler.
        compiled = path.name.endswith("_numba.py") and name.endswith("_numba")
        if pieces[1] != parts[0] and not compiled:
            assert len(pieces) == 2, f"{path} imports {name}: use the names that eigensieve.{pieces[1]} lists"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_its_public_names(package: str) -> None:
    """Every listed name is there, and none is also the name of a file of the package, which would hide it."""
    module = importlib.import_module(f"eigensieve.{package}")
    assert len((module.__doc__ or "").splitlines()) >= 3, "say what the package owns and where to begin"
    files = {path.stem for path in (ROOT / package).iterdir()}
    names = public_names(package)
    assert names
    for name in names:
        assert getattr(module, name) is not None
        assert name not in files


@pytest.mark.parametrize("path", STUBS, ids=lambda path: str(path.relative_to(ROOT)))
def test_lazy_packages_list_what_their_stub_lists(path: Path) -> None:
    """lazy_loader and type checkers read the same stub; every line exports its name under the same name."""
    lines = [line for line in ast.parse(path.read_text()).body if isinstance(line, ast.ImportFrom)]
    aliases = [alias for line in lines for alias in line.names]
    assert all(alias.name == alias.asname for alias in aliases)
    module = importlib.import_module(".".join(("eigensieve", *path.relative_to(ROOT).parts[:-1])))
    assert module.__all__ == sorted(alias.name for alias in aliases)


@pytest.mark.parametrize("path", sorted(ROOT.glob("*/*/__init__.py")), ids=lambda path: path.parent.name)
def test_an_inner_package_says_what_it_owns(path: Path) -> None:
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
        assert not re.search(r"^\w*Array = ", text, re.MULTILINE), "array types are defined in eigensieve._types"
    if path.name != "_sklearn.py":
        private = r"^\s*from sklearn(\S*\._\S* import|\S* import (\(|.*\b)_)"
        assert not re.search(private, text, re.MULTILINE), "private names of scikit-learn come from eigensieve._sklearn"
    if path.name != "_compiled.py":
        assert not re.search(r"(from numba import.*|numba\.)njit", text), (
            "loops are compiled by eigensieve._compiled.njit"
        )


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.name)
def test_compiled_loops_stand_beside_what_they_compile(path: Path) -> None:
    assert path.name.startswith("_")
    assert path.name.endswith("_numba.py")
    assert path.with_name(path.name[1:].replace("_numba", "")).exists()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_readable(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_only_data_asks_about_sparsity() -> None:
    for path in FILES:
        package = path.relative_to(ROOT).parts[0]
        if package in ("sieve", "evidence", "qalpha", "traceratio", "operators"):
            assert "issparse" not in path.read_text(), path


def test_every_public_name_is_there_and_documented() -> None:
    for name in eigensieve.__all__:
        assert getattr(eigensieve, name) is not None
    assert set(dir(eigensieve)) == set(eigensieve.__all__)
    with pytest.raises(AttributeError, match="attribute nothing"):
        _ = eigensieve.nothing


def test_importing_is_lazy() -> None:
    """`import eigensieve` loads no scientific package; naming a selector loads no compiler and no optional package."""
    heavy = ["numba", "matplotlib", "dask", "polars", "typer", "anndata", "pandas"]
    code = (
        "import sys, eigensieve; print([name for name in ('numpy', 'scipy', 'sklearn') if name in sys.modules]); "
        "import sklearn.feature_selection; before = set(sys.modules); eigensieve.QAlphaSelector; "
        f"print([name for name in {heavy} if name in sys.modules and name not in before])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.split() == ["[]", "[]"]


def test_an_install_without_sources_works(tmp_path: Path) -> None:
    """Compiled files alone are enough: every package opens, and a fit finds the five features that differ."""
    shutil.copytree(ROOT, tmp_path / "eigensieve", ignore=shutil.ignore_patterns("__pycache__"))
    assert compileall.compile_dir(tmp_path, legacy=True, quiet=1)
    for path in tmp_path.rglob("*.py"):
        path.unlink()
    code = (
        "import eigensieve, importlib; assert eigensieve.__file__.endswith('.pyc'); "
        f"[importlib.import_module('eigensieve.' + name) for name in {PACKAGES}]; "
        "import numpy as np; X = np.random.default_rng(0).normal(size=(60, 40)); X[:30, :5] += 6; "
        "print(eigensieve.SieveSelector(5).fit(X).get_support(indices=True).tolist())"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "[0, 1, 2, 3, 4]", run.stderr


def calls_between_files(work: Callable[[], object]) -> set[tuple[str, str]]:
    """Return all pairs of files of eigensieve of which the first calls a function of the second."""
    pairs = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        called, caller = frame.f_code.co_filename, frame.f_back
        if event != "call" or not called.startswith(str(ROOT)) or frame.f_code.co_name.startswith("<"):
            return  # a lambda belongs to the file that made it
        while caller is not None and not caller.f_code.co_filename.startswith(str(ROOT)):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != called:
            pairs.add((caller.f_code.co_filename, called))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return pairs


@pytest.mark.parametrize("name", ["SieveSelector", "QAlphaSelector", "FeatureMap", "TraceRatioSelector"])
def test_no_two_files_call_each_other_during_a_fit(name: str) -> None:
    X = np.random.default_rng(0).standard_normal((60, 80))
    y = np.arange(60) % 2
    X[:, :5] += 3 * y[:, None]
    model = getattr(eigensieve, name)(5).fit(X, y)  # imports what a fit needs
    pairs = calls_between_files(lambda: model.fit(X, y))
    assert pairs and not [pair for pair in pairs if pair[::-1] in pairs]


def test_missing_extra_names_the_command() -> None:
    from eigensieve._extras import require

    with pytest.raises(ImportError, match=r'pip install "eigensieve\[plot\]"'):
        require("package_that_is_not_there", extra="plot")


@pytest.mark.parametrize("package", ["eigensieve", "eigensieve.plotting", "eigensieve.tables", "eigensieve.datasets"])
def test_public_functions_are_typed_and_listed(package: str) -> None:
    public = importlib.import_module(package)
    for name in [name for name in dir(public) if not name.startswith("_")]:
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


SCRIPTS = [path for folder in ("benchmarks", "examples") for path in sorted((ROOT.parents[1] / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_import_names_that_exist(path: Path) -> None:
    """Benchmarks are slow and not run by the tests; a renamed module must not leave one behind."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "eigensieve":
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                assert hasattr(module, alias.name) or importlib.import_module(f"{node.module}.{alias.name}")
