"""Times to an event on the command line: two columns, of the table or of a sheet."""

import json

import numpy as np
import pandas as pd
import pytest

from eigensieve import SieveSelector, score_panel


@pytest.fixture
def files(tmp_path):
    """Samples whose hazard follows the first three of 40 features, and a sheet with their times; one is missing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 40))
    time, censored = rng.exponential(np.exp(-X[:, :3] @ [1.0, -1.0, 0.8])), rng.exponential(2.0, 120)
    features = pd.DataFrame(X.round(3)).add_prefix("g")
    features.insert(0, "id", [f"s{i}" for i in range(120)])
    sheet = pd.DataFrame({"sample": features["id"], "dead": (time <= censored).astype(int)})
    sheet["months"] = np.minimum(time, censored).round(3)
    sheet.loc[3, "months"] = np.nan
    features.to_csv(tmp_path / "genes.csv", index=False)
    sheet.to_csv(tmp_path / "sheet.csv", index=False)
    features.join(sheet.drop(columns="sample")).to_csv(tmp_path / "both.csv", index=False)
    return features, sheet


def test_two_columns_are_the_target(cli, tmp_path, files):
    features, sheet = files
    known = sheet["months"].notna()
    y = pd.DataFrame({"event": sheet["dead"], "time": sheet["months"]})[known]
    expected = SieveSelector(5).fit(features.drop(columns="id")[known], y)
    times = ("--event", "dead", "--time", "months", "-n", "5", "--json")
    for source in ((tmp_path / "genes.csv", "--sheet", tmp_path / "sheet.csv"), (tmp_path / "both.csv",)):
        code, out, err = cli("select", *source, *times)
        assert code == 0, err
        found = json.loads(out)
        assert found["names"] == [f"g{i}" for i in expected.selection_order_]
        assert found["used"]["labels"]["kind"] == "survival"
        assert found["used"]["sentences"] == ["used the times to an event of column 'months'"]
        assert "1 sample without a time left out" in found["input"]["notes"]


def test_the_report_and_new_samples(cli, tmp_path, files):
    report, model, few = (tmp_path / name for name in ("report.html", "model.skops", "few.csv"))
    times = ("--event", "dead", "--time", "months", "-n", "3", "--stability", "4")
    code, _, err = cli("select", tmp_path / "both.csv", *times, "--report", report, "--model", model)
    assert code == 0, err
    page = report.read_text(encoding="utf-8")
    assert "martingale residuals of a Cox model without features" in page and "times to an event" in page
    assert cli("apply", model, tmp_path / "both.csv", "-o", few)[0] == 0
    assert list(pd.read_csv(few, nrows=0).columns[-2:]) == ["dead", "months"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--event", "dead"], "--event and --time go together"),
        (["--event", "g1", "--time", "months"], "must hold 1 where the event was seen and 0 where it was not"),
        (["--event", "dead", "--time", "id"], "(--time) must hold numbers from 0 on. Got 's0'"),
        (["--event", "dead", "--time", "months", "--label", "g1"], "--label does nothing beside --event"),
        (["--event", "dead", "--time", "months", "--method", "qalpha"], "--event does nothing with --method qalpha"),
        (["--event", "dead", "--time", "nothing"], "'nothing'"),
    ],
)
def test_columns_that_are_no_times_are_refused(cli, tmp_path, files, options, message):
    code, _, err = cli("select", tmp_path / "both.csv", "-n", "3", *options)
    assert code != 0 and message in " ".join(err.split())


def test_negative_times_are_refused_and_panels_are_scored_by_times(cli, tmp_path, files):
    features, sheet = files
    times = ("--event", "dead", "--time", "months")
    code, out, err = cli("score", tmp_path / "both.csv", *times, "-p", "g0,g1,g2", "--random", "9", "--json")
    assert code == 0, err
    known = sheet["months"].notna()
    y = pd.DataFrame({"event": sheet["dead"], "time": sheet["months"]})[known]
    expected = score_panel(features.drop(columns="id")[known], ["g0", "g1", "g2"], y, n_random=9)
    assert json.loads(out)["panels"][0]["score"] == pytest.approx(expected.score)
    sheet.assign(months=-sheet["months"]).to_csv(tmp_path / "sheet.csv", index=False)
    code, _, err = cli("select", tmp_path / "genes.csv", "--sheet", tmp_path / "sheet.csv", *times)
    assert code == 3 and "Column 'months' (--time) must hold numbers from 0 on" in " ".join(err.split())
