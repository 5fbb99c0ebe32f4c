"""``--donors`` and missing values on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from eigensieve import SieveSelector


@pytest.fixture
def given(tmp_path):
    rng = np.random.default_rng(0)
    donor = np.repeat(np.arange(20), 4)
    levels = rng.standard_normal((20, 60))
    levels[:, :12] += 2 * rng.standard_normal((2, 12))[np.arange(20) % 2]
    X = levels[donor] + 0.3 * rng.standard_normal((80, 60))
    frame = pd.DataFrame(X.round(6), columns=[f"g{i}" for i in range(60)])
    frame["donor"] = [f"d{number}" for number in donor]
    frame["kind"] = np.array(["a", "b"])[donor % 2]
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path, frame


def test_donors_are_the_groups_of_the_fit(cli, given):
    path, frame = given
    for label in ((), ("--label", "kind")):
        code, out, err = cli("select", path, "--donors", "donor", *(label or ("--drop", "kind")), "--json")
        assert code == 0, err
        document = json.loads(out)
        y = frame["kind"] if label else None
        model = SieveSelector(random_state=0).fit(frame.iloc[:, :60].to_numpy(), y, groups=frame["donor"])
        assert document["selected"] == model.selection_order_.tolist()
        assert document["used"]["donors"] == {"column": "donor", "count": 20}
        assert any("20 different donors of column 'donor'" in part for part in document["used"]["sentences"])


def test_stability_and_report_with_donors(cli, given, tmp_path):
    path, _ = given
    options = ("--donors", "donor", "--label", "kind", "-n", 8, "--stability", 4, "--report", tmp_path / "page.html")
    code, out, err = cli("select", path, *options, "--json")
    assert code == 0, err
    assert json.loads(out)["diagnostics"]["stability"] > 0.3
    assert "donors" in (tmp_path / "page.html").read_text()


def test_donors_that_do_nothing_are_refused(cli, given):
    code, _, err = cli("select", given[0], "--donors", "donor", "--method", "qalpha", "--label", "kind")
    assert code == 2
    assert "--donors does nothing with --method qalpha" in err


def test_folds_of_a_comparison_are_of_donors(cli, given):
    code, out, err = cli(
        "compare", given[0], "--label", "kind", "--donors", "donor", "--methods", "f-test", "-n", 5, "--json"
    )
    assert code == 0, err
    assert json.loads(out)["results"][0]["accuracy_1nn"] > 0.6


def test_gaps_are_left_open_by_default(cli, given, tmp_path):
    _, frame = given
    X = frame.drop(columns=["donor", "kind"])
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.2)
    path = tmp_path / "gaps.csv"
    X.to_csv(path, index=False)
    code, out, err = cli(
        "select", path, "-n", 6, "--json", "--report", tmp_path / "page.html", "-o", tmp_path / "out.csv"
    )
    assert code == 0, err
    document = json.loads(out)
    assert document["selected"] == SieveSelector(6).fit(X.to_numpy()).selection_order_.tolist()
    assert any("count neither for nor against a feature" in note for note in document["input"]["notes"])
    assert pd.read_csv(tmp_path / "out.csv").isna().to_numpy().any()
    code, out, err = cli("select", path, "-n", 6, "--method", "qalpha", "--json")
    assert code == 0, err
    assert any("filled in with the median" in note for note in json.loads(out)["input"]["notes"])
