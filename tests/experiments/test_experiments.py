"""Every experiment in a tiny setting: its results file, its table, its figure and its verdicts."""

import json
from dataclasses import replace

import numpy as np
import pytest

from experiments.catalog import EXPERIMENTS
from experiments.common import markdown, read_markdown
from experiments.frame import NOT, NOT_RUN, PARTLY, REPRODUCED, Check, Claim, Results, figure
from experiments.page import draw, section, verdict, write_page
from experiments.running import load_results, missing_data, results_file, run_experiment

WORDS = {REPRODUCED, PARTLY, NOT, NOT_RUN}
MEASURED_TIMES = "share of time on the diagonals"


def tiny(name):
    """The experiment with one run of its cheapest case."""
    experiment = EXPERIMENTS[name]
    case = next(iter(experiment.quick))
    if case in missing_data(experiment):
        pytest.skip(f"the folder of real data sets (EIGENSIEVE_DATA) does not hold {experiment.data[case]}.npz")
    return replace(experiment, quick={case: 1})


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_table_and_figure(name, tmp_path):
    experiment = tiny(name)
    (case,) = experiment.quick
    results = run_experiment(experiment, tmp_path, quick=True)
    (line,) = results_file(experiment, tmp_path).read_text().splitlines()
    row = json.loads(line)
    assert (row["case"], row["run"]) == (case, 0) and len(row) > 2
    assert results.rows == [row]

    def again(case, number):
        raise AssertionError("a run that is there must not be repeated")

    assert run_experiment(replace(experiment, run=again), tmp_path, quick=True).rows == [row]
    (second,) = run_experiment(experiment, tmp_path / "again", quick=True).rows
    assert {**second, MEASURED_TIMES: 0} == {**row, MEASURED_TIMES: 0}
    table = experiment.table(results).splitlines()
    assert len(table) >= 3 and all(line.startswith("|") for line in table if line)
    text = section(experiment, results)
    assert experiment.protocol in text
    assert {claim.verdict(results) for claim in experiment.claims} <= WORDS
    assert draw(experiment, results, tmp_path).stat().st_size > 3000


@pytest.mark.parametrize("name", ["laplacian", "trace-ratio"])
def test_other_numbers_are_other_draws(name):
    experiment = tiny(name)
    (case,) = experiment.quick
    first, other = ({**experiment.run(case, number), MEASURED_TIMES: 0} for number in (0, 1))
    assert first != other


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_runs_are_part_of_the_full_ones(name):
    experiment = EXPERIMENTS[name]
    assert all(count <= experiment.runs[case] for case, count in experiment.quick.items())
    assert set(experiment.data) <= set(experiment.runs)
    assert experiment.table(Results([])) and section(experiment, Results([]))
    assert draw(experiment, Results([]), None) is None


def test_a_printed_figure_must_lie_in_the_spread_or_be_beaten():
    values = np.array([1.0, 2.0, 3.0])  # mean 2, deviation 0.816
    assert figure("", 2.8, values)[0].holds
    assert not figure("", 2.9, values)[0].holds
    assert not figure("", 1.0, values)[0].holds
    assert figure("", 1.0, values, "higher")[0].holds
    assert not figure("", 1.0, values, "lower")[0].holds
    assert figure("", 3.0, values, "lower")[0].holds
    assert figure("", 1.0, np.array([])) == []


@pytest.mark.parametrize(
    ("held", "word"), [([True, True], REPRODUCED), ([True, False], PARTLY), ([False], NOT), ([], NOT_RUN)]
)
def test_a_verdict_is_computed_from_the_checks(held, word):
    claim = Claim("", lambda results: [Check("", "", "", holds) for holds in held])
    assert claim.verdict(Results([])) == word


def test_a_verdict_says_when_cases_are_missing():
    experiment = replace(EXPERIMENTS["laplacian"], runs={"a": 1, "b": 1})
    claim = Claim("", lambda results: [Check("", "", "", True)])
    assert verdict(experiment, claim, Results([{"case": "a", "run": 0}])) == "reproduced in the cases that were run"
    both = Results([{"case": "a", "run": 0}, {"case": "b", "run": 0}])
    assert verdict(experiment, claim, both) == REPRODUCED
    more = replace(experiment, runs={"a": 1, "b": 2})
    assert verdict(more, claim, both) == "reproduced in the runs so far"


def test_tables_can_be_read_back():
    heads, rows = ["", "a", "b"], [["x", "1", ""], ["y", "2", "3 ± 1"]]
    assert read_markdown("\n\n".join([markdown(heads, rows)] * 2)) == [(heads, rows)] * 2


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
