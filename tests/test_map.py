"""The map in CONTRIBUTING.md shows the packages and imports as they are."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_map_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_map", ROOT / "docs" / "make_map.py")
    assert spec is not None and spec.loader is not None
    make_map = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_map)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert make_map.with_map(page) == page, "run: python docs/make_map.py"
