"""A page of tables and pictures, for results that are no selection: comparisons, maps, compressed machines."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from eigensieve._version import __version__
from eigensieve.report.rendering import asset, fill_page

_PLOT = 560
_LABELS = 12


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    title : str
    columns : sequence of str
        Heads of the table; no head where all are empty.
    rows : sequence of sequences
        Cells of the table.
    text : str
        A sentence below the title.
    picture : str
        SVG, as :func:`ellipses` returns it.
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    text: str = ""
    picture: str = ""


def sheet(title: str, facts: Sequence[str], sections: Sequence[Section]) -> str:
    """Return one self-contained HTML page.

    Parameters
    ----------
    title : str
    facts : sequence of str
        What was done with which data.
    sections : sequence of Section
    """
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    every = [*facts, made, f"eigensieve {__version__}"]
    return fill_page(
        "sheet.html",
        {
            "policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'",
            "title": html.escape(title),
            "style": asset("page.css"),
            "facts": "".join(f"<li>{html.escape(fact)}</li>" for fact in every),
            "sections": "".join(map(_section, sections)),
        },
    )


def _section(section: Section) -> str:
    parts = [f"<h2>{html.escape(section.title)}</h2>"]
    if section.text:
        parts.append(f"<p class='hint'>{html.escape(section.text)}</p>")
    if section.picture:
        parts.append(f"<div class='plot'>{section.picture}</div>")
    if section.rows:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in section.columns)
        body = "".join(
            "<tr>" + "".join(f"<td class='wide'>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in section.rows
        )
        head = f"<thead><tr>{head}</tr></thead>" if any(section.columns) else ""
        parts.append(f"<div class='scroll sheet'><table>{head}<tbody>{body}</tbody></table></div>")
    return f"<section>{''.join(parts)}</section>"


def ellipses(
    centres: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    names: Sequence[str],
    chosen: Sequence[bool],
) -> str:
    """Return SVG with one ellipse per feature; the largest that are chosen carry their names.

    Parameters
    ----------
    centres : sequence of pairs
        Coordinates in the two rounds.
    sizes : sequence of pairs
        Relevance in the two rounds.
    names : sequence of str
    chosen : sequence of bool
    """
    wide, high, pad = _PLOT, 400, 40
    low = [min(point[axis] for point in centres) for axis in (0, 1)]
    span = [max(point[axis] for point in centres) - low[axis] or 1.0 for axis in (0, 1)]
    largest = max(max(size) for size in sizes) or 1.0
    order = sorted(range(len(names)), key=lambda i: -sizes[i][0] * sizes[i][1])
    shapes: list[str] = []
    labels: list[str] = []
    taken: list[tuple[float, float]] = []
    for i in order:
        x = pad + (wide - 2 * pad) * (centres[i][0] - low[0]) / span[0]
        y = high - pad - (high - 2 * pad) * (centres[i][1] - low[1]) / span[1]
        rx, ry = (2.0 + 34.0 * size / largest for size in sizes[i])
        kind = "ellipse chosen" if chosen[i] else "ellipse"
        shapes.append(f"<ellipse class='{kind}' cx='{x:.1f}' cy='{y:.1f}' rx='{rx:.1f}' ry='{ry:.1f}'>")
        shapes.append(f"<title>{html.escape(names[i])}</title></ellipse>")
        free = all(abs(x - other[0]) > 90 or abs(y - other[1]) > 13 for other in taken)
        if chosen[i] and len(taken) < _LABELS and free:
            taken.append((x, y))
            name = names[i] if len(names[i]) <= 18 else names[i][:17] + "…"
            at = min(max(x, 55.0), wide - 55.0)
            labels.append(
                f"<text class='name' x='{at:.1f}' y='{y:.1f}' text-anchor='middle'>{html.escape(name)}</text>"
            )
    return f"<svg viewBox='0 0 {wide} {high}' role='img'>{''.join(shapes)}{''.join(labels)}</svg>"
