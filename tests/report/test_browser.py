"""The page in a real browser: it draws, it links, it searches, and hostile names stay text."""

import csv
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from eigensieve import QAlphaSelector, SieveSelector
from eigensieve.report import Section, render, sheet, size_against_score, summarize
from report.conftest import HOSTILE, QUOTED


def marked(browser, selector="#features tbody tr.marked"):
    return browser.run(
        f"[...document.querySelectorAll({selector!r})].map(e => +e.dataset.feature).sort((a, b) => a - b)"
    )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_opens_without_a_complaint_and_without_sideways_scrolling(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.requests() == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(20, 24, 23)") == dark
    # pictures side by side begin and end at one height, and the whole table fits
    tops = browser.run("[...document.querySelectorAll('.half:not([hidden]) .plot')].map(e => e.getBoundingClientRect())"
                       ".map(b => [b.top, b.bottom])")  # fmt: skip
    assert len({tuple(top) for top in tops}) == (2 if width == 1280 else 4)
    assert browser.run("(e => e.scrollWidth <= e.clientWidth)(document.getElementById('table-box'))")
    for view in ("curve", "map", "heat", "samples", "redundancy"):
        assert browser.run(f"document.querySelectorAll('#{view} svg *').length") > 5


def test_hostile_names_are_shown_as_text(browser, page):
    browser.open(page)
    names = browser.run("[...document.querySelectorAll('#features td.wide')].map(e => e.textContent)")
    assert HOSTILE in names and QUOTED in names
    assert browser.run("document.scripts.length") == 2
    assert browser.run("document.querySelectorAll('img, main b:not(.bar b)').length") == 0
    assert browser.run("document.querySelector('h1').textContent") == "A <test> & more"
    assert browser.complaints() == []


def test_a_row_lights_up_in_every_view(browser, page):
    browser.open(page)
    feature = browser.run("+document.querySelector('#features tbody tr:nth-child(3)').dataset.feature")
    spot = browser.box("#features tbody tr:nth-child(3) td.wide")
    browser.click(spot["x"] + 5, spot["y"] + spot["height"] / 2)
    assert marked(browser) == [feature]
    assert marked(browser, "#curve .dot.marked") == [feature]
    assert marked(browser, "#map .ellipse.marked") == [feature]
    assert marked(browser, "#heat .heat-mark") == [feature]
    assert marked(browser, "#redundancy .heat-mark") == [feature]
    assert browser.run("document.getElementById('marked-bar').hidden") is False
    browser.run("document.getElementById('clear').click()")
    assert marked(browser) == [] and marked(browser, "#curve .dot.marked") == []


def test_dragging_over_the_curve_marks_rows(browser, page):
    browser.open(page)
    frame = browser.box("#curve svg")
    browser.drag(frame["x"] + 60, frame["y"] + 4, frame["x"] + frame["width"] * 0.3, frame["y"] + frame["height"] - 4)
    found = marked(browser, "#curve .dot.marked")
    assert len(found) >= 2 and marked(browser) == [f for f in found if f < 12]


def test_dragging_over_samples_marks_them_in_the_heat_map(browser, page):
    browser.open(page)
    frame = browser.box("#samples svg")
    browser.drag(frame["x"] + 3, frame["y"] + 3, frame["x"] + frame["width"] - 3, frame["y"] + frame["height"] - 3)
    assert browser.run("document.querySelectorAll('#samples .sample.marked').length") == 60
    assert browser.run("document.querySelectorAll('#heat .sample-mark').length") == 60


def test_clicking_the_correlation_marks_the_pair(browser, page):
    browser.open(page)
    frame = browser.box("#redundancy svg")
    browser.click(frame["x"] + frame["width"] * 0.95, frame["y"] + frame["height"] * 0.05)
    assert len(marked(browser)) == 2


def test_search_finds_by_part_of_a_name_and_dims_the_rest(browser, page):
    browser.open(page)
    browser.type("#search", "SCRIPT>al")
    assert browser.run("[...document.querySelectorAll('#features td.wide')].map(e => e.textContent)") == [HOSTILE]
    assert browser.run("document.querySelectorAll('#curve .dot:not(.dimmed)').length") == 1
    browser.type("#search", "gene_29")
    assert browser.run("document.querySelectorAll('#features tbody tr').length") == 11
    browser.type("#search", "nothing like it")
    assert browser.run("document.getElementById('count').textContent") == "0 of 300 features"


def test_sorting_by_name_and_back(browser, page):
    browser.open(page)
    browser.run("document.querySelectorAll('#features th')[1].click()")
    names = browser.run("[...document.querySelectorAll('#features td.wide')].map(e => e.textContent)")
    assert names == sorted(names) and len(names) == 12
    browser.run("document.querySelectorAll('#features th')[0].click()")
    ranks = browser.run("[...document.querySelectorAll('#features tbody td:first-child')].map(e => +e.textContent)")
    assert ranks == list(range(1, 13))


def test_prints_the_table_whole_and_without_controls(browser, page, tmp_path):
    browser.open(page, width=800, media="print")
    assert browser.run("getComputedStyle(document.querySelector('.tools')).display") == "none"
    assert browser.run("getComputedStyle(document.getElementById('table-box')).overflowY") == "visible"
    browser.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert browser.complaints() == []


def test_dragging_over_the_map_marks_features_everywhere(browser, page):
    browser.open(page)
    frame = browser.box("#map svg")
    browser.drag(frame["x"] + 2, frame["y"] + 2, frame["x"] + frame["width"] - 2, frame["y"] + frame["height"] - 2)
    assert len(marked(browser, "#map .ellipse.marked")) == 300
    assert marked(browser) == list(range(12)) == marked(browser, "#heat .heat-mark")


def test_an_empty_selection_opens(browser, tmp_path):
    model = QAlphaSelector(3).fit(np.random.default_rng(3).standard_normal((20, 30)))
    model.support_ = np.zeros(30, dtype=bool)
    path = tmp_path / "empty.html"
    path.write_text(render(summarize(model, np.random.default_rng(3).standard_normal((20, 30)))), encoding="utf-8")
    browser.open(path)
    assert browser.complaints() == [] and browser.run("document.getElementById('heat').hidden") is True
    assert browser.run("document.getElementById('redundancy-section').hidden") is True
    # the table shows what there is, and no card repeats that nothing was selected
    assert browser.run("document.querySelectorAll('#features tbody tr').length") == 30
    assert browser.run("document.querySelectorAll('.card').length") == 2


OVERLAPS = """(() => {
  const bad = [];
  for (const svg of document.querySelectorAll('.plot svg')) {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
    boxes.forEach(([name, a], i) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1) bad.push(name + ' leaves the picture');
      for (const [other, b] of boxes.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 0.35 * Math.min(a.height, b.height)) bad.push(name + ' over ' + other);
      }
    });
  }
  for (const card of document.querySelectorAll('.card'))
    if (card.scrollWidth > card.clientWidth) bad.push(card.textContent);
  return bad;
})()"""


@pytest.fixture(scope="module", params=[3, 20_000])
def sized(request, tmp_path_factory):
    """A table of few columns, and one of many with long names that differ in the middle only."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, request.param)).astype(np.float32)
    X[:, :10] += 3 * rng.standard_normal((4, 10))[np.arange(60) % 4, : request.param]
    X[:, 10:20] += 3 * rng.standard_normal((4, 10))[np.arange(60) // 15][:, : X[:, 10:20].shape[1]]
    names = [f"ENSG00000000{i:06d}_transcript_variant" for i in range(request.param)]
    model = QAlphaSelector(min(20, request.param), 3).fit(X)
    path = tmp_path_factory.mktemp("sized") / "report.html"
    path.write_text(render(summarize(model, X, feature_names=names)), encoding="utf-8")
    return path, request.param


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [500, 1280])
def test_nothing_overlaps_and_names_can_be_told_apart(browser, sized, width, dark):
    path, n_features = sized
    browser.open(path, width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(OVERLAPS) == []
    shown = min(20, n_features)
    for view in ("heat", "redundancy"):
        tags = browser.run(f"[...document.querySelectorAll('#{view} text.tag')].map(e => e.textContent)")
        assert len(set(tags)) == len(tags) == shown
    assert browser.run("document.getElementById('map-section').hidden") == (n_features == 3)
    ranks = browser.run("[...document.querySelectorAll('#curve text')].map(e => e.textContent)")
    assert "1" in ranks and ("3" in ranks or "10,000" in ranks)


def test_a_map_of_one_structure_is_not_drawn(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((60, 2)), 10, axis=1) + 0.1 * rng.standard_normal((60, 20))
    path = tmp_path / "report.html"
    path.write_text(render(summarize(QAlphaSelector(5, 2).fit(X), X)), encoding="utf-8")
    browser.open(path)
    assert browser.run("document.getElementById('map-section').hidden") is True
    assert browser.box("#curve svg")["width"] > 900
    assert browser.complaints() == []


def test_how_few_would_do_is_drawn(browser, page, selection, tmp_path):
    browser.open(page)
    assert browser.run("document.getElementById('panel-section').hidden")
    model = SieveSelector("fewest", random_state=0).fit(selection["X"])
    few = tmp_path / "few.html"
    few.write_text(render(summarize(model, selection["X"])), encoding="utf-8")
    browser.open(few)
    assert browser.complaints() == []
    assert browser.run("document.querySelectorAll('#panel .dot').length") == len(model.structure_shown_)
    chosen = np.count_nonzero(model.structure_shown_[:, 0] <= model.support_.sum())
    assert browser.run("document.querySelectorAll('#panel .dot.chosen').length") == chosen
    assert f"{model.support_.sum()} picks" in browser.run("document.getElementById('panel-hint').textContent")


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    """A report about a number to predict, unknown for some samples; one name needs quotes in a CSV file."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    dose = X[:, 0] + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(80)
    dose[::10] = np.nan
    names = ['a, "b"', *(f"gene_{i}" for i in range(1, 30))]
    model = SieveSelector(6).fit(X, dose)
    labels = ["no label" if np.isnan(value) else str(value) for value in dose]
    known = {"y": dose, "y_name": "dose"}
    summary = summarize(model, X, feature_names=names, labels=labels, known=known)
    path = tmp_path_factory.mktemp("regression") / "report.html"
    path.write_text(render(summary), encoding="utf-8")
    return path, summary, dose


# the colour of every sample as red, green and blue, 0 to 255
FILLS = """[...document.querySelectorAll('#samples .sample')].map(e => getComputedStyle(e).fill).map(
  fill => fill.match(/[\\d.e-]+/g).slice(0, 3).map(part => fill.startsWith("color") ? 255 * part : +part))"""


def contrast(*colours):
    """The ratio of contrast of two colours by WCAG 2.1."""
    light = []
    for colour in colours:
        parts = np.asarray(colour) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        light.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [500, 1280])
def test_samples_are_coloured_by_the_number_to_predict(browser, regression, width, dark):
    path, summary, dose = regression
    browser.open(path, width=width, dark=dark)
    assert browser.complaints() == [] and browser.run(OVERLAPS) == []
    fills = np.array(browser.run(FILLS))
    known = np.flatnonzero(~np.isnan(dose))
    ends = fills[[int(np.nanargmin(dose)), int(np.nanargmax(dose))]]
    if dark:  # all can be seen: the least contrast that WCAG 2.1 (1.4.11) allows for what is drawn
        assert min(contrast(fill, (27, 32, 31)) for fill in fills[known]) >= 3
    else:  # the first and the last colour of viridis
        np.testing.assert_allclose(ends, [(68, 1, 84), (253, 231, 37)], atol=1)
    assert len({tuple(fills[i]) for i in np.flatnonzero(np.isnan(dose))}) == 1
    words = browser.run("[...document.querySelectorAll('#samples .legend text')].map(e => e.textContent)")
    low, high = (f"{value:.4g}" for value in (np.nanmin(dose), np.nanmax(dose)))
    assert words == [f"dose: {low} to {high}", "not known"]
    assert browser.run("document.querySelectorAll('#heat .tree').length") == len(summary["heat"]["tree"]) == 5
    assert browser.run("document.querySelectorAll('#heat .strip').length") == 80
    assert "ordered by dose" in browser.run("document.getElementById('heat-hint').textContent")


def test_every_picture_and_its_figures_can_be_saved(browser, regression, tmp_path):
    path, summary, _ = regression
    browser.open(path, dark=True)
    views = browser.run("[...document.querySelectorAll('.plot')].filter(e => e.querySelector('svg')).map(e => e.id)")
    assert {"curve", "heat", "samples", "redundancy"} <= set(views)
    for view in views:
        folder = tmp_path / view
        folder.mkdir()
        button = f"document.querySelectorAll('#{view} .downloads button')"
        picture = browser.downloaded(f"{button}[0].click()", folder, f"eigensieve-{view}.svg").decode()
        root = ET.fromstring(picture)
        assert root.tag.endswith("svg") and "var(--" not in picture and "class=" not in picture
        assert root[0].get("fill").strip() == "#ffffff"  # light, although the page is dark
        rows = list(
            csv.reader(
                browser.downloaded(f"{button}[1].click()", folder, f"eigensieve-{view}.csv").decode().splitlines()
            )
        )
        assert len(rows) > 2 and len({len(row) for row in rows}) == 1
        if view == "heat":
            assert 'a, "b"' in rows[0] and len(rows) == 81
        if view == "curve":
            np.testing.assert_allclose([float(row[2]) for row in rows[1:]], summary["curve"]["weight"])
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 23)"
    assert browser.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [500, 1280])
def test_a_sheet_shows_its_cells_and_its_pictures_whole(browser, tmp_path, width, dark):
    points = [("full SVM", 99_000.0, 0.95), ("compressed", 100.0, 0.93), ("60 trees of 4 leaves", 420.0, 0.93)]
    compared = ["machine", "accuracy", "area under ROC curve", "numbers", "features", "ms per 1,000"]
    row = ["300 elements, --match decision", "0.8867", "0.9839", "49,174", "64", "125.94"]
    selectors = ["selector", "sees", "1-NN, 10", "1-NN, 50", "NMI, 10", "NMI, 50"]
    sections = [
        Section("B", ["", ""], [["name", "value"]], picture=size_against_score(points, 1, "accuracy")),
        Section("C", compared, [row]),
        Section("D", selectors, [["sieve-labels", "no labels", "0.904 ± 0.022", "0.955 ± 0.008", "0.778", "0.846"]]),
    ]
    page = sheet("A", [], sections)
    path = tmp_path / "sheet.html"
    path.write_text(page, encoding="utf-8")
    browser.open(path, width=width, dark=dark, ready="document.readyState === 'complete'")
    assert browser.complaints() == [] and browser.run(OVERLAPS) == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("[...document.querySelectorAll('td')].every(e => e.offsetWidth > 0)")
    assert browser.run("[...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= e.clientWidth)")
    saved = browser.downloaded(
        "document.querySelector('.downloads a').click()", tmp_path, "eigensieve-size-and-accuracy.svg"
    )
    assert ET.fromstring(saved).tag.endswith("svg")
