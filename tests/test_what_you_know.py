"""The page about what the user knows, and its example, run as they stand."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_code_of_the_page_runs() -> None:
    page = (ROOT / "docs" / "what-you-know.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    exec(compile(code, "what-you-know.md", "exec"), {"__name__": "page"})


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "what_you_know.py"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["the", "runs", "10", "of", "10"]
    assert lines[8].endswith("A B C 1A 2B 3C")
