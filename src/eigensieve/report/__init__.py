"""The report about a fitted selector: model -> plain dict (`summarize`) -> one self-contained HTML page (`render`).

Read in this order:

- ``report``: the class `Report`, for notebooks and files
- ``fitted``: the attributes of a fitted selector, read in this one place
- ``summary``: collects everything the page shows into one dict of plain JSON values
- ``views``: the numbers behind the pictures (samples, heat map, redundancy, topographical map), and `Limits`
- ``texts``: the cards that say how far to trust the selection, and the paragraph for the methods section of a paper
- ``rendering``: from the dict to HTML; it knows no model
- ``sheets``: a page of tables and pictures for results that are no selection
- ``pictures``: the pictures of these pages, with their figures
- ``assets/``: page, styles and script

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
