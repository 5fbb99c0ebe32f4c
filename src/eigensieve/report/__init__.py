"""The report: fitted model -> plain dict (`summarize`) -> one self-contained HTML page (`render`)."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.report.rendering import render, render_fragment
    from eigensieve.report.report import Report
    from eigensieve.report.summary import Limits, summarize

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
