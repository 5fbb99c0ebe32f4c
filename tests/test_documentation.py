"""What the documentation shows is true: code, commands, examples and doctests run; links and navigation hold."""

import doctest
import importlib
import importlib.util
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import matplotlib.pyplot
import pytest

import eigensieve
from eigensieve.cli.app import run
from support.page_files import write_page_files

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE_BY_SPHINX = {"gallery", "generated", "_build"}
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
    if not MADE_BY_SPHINX & set(path.parts)
]
EXAMPLES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "examples").rglob("*.py"))]
WITH_DOCTESTS = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    for path in sorted((ROOT / "src").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "bash", "text", "mermaid", "{eval-rst}"}


def blocks(page: str, language: str) -> list[str]:
    return [code for name, code in FENCE.findall((ROOT / page).read_text(encoding="utf-8")) if name == language]


def pages_with(language: str) -> list[str]:
    return [page for page in PAGES if blocks(page, language)]


@pytest.fixture(scope="session")
def page_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_page_files(folder)
    return folder


@pytest.fixture
def here(page_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with the files that pages speak of; pictures are drawn, but not shown."""
    shutil.copytree(page_files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    yield tmp_path
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_its_language(page: str) -> None:
    names = {name for name, _ in FENCE.findall((ROOT / page).read_text(encoding="utf-8"))}
    assert names <= LANGUAGES, f"{page} has blocks in {names - LANGUAGES}"


@pytest.mark.parametrize("page", pages_with("python"))
def test_the_code_of_the_page_runs(page: str, here: Path) -> None:
    """The blocks of a page run one after the other, as a reader would run them."""
    names = {"__name__": "page"}
    for number, code in enumerate(blocks(page, "python"), start=1):
        exec(compile(code, f"{page}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", pages_with("bash"))
def test_the_commands_of_the_page_run(page: str, here: Path) -> None:
    for block in blocks(page, "bash"):
        for line in block.splitlines():
            check_command(line.partition(" #")[0].strip())


def check_command(line: str) -> None:
    """Run a command of eigensieve; of other commands, check that what they name exists."""
    words = shlex.split(line)
    if "|" in words or ">" in words:
        bash = f'eigensieve() {{ "{sys.executable}" -m eigensieve "$@"; }}; set -eo pipefail; {line}'
        path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            ["bash", "-c", bash], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    elif words[0] == "eigensieve":
        assert run(words[1:]) == 0, line
    elif words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert set(words[1:]) - {word for word in words if "=" in word} <= set(targets), line
    elif words[:2] == ["pip", "install"]:
        known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
        for extras in re.findall(r"\[(.*?)\]", line):
            assert set(extras.split(",")) <= set(known), line
    else:
        assert words[0] == "python", f"not known: {line}"
        script = words[2].replace(".", "/") if words[1] == "-m" else words[1]
        places = [script, f"{script}.py", f"tests/{script}.py"]
        assert any((ROOT / place).exists() for place in places) or script in sys.stdlib_module_names, line


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_runs(example: str, here: Path) -> None:
    if "import scanpy" in (ROOT / example).read_text(encoding="utf-8"):
        pytest.importorskip("scanpy")
    runpy.run_path(str(ROOT / example), run_name="__main__")


@pytest.mark.parametrize("module", WITH_DOCTESTS)
def test_the_doctests_hold(module: str, here: Path) -> None:
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0 and result.failed == 0


def headings(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(FENCE, "", text), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES)
def test_the_links_of_the_page_lead_somewhere(page: str) -> None:
    text = re.sub(FENCE, "", (ROOT / page).read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not link.startswith(("http://", "https://", "mailto:")):
            name, _, anchor = link.partition("#")
            target = ((ROOT / page).parent / name).resolve() if name else ROOT / page
            assert target.exists(), f"{page} links to {link}"
            if anchor:
                assert anchor in headings(target.read_text(encoding="utf-8")), f"{page} links to {link}"


def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    assert spec is not None and spec.loader is not None
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    return conf


def test_every_page_has_one_place_in_the_navigation() -> None:
    conf = site()
    listed = ["index.md", *(name for page in conf.LISTS for name in conf.listed(page) if name.endswith(".md"))]
    pages = [Path(page).relative_to("docs").as_posix() for page in PAGES if page.startswith("docs/")]
    assert sorted(listed) == sorted(pages)


def test_the_gallery_has_every_example() -> None:
    assert "../examples/README.rst" in site().listed("index.md")
    for example in EXAMPLES:
        first = (ROOT / example).read_text(encoding="utf-8").splitlines()[1:3]
        assert re.fullmatch(r"[=~*#-]{3,}", first[1]), f"{example} must begin with a title, underlined"


def test_the_citation_names_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert {f"version: {eigensieve.__version__}", f"license: {project['license']}"} <= set(lines)


TASKS = ["genes", "single-cells", "text", "images", "spectra", "labelled-table", "batches", "slow-svm"]
QUESTIONS = [
    "should i scale",
    "rank not",
    "are all features selected",
    "sieve or q-alpha",
    "how many",
    "other packages",
]
PEERS = ["scikit-feature", "Boruta", "mRMR", "HVG"]


def test_tasks_and_questions_have_their_pages() -> None:
    guides = site().listed("guides/index.md")
    assert guides[0] == "which-selector.md"
    assert {f"guides/{task}.md" for task in TASKS} <= set(guides)
    faq = (DOCS / "faq.md").read_text(encoding="utf-8")
    titles = " ".join(re.findall(r"^## (.*)$", faq, flags=re.MULTILINE)).lower()
    assert all(question in titles for question in QUESTIONS)
    assert all(peer in faq for peer in PEERS)


def test_which_selector_gives_the_answer_first() -> None:
    text = (DOCS / "which-selector.md").read_text(encoding="utf-8")
    assert text.split("\n\n")[1].startswith("Take `SieveSelector`")


@pytest.mark.parametrize("pages", ["guides/index.md", "how-it-works.md", "index.md"])
def test_measurements_stand_on_pages_of_their_own(pages: str) -> None:
    """A page that says what to do may quote a figure; it has no table of them."""
    measured = re.compile(r"(?<![\w.])[01]?\.\d{2,3}(?![\w.])|\d ?(ms|MB|GB|seconds)\b|\d(x|×| times)\b|±")
    for page in site().listed(pages):
        if page.endswith(".md"):
            lines = re.sub(FENCE, "", (DOCS / page).read_text(encoding="utf-8")).splitlines()
            quoted = [line for line in lines if measured.search(line)]
            assert len(quoted) <= 0.1 * len(lines), f"{page}: {quoted}"
            assert sum(line.startswith("|") and len(measured.findall(line)) > 1 for line in lines) < 3, page
