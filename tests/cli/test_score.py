"""``eigensieve score``: panels from files or names, their worth in a table, a page and JSON."""

import json

import numpy as np
import pandas as pd
import pytest

from eigensieve import score_panel


@pytest.fixture
def panels(tmp_path):
    """g0 to g5 tell the labels apart; the others are noise."""
    (tmp_path / "true.txt").write_text("g0\ng1\n\ng2\ng40\ng41\n")
    (tmp_path / "noise.csv").write_text("Gene\ng30\ng31\ng32\n")
    return ["--panel", tmp_path / "true.txt", "--panel", tmp_path / "noise.csv"]


def test_a_panel_stands_beside_the_best_and_random_ones(cli, table, values, panels):
    frame = pd.DataFrame(np.loadtxt(table, delimiter=",", skiprows=1, usecols=range(2, 62)))
    frame.columns = [f"g{i}" for i in range(60)]
    code, out, err = cli("score", table, "--label", "tissue", *panels, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["best"] == ["true"] and [row["panel"] for row in found["panels"]] == ["true", "noise"]
    y = np.repeat(["a", "b"], 20)
    for row, names in zip(found["panels"], (["g0", "g1", "g2", "g40", "g41"], ["g30", "g31", "g32"]), strict=True):
        expected = score_panel(frame, names, y).figures()
        assert {key: row[key] for key in expected} == pytest.approx(expected)
    assert found["panels"][0]["p_value"] <= 0.05 < found["panels"][1]["p_value"]


def test_the_table_on_the_terminal_says_what_to_do(cli, table, panels):
    code, out, _ = cli("score", table, "--drop", "tissue", *panels, "-p", "g3,g4")
    assert code == 0
    assert "share of the structure" in out and "panel 3" in out and "sieve's pick" in out
    assert "noise: adds nothing: " in out and "add next: " in out
    assert any(words in out for words in ("shows most", "show most"))
    code, out, _ = cli("score", table, "--drop", "tissue", "-p", "g3,g4")
    assert code == 0 and "most" not in out


def test_table_and_page_are_written(cli, table, panels, tmp_path):
    code, _, err = cli("score", table, "-l", "tissue", *panels, "-o", tmp_path / "o.csv", "-r", tmp_path / "r.html")
    assert code == 0, err
    written = pd.read_csv(tmp_path / "o.csv")
    assert written["panel"].tolist() == ["true", "noise"] and written["n_features"].tolist() == [5, 3]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("class='dot chosen'") >= 2 and "Panels beside random panels" in page and "What to do" in page
    assert page.count("<circle class='dot'") >= 2 * 199


def test_the_seed_and_batches_are_used(cli, values, tmp_path):
    frame = pd.DataFrame(values[:, :20].copy(), columns=[f"g{i}" for i in range(20)])
    frame["run"] = np.arange(len(frame)) % 2
    frame.iloc[::2, 10:20] += 9
    frame.to_csv(tmp_path / "runs.csv", index=False)
    scores = {}
    for name, more in {"plain": ["--drop", "run"], "batch": ["--batch", "run"]}.items():
        code, out, err = cli("score", tmp_path / "runs.csv", *more, "-p", "g10,g11,g12", "--seed", 3, "--json")
        assert code == 0, err
        scores[name] = json.loads(out)["panels"][0]["score"]
    assert scores["batch"] < scores["plain"] - 0.1


def test_donors_do_not_tell_themselves(cli, tmp_path):
    rng = np.random.default_rng(0)
    donors = np.repeat(np.arange(12), 5)
    frame = pd.DataFrame(rng.standard_normal((12, 10))[donors] + 0.05 * rng.standard_normal((60, 10)))
    frame.columns = [f"g{i}" for i in range(10)]
    frame["donor"], frame["yield"] = donors, rng.standard_normal(12)[donors]
    frame.to_csv(tmp_path / "donors.csv", index=False)
    options = ["--label", "yield", "-p", "g0,g1,g2", "--json"]
    scores = []
    for more in (["--drop", "donor"], ["--donors", "donor"]):
        code, out, err = cli("score", tmp_path / "donors.csv", *options, *more)
        assert code == 0, err
        scores.append(json.loads(out)["panels"][0]["score"])
    assert scores[0] > 0.9 and scores[1] < 0.3


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "--panel"),
        (["-p", "g0,nobody"], 3, "--panel g0,nobody names 'nobody', which is no feature of the input"),
        (["-p", ""], 3, "names no feature"),
        (["-p", "g0", "-p", "g0"], 2, "the same panel twice"),
        (["-p", "g0", "-o", "o.doc"], 2, "must end in one of"),
        (["-p", ",".join(f"gene{i}" for i in range(200))], 3, "names 'gene0'"),
    ],
)
def test_impossible_requests_are_refused(cli, table, options, code, message):
    found, _, err = cli("score", table, *options)
    assert found == code and message in " ".join(err.split()) and "report it" not in err


def test_a_panel_file_is_never_replaced(cli, table, panels):
    code, _, err = cli("score", table, *panels, "-o", panels[3], "-f")
    assert code == 4 and "would replace the input" in err
