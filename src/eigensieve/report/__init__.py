"""The report about a fitted selector: model -> plain dict (`summarize`) -> one self-contained HTML page (`render`).

Read ``report``, ``fitted``, ``summary``, ``views``, ``texts`` and ``rendering`` in this order. ``sheets`` and
``pictures`` make pages of tables, for results that are no selection. ``assets/`` holds page, styles and script.

Words: *chosen* are the columns that the model selected, best first; *shown* are the features that have a row of their
own on the page; *position* is the row of a column on the page, or -1.
"""

from eigensieve.report.pictures import Picture, beside_random, ellipses, image_shape, pixels, size_against_score
from eigensieve.report.rendering import asset, render_fragment
from eigensieve.report.rendering import render as render
from eigensieve.report.report import Report as Report
from eigensieve.report.sheets import Section, sheet
from eigensieve.report.summary import summarize as summarize
from eigensieve.report.views import Limits as Limits
