"""Series matrices of the Gene Expression Omnibus: a text table, and above it lines about the samples."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from eigensieve.tables.content import Source
from eigensieve.tables.errors import DataError
from eigensieve.tables.sheet import Sheet, read_with
from eigensieve.tables.table import Request, Table

_BEGIN, _END = b"!series_matrix_table_begin", b"!series_matrix_table_end"


def is_series_matrix(content: Any) -> bool:
    """Whether a text is a series matrix as the Gene Expression Omnibus has them."""
    return content[:1] == b"!" and content.find(_BEGIN) >= 0


def read_series_matrix(content: Any, request: Request, read: Callable[[Source, Request], Table]) -> Table:
    """Read a GEO series matrix: the numbers between its two marks, by `read`, and the lines above about the samples."""
    begin = content.find(_BEGIN)
    start = content.find(b"\n", begin) + 1
    end = content.rfind(_END)
    body = content[start : end if end > start else len(content)]
    if body.count(b"\n") < 2 or not start:
        raise DataError(
            f"'{request.path}' is a GEO series matrix without numbers: they are in supplementary files of the series. "
            "Download those."
        )
    sheet = Sheet("the head of the series matrix", _about_samples(bytes(content[:begin])))
    samples = "columns" if request.samples == "auto" else request.samples
    text = replace(request, ending=".tsv", samples=samples, header=True, comment=None)
    return read_with(sheet, text, lambda rest: read(io.BytesIO(body), rest))


def _about_samples(head: bytes) -> dict[str, list[str]]:
    """What the lines ``!Sample_...`` say, by name. Characteristics such as "tissue: liver" are called "tissue"."""
    lines = [line for line in head.decode("utf-8", "replace").splitlines() if line.startswith("!Sample_")]
    columns: dict[str, list[str]] = {}
    for name, *cells in csv.reader(lines, delimiter="\t"):
        for place, cell in enumerate(cells):
            what, mark, value = cell.partition(": ")
            if "characteristics" not in name or not mark:
                what, value = name.removeprefix("!Sample_"), cell
            columns.setdefault(what, [""] * len(cells))[place : place + 1] = [value.strip()]
    width = max(map(len, columns.values()), default=0)
    return {name: [*cells, *[""] * width][:width] for name, cells in columns.items()}
