"""The report: fitted model -> plain dict (`summarize`) -> one self-contained HTML page (`render`)."""

from eigensieve.report._render import render, render_fragment
from eigensieve.report._report import Report
from eigensieve.report._summary import Limits, summarize

__all__ = ["Limits", "Report", "render", "render_fragment", "summarize"]
