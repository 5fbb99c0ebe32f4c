"""A page of tables and pictures, for results that are no selection: comparisons, maps, compressed machines."""

import base64
import csv
import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from eigensieve._version import __version__
from eigensieve.report.pictures import Picture
from eigensieve.report.rendering import as_facts, asset, fill_page

_NUMBER = re.compile(r"[-−]?[\d,.]+( ± [\d.]+)?$|$")
_LINE = 24  # characters of a cell that stay on one line


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    title: str
    columns: Sequence[str] = ()  # heads of the table; no head where all are empty
    rows: Sequence[Sequence[object]] = ()  # cells of the table
    text: str = ""  # a sentence below the title
    picture: Picture | str = ""  # an SVG or an image element alone has no figures to save


def sheet(title: str, facts: Sequence[str], sections: Sequence[Section]) -> str:
    """Return one self-contained HTML page. The facts tell the data and how they were used, one sentence each."""
    return fill_page(
        "sheet.html",
        {
            "policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'",
            "title": html.escape(title),
            "style": asset("page.css"),
            "facts": as_facts(facts, datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), __version__),
            "sections": "".join(map(_section, sections)),
        },
    )


def _section(section: Section) -> str:
    parts = [f"<h2>{html.escape(section.title)}</h2>"]
    if section.text:
        parts.append(f"<p class='hint'>{html.escape(section.text)}</p>")
    if section.picture:
        drawn = section.picture if isinstance(section.picture, str) else _with_downloads(section.picture)
        parts.append(f"<div class='plot fit'>{drawn}</div>")
    if section.rows:
        cells = [[str(cell) for cell in row] for row in section.rows]
        kinds = ["number" if all(map(_NUMBER.match, column)) else "" for column in zip(*cells, strict=True)]
        head = f"<thead>{_line('th', section.columns, kinds)}</thead>" if any(section.columns) else ""
        body = "".join(_line("td", row, kinds) for row in cells)
        parts.append(f"<div class='scroll sheet'><table>{head}<tbody>{body}</tbody></table></div>")
    return f"<section>{''.join(parts)}</section>"


def _line(tag: str, texts: Sequence[str], kinds: list[str]) -> str:
    """Return a row. Long text may wrap; numbers, alone or with their error, stay on one line."""
    pairs = [(text, "wide" if len(text) > _LINE else kind) for text, kind in zip(texts, kinds, strict=True)]
    cells = (f"<{tag} class='{kind}'>{html.escape(text)}</{tag}>" for text, kind in pairs)
    return f"<tr>{''.join(cells)}</tr>"


def _with_downloads(picture: Picture) -> str:
    """The picture with links that save it, in light colours, and the figures behind it; they need no script."""
    lines = asset("page.css").splitlines()
    colours = lines[: lines.index("}") + 1]
    style = "".join([*colours, *(line for line in lines if line.startswith("svg "))])
    end = picture.svg.index(">") + 1
    alone = f"{picture.svg[:end]}<style>{style}</style>{picture.svg[end:]}"
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([picture.columns, *picture.rows])
    links = "".join(
        f"<a download='eigensieve-{picture.name}.{ending}' href='data:{kind};base64,"
        f"{base64.b64encode(text.encode()).decode('ascii')}'>{words}</a>"
        for ending, kind, text, words in (
            ("svg", "image/svg+xml", alone, "picture (SVG)"),
            ("csv", "text/csv", table.getvalue(), "figures (CSV)"),
        )
    )
    return f"{picture.svg}<p class='downloads'>Save: {links}</p>"
