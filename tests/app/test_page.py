"""The page in a real browser, from dropping a table to downloading the selection."""

import csv
import json
import time

import pytest

from app.conftest import csv_bytes

DROP = """(() => {{
  const data = new DataTransfer();
  data.items.add(new File([{content}], {name}));
  const event = new DragEvent("drop", {{ dataTransfer: data, bubbles: true, cancelable: true }});
  document.getElementById("drop").dispatchEvent(event);
}})()"""


def drop(browser, name="genes.csv", content=None):
    text = (csv_bytes() if content is None else content).decode()
    browser.run(DROP.format(content=json.dumps(text), name=json.dumps(name)))


def until(browser, script, seconds=90):
    deadline = time.monotonic() + seconds
    while not browser.run(script):
        state = browser.run("document.querySelector('main').innerText")
        assert time.monotonic() < deadline, f"{script}: {state}"
        time.sleep(0.1)


def choose(browser, name, value):
    browser.run(
        f"(() => {{const e = document.querySelector('#reading [name={name}]'); e.value = {json.dumps(value)};"
        "e.dispatchEvent(new Event('change', {bubbles: true}));})()"
    )


READY = "!document.getElementById('choose').hidden && !document.getElementById('start').disabled"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [500, 1280])
def test_from_drop_to_download(browser, address, tmp_path, width, dark):
    browser.open(address, width=width, dark=dark)
    drop(browser)
    until(browser, READY)
    assert "40 samples in the rows of the file, 30 features" in browser.run(
        "document.getElementById('shape').textContent"
    )
    heads = browser.run("[...document.querySelectorAll('#preview th')].map(e => e.textContent)")
    assert heads == ["sample", *(f"g{i}" for i in range(6))]
    notes = browser.run("document.getElementById('look-notes').innerText")
    assert "--" not in notes  # the page has fields where the command line has options
    choose(browser, "label", "tissue")
    choose(browser, "batch", "run")
    until(browser, "document.querySelectorAll('#preview th.known').length === 2 && " + READY)
    browser.run(
        "(() => {const e = document.getElementById('number'); e.value = 6; e.dispatchEvent(new Event('input'));})()"
    )
    browser.run("document.getElementById('start').click()")
    until(browser, "!document.getElementById('result').hidden")
    assert (
        browser.run("document.getElementById('result-text').textContent") == "6 of 30 features selected from 40 samples"
    )
    command = browser.run("document.getElementById('command').textContent")
    assert command.startswith("eigensieve select genes.csv --label=tissue --batch=run --n-features=6 --output=")
    save = "document.getElementById('save-output').click()"
    rows = list(csv.reader(browser.downloaded(save, tmp_path, "genes-selected.csv").decode().splitlines()))
    assert set(rows[0]) - {"sample", "tissue", "run"} == {f"g{i}" for i in range(6)} and len(rows) == 41
    model = browser.downloaded("document.getElementById('save-model').click()", tmp_path, "genes-model.skops")
    assert model.startswith(b"PK")
    deadline = time.monotonic() + 30
    while browser.run_in_frame("document.documentElement.dataset.ready") != "yes":
        assert time.monotonic() < deadline, "the report is not shown"
        time.sleep(0.1)
    assert browser.run_in_frame("document.title") == "Features of genes.csv"
    # the report is drawn for the width of the frame
    drawn = browser.run_in_frame("document.querySelector('svg').viewBox.baseVal.width")
    assert (drawn > 500) == (browser.run_in_frame("innerWidth") >= 760)
    # the report has no origin: its script could not reach the server's other addresses
    assert browser.run_in_frame("origin") == "null"
    assert browser.run_in_frame("fetch('../selection').then(() => 'read', () => 'refused')") == "refused"
    assert browser.run("document.documentElement.scrollWidth") <= width
    drop(browser, "other.csv")
    until(browser, "document.getElementById('drop-text').textContent === 'other.csv' && " + READY)
    assert browser.run("document.getElementById('progress').textContent") == ""
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith((address, "blob:"))] == []
    browser.screenshot(tmp_path / "page.png")


def test_a_table_of_few_columns_is_selected_as_it_is(browser, address):
    """The number that stands beside "exactly" never exceeds the columns: a form with such a number is not sent."""
    browser.open(address)
    drop(browser, "few.csv", csv_bytes(40, 7))
    until(browser, READY)
    assert browser.run("document.getElementById('number').value") == "7"
    choose(browser, "donors", "run")
    until(browser, "document.querySelectorAll('#preview th.known').length === 1 && " + READY)
    assert "donors: run" in browser.run("document.getElementById('preview').textContent")
    choose(browser, "donors", "")
    until(browser, "document.querySelectorAll('#preview th.known').length === 0 && " + READY)
    browser.run("document.getElementById('start').click()")
    until(browser, "!document.getElementById('result').hidden")
    assert "of 7 features selected from 40 samples" in browser.run("document.getElementById('result-text').textContent")


def test_a_running_selection_can_be_watched_and_stopped(browser, address):
    browser.open(address)
    drop(browser, "wide.csv", csv_bytes(300, 300))
    until(browser, READY)
    browser.run("document.getElementById('stability').click(); document.getElementById('start').click()")
    until(browser, "/subsamples|Fitting|Reading/.test(document.getElementById('progress').textContent)")
    browser.run("document.getElementById('stop').click()")
    until(browser, "document.getElementById('progress').textContent === 'Stopped. Nothing was written.'")
    assert browser.run("document.getElementById('result').hidden && !document.getElementById('start').disabled")


def test_hostile_names_and_tables_that_cannot_be_read_are_told_as_text(browser, address):
    browser.open(address)
    drop(browser, "<img src=x onerror=alert(1)>.csv", b"<b>x</b>,<script>alert(1)</script>\n1,2\n2,1\n3,5\n")
    until(browser, READY)
    heads = browser.run("[...document.querySelectorAll('#preview th')].map(e => e.textContent)")
    assert "<b>x</b>" in heads and browser.run("document.querySelectorAll('main img, main b, main script').length") == 0
    drop(browser, "picture.png", b"\x00\x01")
    until(browser, "!document.getElementById('table-problem').hidden")
    assert "picture.png" in browser.run("document.getElementById('table-problem').textContent")
