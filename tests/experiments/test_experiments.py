"""Every experiment in a tiny setting: its results file, its table, its figure and its verdicts."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eigensieve.datasets import list_real
from experiments import page
from experiments.catalog import EXPERIMENTS
from experiments.common import share_that_holds, shifted
from experiments.frame import (
    NOT,
    NOT_RUN,
    PARTLY,
    REPRODUCED,
    UNJUDGED,
    Check,
    Claim,
    Results,
    above,
    figure,
    no_worse,
    reading,
    standard_error,
)
from experiments.page import draw, section, verdict, write_page
from experiments.running import _rounded, load_results, missing_data, results_file, run_experiment

WORDS = {REPRODUCED, PARTLY, NOT, UNJUDGED, NOT_RUN}
RAW = Path(__file__).parents[2] / "docs" / "reproduced-runs"


def tiny(name):
    """The experiment with one run of its cheapest case."""
    experiment = EXPERIMENTS[name]
    case = next(iter(experiment.quick))
    if case in missing_data(experiment):
        pytest.skip(f"the folder of real data sets (EIGENSIEVE_DATA) does not hold {experiment.data[case]}.npz")
    return replace(experiment, quick={case: 1})


def assert_same(row, kept):
    """The kept results are those of the present code, up to the rounding of another machine."""
    assert row.keys() == kept.keys()
    for key, value in row.items():
        if isinstance(value, str):
            assert value == kept[key]
        else:
            np.testing.assert_allclose(value, kept[key], rtol=1e-3, atol=1e-3, err_msg=key)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_table_and_figure(name, tmp_path):
    experiment = tiny(name)
    (case,) = experiment.quick
    results = run_experiment(experiment, tmp_path, quick=True)
    (line,) = results_file(experiment, tmp_path).read_text().splitlines()
    row = json.loads(line)
    assert (row["case"], row["run"]) == (case, 0) and len(row) > 2
    assert results.rows == [row]
    (kept,) = (one for one in load_results(experiment, RAW).rows if (one["case"], one["run"]) == (case, 0))
    assert_same(row, kept)

    def again(case, number):
        raise AssertionError("a run that is there must not be repeated")

    assert run_experiment(replace(experiment, run=again), tmp_path, quick=True).rows == [row]
    (second,) = run_experiment(experiment, tmp_path / "again", quick=True).rows
    assert second == row
    table = experiment.table(results).splitlines()
    assert len(table) >= 3 and all(line.startswith("|") for line in table if line)
    text = section(experiment, results)
    assert experiment.protocol in text and experiment.conclusion(results) in text
    assert all(each.choice and each.ours for each in experiment.readings(results))
    assert {claim.verdict(results) for claim in experiment.claims} <= WORDS
    assert draw(experiment, results, tmp_path).stat().st_size > 3000


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("positivity", "weights, other readings"),
        ("class-scaleup", "2003, 4, scaling"),
        ("faces", "warpAR10P, own readings"),
        ("uci-side-data", "wine, readings"),
        ("trace-ratio", "crx, raw, readings"),
        ("gene-outcomes", "brain, other readings"),
    ],
)
def test_kept_readings_are_those_of_the_code(name, case):
    experiment = EXPERIMENTS[name]
    if case in missing_data(experiment):
        pytest.skip(f"the folder of real data sets (EIGENSIEVE_DATA) does not hold {experiment.data[case]}.npz")
    row = json.loads(json.dumps(_rounded(experiment.run(case, 0))))
    (kept,) = (one for one in load_results(experiment, RAW).rows if (one["case"], one["run"]) == (case, 0))
    assert_same({**row, "case": case, "run": 0}, kept)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_kept_results_are_whole(name):
    experiment = EXPERIMENTS[name]
    results = load_results(experiment, RAW)
    assert {case: results.count(case) for case in experiment.runs} == dict(experiment.runs)
    assert len(results.rows) == sum(experiment.runs.values())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_page_says_what_the_kept_results_give(name, monkeypatch):
    monkeypatch.setattr(page, "missing_data", lambda experiment: {})
    experiment = EXPERIMENTS[name]
    written = (RAW.parent / "reproduced.md").read_text(encoding="utf-8")
    picture = f"images/reproduced-{name}.png"
    assert section(experiment, load_results(experiment, RAW), picture) in written
    assert (RAW.parent / picture).exists()


def test_the_page_is_read_in_ten_minutes():
    """What is not folded, at 230 words a minute."""
    written = (RAW.parent / "reproduced.md").read_text(encoding="utf-8")
    shown = re.sub(r"<details>.*?</details>|!\[.*?\]\(.*?\)", "", written, flags=re.DOTALL)
    assert len(shown.split()) <= 2300


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_compares_readings(name):
    found = EXPERIMENTS[name].readings(load_results(EXPERIMENTS[name], RAW))
    choices = {each.choice: [other.reading for other in found if other.choice == each.choice] for each in found}
    assert choices and all(len(set(names)) == len(names) >= 2 for names in choices.values())
    assert all(any("judged" in name for name in names) for names in choices.values())


@pytest.mark.parametrize(
    ("name", "data"), [("faces", "warpAR10P"), ("trace-ratio", "vehicle"), ("image-patches", "COIL20")]
)
def test_figures_of_the_kept_results(name, data, tmp_path):
    if data not in available():
        pytest.skip(f"the folder of real data sets (EIGENSIEVE_DATA) does not hold {data}.npz")
    assert draw(EXPERIMENTS[name], load_results(EXPERIMENTS[name], RAW), tmp_path).stat().st_size > 10_000


def available():
    try:
        return set(list_real())
    except FileNotFoundError:
        return set()


@pytest.mark.parametrize("name", ["laplacian", "trace-ratio"])
def test_other_numbers_are_other_draws(name):
    experiment = tiny(name)
    (case,) = experiment.quick
    assert experiment.run(case, 0) != experiment.run(case, 1)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_runs_are_part_of_the_full_ones(name):
    experiment = EXPERIMENTS[name]
    assert all(count <= experiment.runs[case] for case, count in experiment.quick.items())
    assert set(experiment.data) <= set(experiment.runs)
    assert experiment.table(Results([])) and section(experiment, Results([]))
    assert draw(experiment, Results([]), None) is None


def test_a_figure_holds_within_standard_errors():
    values = np.array([1.0, 2.0, 3.0, 2.0])  # mean 2, standard error 0.408, tolerance 2 sqrt(2) times that: 1.155
    assert standard_error(values) == pytest.approx(np.sqrt(2 / 3) / 2)
    assert figure("", 3.15, values, 3)[0].holds and figure("", 0.85, values, 3)[0].holds
    assert not figure("", 3.16, values, 3)[0].holds
    assert not figure("", 0.84, values, 3)[0].holds  # a better baseline is no reproduction
    assert figure("", 0.84, values, 3, "at least")[0].holds
    assert not figure("", 3.16, values, 3, "at least")[0].holds
    assert figure("", 3.16, values, 3, "at most")[0].holds
    assert figure("", 21.0, np.array([21.4]), 0)[0].holds and not figure("", 32.0, np.array([21.0]), 0)[0].holds
    assert figure("", 1.0, np.array([]), 2) == []


def test_differences_are_judged_pair_by_pair():
    other = np.array([1.0, 5.0, 9.0])
    assert above("", other + np.array([0.1, 0.2, 0.3]), {"a": other, "b": other - 1})[0].holds
    assert not above("", other + np.array([-0.1, 0.2, 0.3]), {"a": other})[0].holds
    assert no_worse("", other + np.array([-0.1, 0.2, 0.3]), other, "a")[0].holds
    assert not no_worse("", other + np.array([0.1, 0.2, 0.3]), other, "a")[0].holds
    assert above("", np.array([]), {"a": other}) == no_worse("", np.array([]), other, "a") == []


def test_a_reading_agrees_as_a_figure_holds():
    (found,) = reading("order", "sorted", np.array([0.5]), 0.0, 2)
    assert (found.ours, found.printed, found.agrees) == ("0.500", "0.00", False)


@pytest.mark.parametrize(
    ("held", "word"), [([True, True], REPRODUCED), ([True, False], PARTLY), ([False], NOT), ([], NOT_RUN)]
)
def test_a_verdict_is_computed_from_the_checks(held, word):
    claim = Claim("", lambda results: [Check("", "", "", holds) for holds in held])
    assert claim.verdict(Results([])) == word
    unjudged = replace(claim, unjudged="not the paper's images")
    assert unjudged.verdict(Results([])) == (UNJUDGED if held else NOT_RUN)


def test_columns_are_shifted_by_constants():
    X = np.random.default_rng(0).normal(size=(30, 4)) * [1, 10, 100, 0]
    steps = shifted(X, 5) - X
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], X.shape), atol=1e-10)
    assert (np.abs(steps[0]) <= 3 * X.std(axis=0) + 1e-10).all()
    assert (shifted(X, 5, low=0.0) - X >= -1e-10).all()


def test_share_that_holds():
    assert share_that_holds(np.array([0.0, 3.0, 1.0, 0.0])) == 0.25  # 9 of 10
    assert share_that_holds(np.ones(10)) == pytest.approx(0.9)


def test_a_verdict_says_when_cases_are_missing():
    experiment = replace(EXPERIMENTS["laplacian"], runs={"a": 1, "b": 1})
    claim = Claim("", lambda results: [Check("", "", "", True)])
    assert verdict(experiment, claim, Results([{"case": "a", "run": 0}])) == "reproduced in the cases that were run"
    both = Results([{"case": "a", "run": 0}, {"case": "b", "run": 0}])
    assert verdict(experiment, claim, both) == REPRODUCED
    more = replace(experiment, runs={"a": 1, "b": 2})
    assert verdict(more, claim, both) == "reproduced in the runs so far"


def _counting(tmp_path, calls, **changes):
    experiment = replace(
        EXPERIMENTS["laplacian"],
        runs={"a": 3},
        quick={"a": 2},
        run=lambda case, number: calls.append(number) or {"value": 1 / 3},
        **changes,
    )
    return experiment


def test_an_interrupted_experiment_continues(tmp_path):
    calls = []
    experiment = _counting(tmp_path, calls)
    run_experiment(experiment, tmp_path, quick=True)
    file = results_file(experiment, tmp_path)
    file.write_text(file.read_text() + '{"case": "a", "run": 2, "val')  # cut off in the middle of a line
    assert load_results(experiment, tmp_path).count("a") == 2
    results = run_experiment(experiment, tmp_path)
    assert calls == [0, 1, 2]
    assert results.values("a", "value").tolist() == [0.333333] * 3


def test_missing_data_are_named(tmp_path, monkeypatch):
    calls = []
    experiment = _counting(tmp_path, calls, data={"a": "a_set_that_is_not_there"})
    results = run_experiment(experiment, tmp_path)
    assert calls == []
    assert "a_set_that_is_not_there" in section(replace(experiment, table=lambda results: ""), results)


def test_the_page_holds_every_experiment_and_its_figure(tmp_path):
    experiment = replace(EXPERIMENTS["laplacian"], quick={"uniform": 1})
    results = run_experiment(experiment, tmp_path, quick=True)
    write_page([(experiment, results)], tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert "# The papers, reproduced" in page and experiment.title in page
    assert "![The Laplacian spectrum](images/reproduced-laplacian.png)" in page
    assert (tmp_path / "images" / "reproduced-laplacian.png").exists()
