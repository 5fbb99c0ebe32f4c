"""Pictures as SVG without a script, each with the figures behind it: for pages of tables."""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WIDE, _HIGH = 560, 400
_LABELS = 12
_MANY = 60  # ellipses of more features than this are smaller
_LEAST_PIXELS = 64


@dataclass(frozen=True)
class Picture:
    """A picture and its figures."""

    name: str  # of the files to save, without an ending
    svg: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]  # the figures that are drawn


def ellipses(
    centres: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    names: Sequence[str],
    chosen: Sequence[bool],
) -> Picture:
    """Return one ellipse per feature, by coordinates and relevance in two rounds; the largest chosen are named."""
    pad = 40
    low = [min(point[axis] for point in centres) for axis in (0, 1)]
    span = [max(point[axis] for point in centres) - low[axis] or 1.0 for axis in (0, 1)]
    largest = max(max(size) for size in sizes) or 1.0
    shrunk = min(1.0, (_MANY / len(names)) ** (1 / 3))
    order = sorted(range(len(names)), key=lambda i: -sizes[i][0] * sizes[i][1])
    shapes: list[str] = []
    labels: list[str] = []
    taken: list[tuple[float, float]] = []
    for i in order:
        x = pad + (_WIDE - 2 * pad) * (centres[i][0] - low[0]) / span[0]
        y = _HIGH - pad - (_HIGH - 2 * pad) * (centres[i][1] - low[1]) / span[1]
        rx, ry = (shrunk * (2.0 + 34.0 * size / largest) for size in sizes[i])
        kind = "ellipse chosen" if chosen[i] else "ellipse"
        shapes.append(f"<ellipse class='{kind}' cx='{x:.1f}' cy='{y:.1f}' rx='{rx:.1f}' ry='{ry:.1f}'>")
        shapes.append(f"<title>{html.escape(names[i])}</title></ellipse>")
        free = all(abs(x - other[0]) > 90 or abs(y - other[1]) > 13 for other in taken)
        if chosen[i] and len(taken) < _LABELS and free:
            taken.append((x, y))
            name = names[i] if len(names[i]) <= 18 else names[i][:17] + "…"
            labels.append(_text(min(max(x, 55.0), _WIDE - 55.0), y, name, "middle", "name"))
    columns = ["feature", "direction_1", "direction_2", "relevance_1", "relevance_2", "selected"]
    rows = [[names[i], *centres[i], *sizes[i], chosen[i]] for i in order]
    return Picture("map", _svg(_WIDE, _HIGH, "Map of the features", [*shapes, *labels]), columns, rows)


def size_against_score(points: Sequence[tuple[str, float, float]], chosen: int, score: str) -> Picture:
    """Return one dot per machine: the numbers it stores, on a logarithmic scale, and its score; one is emphasised."""
    left, right, top, bottom = 56, 32, 16, 44
    exponents = [math.log10(max(1.0, size)) for _, size, _ in points]
    scores = [value for _, _, value in points]
    low, high = math.floor(min(exponents)), math.ceil(max(exponents) + 1e-9)
    pad = 0.1 * (max(scores) - min(scores)) or 0.05
    least, most = min(scores) - pad, max(scores) + pad

    def at(exponent: float, value: float) -> tuple[float, float]:
        x = left + (_WIDE - left - right) * (exponent - low) / max(high - low, 1)
        return x, _HIGH - bottom - (_HIGH - bottom - top) * (value - least) / (most - least)

    parts = [f"<path class='axis' d='M{left} {top}V{_HIGH - bottom}H{_WIDE - right}'/>"]
    for step in range(5):
        value = least + (most - least) * step / 4
        y = at(low, value)[1]
        parts.append(f"<line class='grid' x1='{left}' x2='{_WIDE - right}' y1='{y:.1f}' y2='{y:.1f}'/>")
        parts.append(_text(left - 6, y + 4, f"{value:.3f}", "end"))
    parts += [_text(at(power, least)[0], _HIGH - bottom + 16, f"{10**power:,}") for power in range(low, high + 1)]
    parts.append(_text((left + _WIDE) / 2, _HIGH - 8, "numbers stored"))
    parts.append(f"<text transform='translate(12 {_HIGH / 2}) rotate(-90)' text-anchor='middle'>{score}</text>")
    places = [at(*pair) for pair in zip(exponents, scores, strict=True)]
    parts += _dots([name for name, _, _ in points], places, chosen, top, _HIGH - bottom)
    rows = [[*point, number == chosen] for number, point in enumerate(points)]
    svg = _svg(_WIDE, _HIGH, f"{score} against size", parts)
    return Picture("size-and-accuracy", svg, ["machine", "numbers", score, "chosen"], rows)


def beside_random(panels: Sequence[tuple[str, float, float, float, Sequence[float]]], measure: str) -> Picture:
    """Return one row per panel. A panel is its name, score, standard error, best score and random scores."""
    left, right, row = 170, 20, 38
    spans = [(max(0.0, score - 2 * error), min(1.0, score + 2 * error)) for _, score, error, _, _ in panels]
    values = [value for _, score, _, best, draws in panels for value in (score, best, *draws)]
    values += [end for span in spans for end in span]
    low, high = math.floor(10 * min(values)), max(math.ceil(10 * max(values)), math.floor(10 * min(values)) + 1)
    bottom = 10 + row * len(panels)

    def at(value: float) -> float:
        return left + (_WIDE - left - right) * (10 * value - low) / (high - low)

    parts = [f"<path class='axis' d='M{left} {bottom}H{_WIDE - right}'/>"]
    for tick in range(low, high + 1):
        parts.append(f"<line class='grid' x1='{at(tick / 10):.1f}' x2='{at(tick / 10):.1f}' y1='10' y2='{bottom}'/>")
        parts.append(_text(at(tick / 10), bottom + 15, f"{tick / 10:.1f}"))
    parts.append(_text((left + _WIDE - right) / 2, bottom + 32, measure))
    for number, (name, score, _, best, draws) in enumerate(panels):
        y = 10 + row * (number + 0.5)
        parts.append(_text(left - 8, y + 4, name if len(name) <= 26 else f"{name[:25]}…", "end", "name"))
        parts += [f"<circle class='dot' cx='{at(value):.1f}' cy='{y + 9:.1f}' r='2'/>" for value in draws]
        parts.append(f"<path class='ellipse' d='M{at(best):.1f} {y - 14:.1f}l8 8l-8 8l-8 -8z'/>")
        first, last = (f"{at(end):.1f}" for end in spans[number])
        parts.append(f"<path stroke='currentColor' d='M{first} {y - 6:.1f}H{last}'/>")
        parts.append(f"<circle class='dot chosen' cx='{at(score):.1f}' cy='{y - 6:.1f}' r='4'/>")
    rows = [[name, score, error, best, *draws] for name, score, error, best, draws in panels]
    heads = ["panel", "score", "standard_error", "best_score"]
    heads += [f"random_{number + 1}" for number in range(len(panels[0][-1]))]
    return Picture("panels", _svg(_WIDE, bottom + 42, "Panels beside random panels", parts), heads, rows)


def _dots(names: list[str], places: list[tuple[float, float]], chosen: int, top: float, bottom: float) -> list[str]:
    """Draw dots with their names: the chosen one first, each name as near to its dot as the others leave room."""
    parts, taken = [], [(x - 6, x + 6, y) for x, y in places]
    for number in sorted(range(len(names)), key=lambda i: (i != chosen, places[i][1])):
        x, y = places[number]
        after, wide = x < _WIDE / 2, 6.2 * len(names[number])
        first, last = (x + 9, x + 9 + wide) if after else (x - 9 - wide, x - 9)
        shifts = sorted((5 * k for k in range(-40, 41)), key=abs)
        inside = [y + shift for shift in shifts if top + 8 <= y + shift <= bottom - 6]
        free = (at for at in inside if all(last < a or first > b or abs(at - other) >= 13 for a, b, other in taken))
        height = next(free, y)
        taken.append((first, last, height))
        kind = " chosen" if number == chosen else ""
        start = x + 9 if after else x - 9
        parts.append(f"<line class='grid' x1='{x:.1f}' y1='{y:.1f}' x2='{start:.1f}' y2='{height:.1f}'/>")
        parts.append(f"<circle class='dot{kind}' cx='{x:.1f}' cy='{y:.1f}' r='{6 if kind else 4}'/>")
        parts.append(_text(start, height + 4, names[number], "start" if after else "end", "name"))
    return parts


def image_shape(names: Sequence[str]) -> tuple[int, int] | None:
    """Return height and width where the names say that features are the pixels of an image, row by row.

    Two numbers in a name are row and column. One number in each, a square number of them in a row, is a square image.
    """
    found = [re.fullmatch(r"\D*(\d+)(?:\D+(\d+))?\D*", name) for name in names]
    if len(names) < _LEAST_PIXELS or not all(found):
        return None
    numbers = [tuple(int(part) for part in match.groups() if part is not None) for match in found if match]
    first, last = numbers[0], numbers[-1]
    if {len(each) for each in numbers} == {2}:
        height, width = last[0] - first[0] + 1, last[1] - first[1] + 1
        grid = [(first[0] + i, first[1] + j) for i in range(height) for j in range(width)]
        return (height, width) if numbers == grid else None
    side = math.isqrt(len(names))
    runs = numbers == [(first[0] + i,) for i in range(len(names))]
    return (side, side) if runs and side * side == len(names) else None


def pixels(counts: Sequence[float], names: Sequence[str], shape: tuple[int, int]) -> Picture:
    """Return an image of the features, of some height and width, each pixel as strong as its count."""
    height, width = shape
    largest, side = max(counts) or 1.0, 280 / max(shape)
    parts = [f"<rect class='axis' x='0' y='0' width='{side * width:.1f}' height='{side * height:.1f}'/>"]
    for number, count in enumerate(counts):
        if count:
            y, x = divmod(number, width)
            parts.append(
                f"<rect class='pixel' x='{side * x:.2f}' y='{side * y:.2f}' width='{side:.2f}' height='{side:.2f}' "
                f"fill-opacity='{0.15 + 0.85 * count / largest:.3f}'>"
                f"<title>{html.escape(names[number])}: {count:g}</title></rect>"
            )
    svg = _svg(side * width, side * height, "Pixels that are read", parts)
    return Picture("pixels", svg, ["feature", "elements"], list(zip(names, counts, strict=True)))


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    named = f" class='{kind}'" if kind else ""
    return f"<text{named} x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{html.escape(words)}</text>"


def _svg(width: float, height: float, about: str, parts: Sequence[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' role='img'"
    return f"{head} aria-label='{html.escape(about)}' style='width:{width:g}px;max-width:100%'>{''.join(parts)}</svg>"
