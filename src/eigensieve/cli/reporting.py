"""From a fitted selector to the report file, with the extra fits the page shows."""

from pathlib import Path
from typing import Any

from eigensieve.cli.console import Console


def write_report(
    path: Path,
    console: Console,
    model: Any,
    X: Any,
    **details: Any,
) -> None:
    """Summarise the model and write the page; `details` goes to :func:`eigensieve.report.summarize`."""
    from eigensieve.report import render, summarize

    with console.working("Drawing the report"):
        summary = summarize(model, X, **details)
    path.write_text(render(summary), encoding="utf-8")
