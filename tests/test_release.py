"""The release: the two archives, their metadata, the README as it is shown elsewhere, the workflow, the recipe."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from eigensieve import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = PROJECT["urls"]["Homepage"]
SOURCES = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/eigensieve").rglob("*") if path.is_file()}
SOURCES = {name for name in SOURCES if "__pycache__" not in name}


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The wheel and the sdist, built from this tree by the declared build backend, without network."""
    pytest.importorskip("hatchling", reason="the build backend is part of the dev group")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return wheel, sdist


def tracked_files() -> set[str]:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode or not listing.stdout:
        pytest.skip("this is not a clone: nothing says which files belong to the project")
    return {name for name in listing.stdout.splitlines() if (ROOT / name).exists()}


def test_the_wheel_holds_the_package_and_nothing_else(archives):
    names = set(zipfile.ZipFile(archives[0]).namelist())
    outside = {name for name in names if ".dist-info/" not in name}
    assert outside == SOURCES
    assert "eigensieve/py.typed" in outside
    assert f"eigensieve-{__version__}.dist-info/licenses/LICENSE" in names


def test_the_wheel_says_what_it_is(archives):
    with zipfile.ZipFile(archives[0]) as wheel:
        folder = f"eigensieve-{__version__}.dist-info"
        metadata = Parser().parsestr(wheel.read(f"{folder}/METADATA").decode())
        entry_points = wheel.read(f"{folder}/entry_points.txt").decode()
    assert "eigensieve = eigensieve.cli:main" in entry_points
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL"))
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= set(urls)
    classifiers = metadata.get_all("Classifier")
    assert "Typing :: Typed" in classifiers
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert "3.11" in versions and all(f'"{version}"' in workflow for version in versions)


def test_the_sdist_holds_what_git_knows_and_nothing_else(archives):
    with tarfile.open(archives[1]) as sdist:
        names = {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}
    expected = {name for name in tracked_files() if not name.startswith(".ci/")}
    assert expected - names == set()
    # a new file that git does not know yet is no stray
    assert {name for name in names - expected - {"PKG-INFO"} if "__pycache__" in name or name.endswith(".pyc")} == set()
    for wanted in ("tests/test_release.py", "docs/index.md", "CHANGELOG.md", "examples", "benchmarks"):
        assert any(name == wanted or name.startswith(f"{wanted}/") for name in names), wanted


LINK = re.compile(r"\]\(([^)]+)\)")


def test_links_of_the_readme_are_relative_in_a_clone():
    """They lead to the files beside it, on every branch and in every copy."""
    links = LINK.findall((ROOT / "README.md").read_text())
    assert links
    for link in links:
        assert (ROOT / link.partition("#")[0]).is_file(), link


def test_links_of_the_readme_are_absolute_on_the_package_index(archives):
    """The index shows the README without the files around it: wheel and sdist name the repository in each link."""
    with tarfile.open(archives[1]) as sdist:
        (info,) = (member for member in sdist.getmembers() if member.name.endswith("/PKG-INFO"))
        shown = sdist.extractfile(info)
        assert shown is not None
        text = Parser().parsestr(shown.read().decode()).get_payload()
    with zipfile.ZipFile(archives[0]) as wheel:
        metadata = wheel.read(f"eigensieve-{__version__}.dist-info/METADATA").decode()
    assert Parser().parsestr(metadata).get_payload() == text
    raw, pages = HOME.replace("github.com", "raw.githubusercontent.com") + "/main/", f"{HOME}/blob/main/"
    for link in LINK.findall(text):
        assert link.startswith(raw if link.endswith((".png", ".svg")) else pages), link
    assert text.replace(raw, "").replace(pages, "").strip() == (ROOT / "README.md").read_text().strip()


def test_nothing_is_named_that_does_not_exist_yet():
    """Before the first release: no install command by name, no badge, no page on a site."""
    pages = [path for pattern in ("*.md", "docs/**/*.md", "examples/**/*.py", "paper/*") for path in ROOT.glob(pattern)]
    early = (
        "pip install eigensieve",
        "install -U eigensieve",
        "conda install",
        "shields.io",
        ".github.io",
        "pypi.org/p",
    )
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert [words for words in (*early, HOME) if words in text] == [], path.relative_to(ROOT)


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.M))


def test_the_workflow_is_yaml_and_calls_targets_that_exist():
    yaml = pytest.importorskip("yaml", reason="comes with Dask")
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text())
        assert workflow["jobs"], path
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
                    assert target in make_targets(), f"{path.name}: make {target}"
    assert {"test", "lint", "docs", "build", "test-lowest", "newcomer"} <= make_targets()


def test_actions_are_pinned_by_commit():
    """A tag can be moved to other code; a commit cannot. The tag stands beside it."""
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        for line in path.read_text().splitlines():
            if "uses:" in line:
                assert re.search(r"uses: [\w./-]+@[0-9a-f]{40}  # v\d+(\.\d+)*$", line), f"{path.name}: {line.strip()}"


def test_the_lock_file_covers_the_development_environment():
    """Every requirement is there, in a version that pyproject.toml allows, with hashes."""
    requirements = pytest.importorskip("packaging.requirements", reason="comes with pytest")
    locked = dict(
        re.findall(r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:", (ROOT / "requirements-ci.txt").read_text(), re.M)
    )
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["dev"]]
    wanted += [line for name in re.search(r"\[(.*)\]", extras["all"][0]).group(1).split(",") for line in extras[name]]
    for line in wanted:
        if line.startswith("eigensieve["):
            continue
        requirement = requirements.Requirement(line)
        assert locked[requirement.name.lower().replace("_", "-")] in requirement.specifier, line


def test_pre_commit_runs_what_make_lint_runs():
    yaml = pytest.importorskip("yaml", reason="comes with Dask")
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M).group(1)
    commands = [line.strip().removeprefix("$(BIN)/").removesuffix(" .") for line in lint.splitlines()]
    assert [hook["entry"].removeprefix(".venv/bin/") for hook in hooks] == commands


def test_the_recipe_asks_for_what_the_project_asks_for():
    """The conda recipe repeats version and requirements of the core; here they are compared."""
    yaml = pytest.importorskip("yaml", reason="comes with Dask")
    recipe = yaml.safe_load((ROOT / "conda-recipe/recipe.yaml").read_text())
    assert recipe["context"]["version"] == __version__
    assert recipe["about"]["homepage"] == HOME
    run = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert {line for line in run if not line.startswith("python")} == set(PROJECT["dependencies"])


def test_nobody_promises_that_there_are_no_near_copies():
    """The pick puts near-copies late; it does not forbid them."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("src/**/*.html")]
    promise = re.compile(
        r"\b(no|without|free of|never|pass(es)? over) (near|almost)[- ](copies|copy|duplicates)|near-copies last", re.I
    )
    assert [str(path) for path in pages if promise.search(path.read_text(encoding="utf-8"))] == []
