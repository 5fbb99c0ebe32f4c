"""The page as text: nothing in the data can become markup, and nothing is fetched."""

import json
import re
from html.parser import HTMLParser

from eigensieve.report import Report, Section, ellipses, render, render_fragment, sheet
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
    page = sheet("<b>A</b>", ["Input: <x>"], [Section("Results", ["name", "value"], [["<i>", 1.5]], "One & two")])
    assert "<b>A</b>" not in page and "<i>" not in page and "<x>" not in page
    assert "&lt;b&gt;A&lt;/b&gt;" in page and "<td class='wide'>&lt;i&gt;</td><td class='wide'>1.5</td>" in page
    assert "One &amp; two" in page and "http" not in page.split("<style>")[1].split("</style>")[1]


def test_ellipses_are_as_many_as_features_and_names_do_not_overprint():
    centres = [(0.0, 0.0), (0.01, 0.0), (1.0, 1.0)]
    picture = ellipses(centres, [(1.0, 0.5), (0.9, 0.4), (0.5, 0.5)], ["a<b", "near a<b", "c"], [True, True, True])
    assert picture.count("<ellipse") == 3 and "rx='36.0'" in picture
    assert picture.count("<text") == 2 and ">a&lt;b</text>" in picture and ">near" not in picture.split("<text")[1]
