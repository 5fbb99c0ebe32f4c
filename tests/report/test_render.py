"""The page as text: nothing in the data can become markup, and nothing is fetched."""

import base64
import csv
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from eigensieve.report import (
    Report,
    Section,
    ellipses,
    image_shape,
    pixels,
    render,
    render_fragment,
    sheet,
    size_against_score,
)
from eigensieve.report.rendering import as_script_data


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def elements(page):
    parser = Elements()
    parser.feed(page)
    return parser.tags


def test_no_name_becomes_an_element(summary):
    tags = elements(render(summary))
    assert sum(tag == "script" for tag, _ in tags) == 2
    assert not any(tag in {"img", "b", "iframe"} for tag, _ in tags)
    assert not any(key.startswith("on") for _, attributes in tags for key in attributes)


def test_nothing_is_loaded_from_elsewhere(summary):
    page = render(summary)
    for _, attributes in elements(page):
        for key in ("src", "href"):
            assert attributes.get(key, "data:").startswith("data:")
    assert "default-src 'none'" in page and re.search(r"script-src 'sha256-[^']+'", page)


def test_the_data_block_gives_the_summary_back(summary):
    text = as_script_data(summary)
    assert "<" not in text and json.loads(text) == summary


def test_rendering_needs_nothing_but_json(summary):
    again = json.loads(json.dumps(summary))
    assert render(again) == render(summary)


def test_slots_in_names_are_not_filled(summary):
    changed = json.loads(json.dumps(summary))
    changed["features"]["names"][0] = "{{style}}"
    changed["title"] = "{{data}}"
    assert "{{style}}" in render(changed) and "<title>{{data}}</title>" in render(changed)


def test_without_javascript_the_selected_features_are_listed(summary):
    page = render(summary)
    fallback = re.search(r"<noscript>(.*?)</noscript>", page, re.S).group(1)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in fallback and fallback.count("<tr>") == 13


def test_notebook_fragment_is_static_and_escaped(summary):
    fragment = render_fragment(summary)
    tags = elements(fragment)
    assert not any(tag == "script" for tag, _ in tags)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in fragment


def test_methods_text_names_method_version_and_source(summary):
    page = render(summary)
    assert "12 of 300 features were selected with QAlphaSelector of eigensieve" in page
    assert "Journal of Machine Learning Research 6, 2005" in page


def test_a_report_shows_itself_and_saves_itself(selection, tmp_path):
    report = Report(selection["model"], selection["X"], feature_names=selection["names"])
    assert "12 of 300 features selected" in report._repr_html_() and "<script" not in report._repr_html_()
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == render(report.summary)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_sheet_shows_tables_and_keeps_names_as_text():
    section = Section("Results", ["name", "value"], [["<i>", 1.5]], "One & two")
    page = sheet("<b>A</b>", ["input: <x> (--id names another)"], [section])
    assert "<b>A</b>" not in page and "<i>" not in page and "<x>" not in page
    assert "&lt;b&gt;A&lt;/b&gt;" in page and "&lt;i&gt;</td><td class='number'>1.5</td>" in page
    assert "<li>Input: &lt;x&gt;</li>" in page  # with a capital letter, and without advice for the command line
    assert "One &amp; two" in page and "http" not in page.split("<style>")[1].split("</style>")[1]


def test_ellipses_are_as_many_as_features_and_names_do_not_overprint():
    centres = [(0.0, 0.0), (0.01, 0.0), (1.0, 1.0)]
    picture = ellipses(centres, [(1.0, 0.5), (0.9, 0.4), (0.5, 0.5)], ["a<b", "near a<b", "c"], [True, True, True])
    assert picture.svg.count("<ellipse") == 3 and "rx='36.0'" in picture.svg
    assert picture.svg.count("<text class='name") == 2 and ">a&lt;b</text>" in picture.svg
    assert ">near a<" not in picture.svg and ">near a&lt;b</text>" not in picture.svg
    assert picture.rows[0] == ["a<b", 0.0, 0.0, 1.0, 0.5, True]


POINTS = [("full SVM", 10_000.0, 0.95), ("compressed <40>", 100.0, 0.93), ("trees", 420.0, 0.93), ("line", 65.0, 0.93)]


def test_size_and_accuracy_are_where_they_belong():
    """Equal ratios of sizes are equal distances, equal differences of scores are equal distances."""
    picture = size_against_score([("a", 10, 0.5), ("b", 100, 0.7), ("c", 1_000, 0.9)], 1, "accuracy")
    dots = {}
    for tag, attributes in elements(picture.svg):
        if tag == "circle":
            dots[float(attributes["cx"])] = float(attributes["cy"]), attributes["class"]
    (x0, (y0, _)), (x1, (y1, kind)), (x2, (y2, _)) = sorted(dots.items())
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and y0 - y1 == pytest.approx(y1 - y2, abs=0.2) and y1 < y0
    assert kind == "dot chosen" and [row[3] for row in picture.rows] == [False, True, False]


def test_names_of_machines_do_not_overlap():
    places = []
    for tag, attributes in elements(size_against_score(POINTS, 1, "accuracy").svg):
        if tag == "text" and attributes.get("class") == "name":
            places.append(float(attributes["y"]))
    assert len(places) == 4 and min(abs(a - b) for i, a in enumerate(places) for b in places[:i]) >= 13


@pytest.mark.parametrize(
    ("names", "shape"),
    [
        ([f"pixel_{i}_{j}" for i in range(8) for j in range(10)], (8, 10)),
        ([f"x{i}" for i in range(64)], (8, 8)),
        ([f"{i + 1}" for i in range(784)], (28, 28)),
        ([f"x{i}" for i in range(65)], None),
        ([f"x{i}" for i in range(9)], None),
        ([f"x{2 * i}" for i in range(64)], None),
        (["gene", *(f"x{i}" for i in range(63))], None),
        ([f"pixel_{j}_{i}" for i in range(8) for j in range(10)], None),
    ],
)
def test_features_are_pixels_where_their_names_say_so(names, shape):
    assert image_shape(names) == shape


def test_pixels_stand_row_by_row_and_are_as_strong_as_their_counts():
    picture = pixels([0, 2, 0, 0, 0, 1], [f"x{i}" for i in range(6)], (2, 3))
    drawn = [a for tag, a in elements(picture.svg) if tag == "rect" and a.get("class") == "pixel"]
    side = float(drawn[0]["width"])
    assert [float(a["x"]) / side for a in drawn] == pytest.approx([1, 2], abs=1e-3)
    assert [float(a["y"]) / side for a in drawn] == pytest.approx([0, 1], abs=1e-3)
    assert [float(a["fill-opacity"]) for a in drawn] == pytest.approx([1.0, 0.575])


def test_pictures_of_a_sheet_can_be_saved_without_a_script():
    page = sheet("A", [], [Section("B", picture=size_against_score(POINTS, 1, "accuracy"))])
    links = {a["download"]: a["href"] for tag, a in elements(page) if tag == "a"}
    svg, table = (
        base64.b64decode(links[f"eigensieve-size-and-accuracy.{end}"].partition(",")[2]) for end in ("svg", "csv")
    )
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and "--chosen: #0a6b63" in root[0].text
    rows = list(csv.reader(table.decode().splitlines()))
    assert rows[0] == ["machine", "numbers", "accuracy", "chosen"] and rows[2][0] == "compressed <40>"
    assert not any(tag == "script" for tag, _ in elements(page)) and "<40>" not in page
