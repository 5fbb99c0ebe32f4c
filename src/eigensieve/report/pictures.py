"""Pictures as SVG without a script, each with the figures behind it: for pages of tables."""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WIDE, _HIGH = 500, 380  # a phone shows them hardly smaller
_LABELS = 12
_MANY = 60  # ellipses of more features than this are smaller
_LEAST_PIXELS = 64
_NAME = 26  # characters of the name of a panel that are shown


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
    shapes: tuple[list[str], list[str]] = ([], [])  # those that are not chosen lie below
    labels: list[str] = []
    taken: list[tuple[float, float]] = []
    for i in order:
        x = pad + (_WIDE - 2 * pad) * (centres[i][0] - low[0]) / span[0]
        y = _HIGH - pad - (_HIGH - 2 * pad) * (centres[i][1] - low[1]) / span[1]
        rx, ry = (shrunk * (2.0 + 34.0 * size / largest) for size in sizes[i])
        kind = "ellipse chosen" if chosen[i] else "ellipse"
        place = f"cx='{x:.1f}' cy='{y:.1f}' rx='{rx:.1f}' ry='{ry:.1f}'"
        shapes[chosen[i]].append(f"<ellipse class='{kind}' {place}><title>{html.escape(names[i])}</title></ellipse>")
        free = all(abs(x - other[0]) > 90 or abs(y - other[1]) > 13 for other in taken)
        if chosen[i] and len(taken) < _LABELS and free:
            taken.append((x, y))
            labels.append(_text(min(max(x, 55.0), _WIDE - 55.0), y, _cut(names[i], 18), "middle", "name halo"))
    columns = ["feature", "direction_1", "direction_2", "relevance_1", "relevance_2", "selected"]
    rows = [[names[i], *centres[i], *sizes[i], chosen[i]] for i in order]
    axes = [
        f"<path class='axis' d='M20 8V{_HIGH - 22}H{_WIDE - 8}'/>",
        _text(_WIDE / 2, _HIGH - 8, "direction in round 1"),
        _upright(12, "direction in round 2"),
    ]
    svg = _svg(_WIDE, _HIGH, "Map of the features", [*axes, *shapes[0], *shapes[1], *labels])
    return Picture("map", svg, columns, rows)


def size_against_score(points: Sequence[tuple[str, float, float]], chosen: int, score: str) -> Picture:
    """Return one dot per machine: the numbers it stores, on a logarithmic scale, and its score; one is emphasised."""
    left, right, top, bottom = 48, 24, 30, 44
    exponents = [math.log10(max(1.0, size)) for _, size, _ in points]
    scores = [value for _, _, value in points]
    low, high = math.floor(min(exponents)), math.ceil(max(exponents) + 1e-9)
    ticks = _ticks(min(scores) - 0.02, min(1.0, max(scores) + 0.02))
    least, most = ticks[0], ticks[-1]

    def at(exponent: float, value: float) -> tuple[float, float]:
        x = left + (_WIDE - left - right) * (exponent - low) / max(high - low, 1)
        return x, _HIGH - bottom - (_HIGH - bottom - top) * (value - least) / (most - least)

    parts = [f"<path class='axis' d='M{left} {top}V{_HIGH - bottom}H{_WIDE - right}'/>"]
    for value in ticks:
        y = at(low, value)[1]
        parts.append(f"<line class='grid' x1='{left}' x2='{_WIDE - right}' y1='{y:.1f}' y2='{y:.1f}'/>")
        parts.append(_text(left - 6, y + 4, f"{value:g}", "end"))
    parts += [_text(at(power, least)[0], _HIGH - bottom + 16, f"{10**power:,}") for power in range(low, high + 1)]
    parts.append(_text((left + _WIDE) / 2, _HIGH - 8, "numbers stored"))
    parts.append(_upright(12, score))
    places = [at(*pair) for pair in zip(exponents, scores, strict=True)]
    parts += _dots([name for name, _, _ in points], places, chosen, top - 18, _HIGH - bottom)
    rows = [[*point, number == chosen] for number, point in enumerate(points)]
    svg = _svg(_WIDE, _HIGH, f"{score} against size", parts)
    return Picture("size-and-accuracy", svg, ["machine", "numbers", score, "chosen"], rows)


def beside_random(panels: Sequence[tuple[str, float, float, float, Sequence[float]]], measure: str) -> Picture:
    """Return one row per panel. A panel is its name, score, standard error, best score and random scores."""
    left = 14 + 5.6 * min(_NAME, max(len(name) for name, *_ in panels))
    right, row = 20, 38
    spans = [(max(0.0, score - 2 * error), min(1.0, score + 2 * error)) for _, score, error, _, _ in panels]
    values = [value for _, score, _, best, draws in panels for value in (score, best, *draws)]
    values += [end for span in spans for end in span]
    ticks = _ticks(min(values), max(values))
    bottom = 10 + row * len(panels)

    def at(value: float) -> float:
        return left + (_WIDE - left - right) * (value - ticks[0]) / (ticks[-1] - ticks[0])

    parts = [f"<path class='axis' d='M{left:.1f} {bottom}H{_WIDE - right}'/>"]
    for tick in ticks:
        parts.append(f"<line class='grid' x1='{at(tick):.1f}' x2='{at(tick):.1f}' y1='10' y2='{bottom}'/>")
        parts.append(_text(at(tick), bottom + 15, f"{tick:g}"))
    parts.append(_text((left + _WIDE - right) / 2, bottom + 32, measure))
    for number, (name, score, _, best, draws) in enumerate(panels):
        y = 10 + row * (number + 0.5)
        parts.append(_text(left - 8, y + 4, _cut(name, _NAME), "end", "name"))
        parts += [f"<circle class='dot' cx='{at(value):.1f}' cy='{y + 9:.1f}' r='2'/>" for value in draws]
        parts.append(f"<path class='pick' d='M{at(best):.1f} {y - 14:.1f}l8 8l-8 8l-8 -8z'/>")
        first, last = (f"{at(end):.1f}" for end in spans[number])
        parts.append(f"<path stroke='currentColor' d='M{first} {y - 6:.1f}H{last}'/>")
        parts.append(f"<circle class='dot chosen' cx='{at(score):.1f}' cy='{y - 6:.1f}' r='4'/>")
    rows = [[name, score, error, best, *draws] for name, score, error, best, draws in panels]
    heads = ["panel", "score", "standard_error", "best_score"]
    heads += [f"random_{number + 1}" for number in range(len(panels[0][-1]))]
    return Picture("panels", _svg(_WIDE, bottom + 42, "Panels beside random panels", parts), heads, rows)


def _dots(names: list[str], places: list[tuple[float, float]], chosen: int, top: float, bottom: float) -> list[str]:
    """Draw dots with their names: the chosen one first, each name as near to its dot as the others leave room."""
    lines, dots, taken = [], [], [(x - 6, x + 6, y) for x, y in places]
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
        lines.append(f"<line class='tree' x1='{x:.1f}' y1='{y:.1f}' x2='{start:.1f}' y2='{height:.1f}'/>")
        dots.append(f"<circle class='dot{kind}' cx='{x:.1f}' cy='{y:.1f}' r='{6 if kind else 4}'/>")
        dots.append(_text(start, height + 4, names[number], "start" if after else "end", "name"))
    return [*lines, *reversed(dots)]


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, evenly spaced, from at most `low` to at least `high`: three to eight of them."""
    rough = max(high - low, 1e-6) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
    return [round(number * step, 9) for number in range(math.floor(low / step), math.ceil(high / step) + 1)]


def _cut(name: str, length: int) -> str:
    return name if len(name) <= length else f"{name[: length - 1]}…"


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


def _upright(x: float, words: str) -> str:
    return f"<text transform='translate({x} {_HIGH / 2}) rotate(-90)' text-anchor='middle'>{words}</text>"


def _svg(width: float, height: float, about: str, parts: Sequence[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' role='img'"
    return f"{head} aria-label='{html.escape(about)}' style='width:{width:g}px;max-width:100%'>{''.join(parts)}</svg>"
