"""Fixtures: a selection with hostile names, its page, and a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigensieve import QAlphaSelector
from eigensieve.report import render, summarize
from report.chromium import Chromium, find_chromium

HOSTILE = "<script>alert(1)</script>"
QUOTED = 'it\'s "quoted" & <b>bold</b> 🧬'


@pytest.fixture(scope="session")
def selection() -> dict[str, Any]:
    """60 samples in two groups, 300 features of which 12 matter; two of these have hostile names."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 300))
    X[:30, :12] += 3.0
    X[::2, 20:32] += 1.5  # another structure, weaker: the map has two to show
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(60)
    names = [f"gene_{i}" for i in range(300)]
    names[0], names[1] = HOSTILE, QUOTED
    model = QAlphaSelector(12, n_clusters=2).fit(X)
    labels = ["a"] * 30 + ["</script><b>b"] * 30
    return {"model": model, "X": X, "names": names, "labels": labels}


@pytest.fixture(scope="session")
def summary(selection: dict[str, Any]) -> dict[str, Any]:
    return summarize(
        selection["model"],
        selection["X"],
        feature_names=selection["names"],
        sample_ids=[f"s{i}" for i in range(60)],
        labels=selection["labels"],
        title="A <test> & more",
        source={"name": "<img src=x onerror=alert(1)>", "labels": "class"},
    )


@pytest.fixture(scope="session")
def page(summary: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(summary), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("Chromium is not installed (Debian package 'chromium'): the page is not tested in a browser")
    chromium = Chromium(program)
    yield chromium
    chromium.close()
