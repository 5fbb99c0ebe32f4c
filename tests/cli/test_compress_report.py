"""The report of ``compress``: size against accuracy, and the pixels that are read where features are pixels."""

import csv
import re
from base64 import b64decode

import numpy as np


def saved(page, name):
    """A file that a link of the page saves."""
    found = re.search(rf"download='eigensieve-{name}' href='data:[^,]*,([^']*)'", page)
    return None if found is None else b64decode(found.group(1)).decode()


def test_the_picture_shows_the_machines_of_the_table(cli, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 64))
    y = np.where(X[:, 10] + X[:, 20] > 0, "a", "b")
    names = [f"pixel_{i}_{j}" for i in range(8) for j in range(8)]
    lines = [",".join([*names, "y"]), *(",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True))]
    table, report = tmp_path / "t.csv", tmp_path / "r.html"
    table.write_text("\n".join(lines) + "\n")
    assert cli("compress", table, "--label", "y", "-e", 12, "--no-compare", "--report", report, "-q")[0] == 0
    page = report.read_text()
    rows = list(csv.DictReader(saved(page, "size-and-accuracy.csv").splitlines()))
    assert [row["machine"] for row in rows] == ["full SVM", "compressed"]
    assert [row["chosen"] for row in rows] == ["False", "True"]
    assert float(rows[1]["numbers"]) < float(rows[0]["numbers"])
    counts = [int(row["elements"]) for row in csv.DictReader(saved(page, "pixels.csv").splitlines())]
    assert len(counts) == 64 and sum(counts) == 12
    assert page.count("class='pixel'") == sum(count > 0 for count in counts)
