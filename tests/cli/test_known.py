"""What the user knows, on the command line: labels, batches, side data and pairs reach the sieve, and it says so."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from eigensieve import SieveSelector
from eigensieve.estimators import read_model_header

N_SAMPLES, N_FEATURES = 48, 40
GENES = [f"g{i}" for i in range(N_FEATURES)]
OF_KIND = set(GENES[:4])
OF_RUN = set(GENES[10:30])


@pytest.fixture(scope="module")
def frame():
    """Three kinds in two runs, crossed: g0 to g3 tell the kinds apart, g10 to g29 the runs, far more strongly."""
    rng = np.random.default_rng(3)
    kind, run = np.arange(N_SAMPLES) % 3, np.arange(N_SAMPLES) // 3 % 2
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[:, :4] += 5 * np.array([[1, 1, 0, 0], [0, 0, 1, 1], [-1, 0, 0, -1]])[kind]
    X[:, 10:30] += 6 * run[:, None]
    table = pd.DataFrame(X, columns=GENES, index=pd.Index([f"s{i}" for i in range(N_SAMPLES)], name="sample"))
    return table.assign(kind=np.array(["a", "b", "c"])[kind], run=np.array(["first", "second"])[run])


@pytest.fixture
def source(frame, tmp_path):
    return save(frame, tmp_path / "table.csv")


def save(frame, path):
    frame.to_csv(path)
    return path


def document(answer):
    code, out, err = answer
    assert code == 0, err
    return json.loads(out)


def test_the_sieve_uses_the_labels_and_says_so(cli, source, frame, tmp_path):
    options = ("select", source, "--label", "kind", "--batch", "run", "-n", 4)
    code, out, err = cli(*options, "--model", tmp_path / "m.skops", "-o", tmp_path / "o.csv")
    assert code == 0, err
    assert "used the labels of column 'kind': 3 classes" in out
    assert "removed the differences between 2 batches of column 'run'" in out
    assert "directions" not in out
    found = document(cli(*options, "--json"))
    model = SieveSelector(4).fit(frame[GENES], frame["kind"], batches=frame["run"])
    assert found["selected"] == model.selection_order_.tolist() and set(found["names"]) == OF_KIND
    labels = {"column": "kind", "kind": "classes", "classes": 3, "labelled": N_SAMPLES, "samples": N_SAMPLES}
    assert found["labels_used"] is True and found["used"]["labels"] == labels
    assert found["used"]["batches"] == {"column": "run", "count": 2}
    assert read_model_header(tmp_path / "m.skops")["about"]["used"] == found["used"]
    chosen = pd.read_csv(tmp_path / "o.csv", index_col="sample")
    assert set(chosen.columns) == {*OF_KIND, "kind", "run"} and list(chosen["run"]) == list(frame["run"])
    code, out, err = cli("apply", tmp_path / "m.skops", source, "--label", "kind", "--batch", "run")
    assert code == 0 and out.splitlines()[0] == "sample,g0,g1,g2,g3,kind,run", err


def test_labels_can_be_ignored(cli, source):
    code, out, err = cli("select", source, "--label", "kind", "--batch", "run", "--supervision", "ignore", "-n", 4)
    assert code == 0 and "did not use the labels of column 'kind'" in out, err
    options = ("--label", "kind", "--batch", "run", "--supervision", "ignore", "-n", 4, "--json")
    found = document(cli("select", source, *options))
    assert found["labels_used"] is False and found["used"]["labels"] is None and len(OF_KIND & set(found["names"])) >= 3


def test_without_batches_the_sieve_finds_them(cli, frame, tmp_path):
    plain = save(frame.drop(columns="run"), tmp_path / "plain.csv")
    found = document(cli("select", plain, "--label", "kind", "--supervision", "ignore", "-n", 4, "--json"))
    assert set(found["names"]) <= OF_RUN and found["used"]["batches"] is None


@pytest.mark.parametrize("method", ["sieve", "qalpha"])
def test_blank_cells_are_samples_without_label(cli, frame, tmp_path, method):
    few = frame.drop(columns="run")
    few.loc[np.arange(N_SAMPLES) >= 18, "kind"] = ""
    options = ("--method", method, "--label", "kind", "-n", 4, "--json")
    found = document(cli("select", save(few, tmp_path / "few.csv"), *options))
    assert found["used"]["labels"]["classes"] == 3 and found["used"]["labels"]["labelled"] == 18
    if method == "sieve":
        assert set(found["names"]) == OF_KIND


def test_numbers_are_a_target_unless_told_otherwise(cli, frame, tmp_path):
    dose = frame.drop(columns=["kind", "run"])
    dose["dose"] = np.round(4 * dose["g35"]) + 20
    path = save(dose, tmp_path / "dose.csv")
    whole = document(cli("select", path, "--label", "dose", "-n", 1, "--json"))
    assert whole["used"]["labels"]["kind"] == "classes" and whole["names"] == ["g35"]
    code, out, err = cli("select", path, "--label", "dose", "--supervision", "numbers", "-n", 1)
    assert code == 0 and "used the numbers of column 'dose' as target" in out, err


def test_side_data_and_pairs_reach_the_sieve(cli, frame, tmp_path):
    plain = save(frame.drop(columns=["kind", "run"]), tmp_path / "plain.csv")
    rng = np.random.default_rng(4)
    W = rng.standard_normal((30, N_FEATURES))
    W[:, 10:30] += 6 * rng.standard_normal((30, 1))
    side = save(pd.DataFrame(W[:, ::-1], columns=GENES[::-1]), tmp_path / "side.csv")
    found = document(cli("select", plain, "--side", side, "-n", 4, "--json"))
    assert len(OF_KIND & set(found["names"])) >= 3
    assert found["used"]["side_samples"] == 30 and found["used"]["unwanted_directions"] == 1
    wanted = document(cli("select", plain, "--side", side, "--unwanted", 3, "-n", 4, "--json"))
    assert wanted["used"]["unwanted_directions"] == 3
    # s0 and s3 are of one kind, in different runs; so are the other linked pairs
    lines = [f"s{i},s{i + 3},must" for i in range(0, 42, 2)] + ["s0,s1,cannot"]
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    linked = ("select", plain, "--pairs", tmp_path / "pairs.csv", "-n", 4)
    found = document(cli(*linked, "--json"))
    assert (
        len(OF_KIND & set(found["names"])) >= 3
        and found["used"]["must_link"] == 21
        and found["used"]["cannot_link"] == 1
    )
    out = cli(*linked)[1]
    assert re.search("projected out [1-9] directions? in which 21 must-link pairs differ", out)
    assert "used 1 cannot-link pair\n" in out


def test_stability_repeats_with_what_is_known(cli, source):
    options = ("--label", "kind", "--batch", "run", "-n", 4, "--stability", 3, "--seed", 0, "--json")
    assert document(cli("select", source, *options))["diagnostics"]["stability"] == 1.0


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".mat", ".xlsx"])
def test_batches_are_found_in_every_format_with_names(cli, source, tmp_path, suffix):
    from eigensieve.tables import read_table, write_table

    path = tmp_path / f"table{suffix}"
    write_table(path, read_table(source, label="kind", batch="run"))
    found = document(cli("select", path, "--label", "kind", "--batch", "run", "-n", 4, "--json"))
    assert set(found["names"]) == OF_KIND and found["used"]["batches"]["count"] == 2


def test_batches_may_be_a_row_where_samples_are_columns(cli, frame, tmp_path):
    turned = frame[["run", "kind", *GENES]].T
    turned.index.name = "gene"
    path = save(turned, tmp_path / "turned.csv")
    found = document(
        cli("select", path, "--samples", "columns", "--label", "kind", "--batch", "run", "-n", 4, "--json")
    )
    assert set(found["names"]) == OF_KIND and found["used"]["batches"] == {"column": "run", "count": 2}


def test_inspect_says_what_would_be_used(cli, source, frame, tmp_path):
    found = document(cli("inspect", source, "--label", "kind", "--batch", "run", "--json"))
    assert found["batch"] == {"name": "run", "batches": 2, "counts": {"first": 24, "second": 24}}
    assert "the label 'kind' would be used: 3 classes; --supervision ignore leaves it out" in found["would"]
    assert "differences between the 2 batches would be removed" in found["would"]
    dose = save(frame[GENES].assign(dose=frame["g0"] / 2), tmp_path / "dose.csv")
    assert "would be used as numbers" in " ".join(document(cli("inspect", dose, "--label", "dose", "--json"))["would"])
    same = save(frame[GENES].assign(dose=1), tmp_path / "same.csv")
    would = " ".join(document(cli("inspect", same, "--label", "dose", "--json"))["would"])
    assert "the label 'dose' cannot be used" in would and "--supervision ignore" in would


def test_compare_has_the_sieve_with_and_without_labels(cli, source):
    options = ("--label", "kind", "--batch", "run", "--methods", "sieve,sieve-labels", "-n", 4, "--folds", 3, "--json")
    results = document(cli("compare", source, *options))["results"]
    assert [(row["method"], row["sees"]) for row in results] == [("sieve", "no labels"), ("sieve-labels", "labels")]
    assert all(row["accuracy_1nn"] > 0.9 for row in results)


def test_the_report_says_what_was_used(cli, source, tmp_path):
    options = ("--label", "kind", "--batch", "run", "-n", 4, "--report", tmp_path / "r.html")
    assert cli("select", source, *options)[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert "<li>Used the labels of column &#x27;kind&#x27;: 3 classes</li>" in page
    assert "<li>Removed the differences between 2 batches of column &#x27;run&#x27;</li>" in page
    assert "without labels" not in page and "3 directions" not in page


LINES = {
    "no such column": (("--batch", "rnu"), 3, "no batch column 'rnu'. Did you mean 'run'"),
    "label as batch": (("--batch", "kind"), 3, "column 'kind' cannot be label and batch at once. Name two columns"),
    "names as batch": (("--id", "run", "--batch", "run"), 3, "cannot be id and batch at once"),
    "batch with qalpha": (("--batch", "run", "--method", "qalpha"), 2, "--batch does nothing.*use --method sieve"),
    "side data missing": (("--batch", "run", "--side", "none.csv"), 3, "'none.csv' does not exist"),
    "pairs missing": (("--batch", "run", "--pairs", "none.csv"), 3, "none.csv"),
    "words as numbers": (
        ("--batch", "run", "--supervision", "numbers"),
        3,
        "--supervision numbers needs numbers in the label",
    ),
    "supervision of qalpha": (("--batch", "run", "--supervision", "span"), 2, "--supervision must be"),
    "directions of nothing": (("--batch", "run", "--unwanted", "2"), 2, "nothing without --side or --pairs"),
    "directions in words": (("--side", "x.csv", "--unwanted", "few"), 2, "--unwanted must be 'auto' or a whole"),
    "strength of qalpha": (("--batch", "run", "--strength", "2"), 2, "--strength does nothing"),
}


@pytest.mark.parametrize("case", LINES)
def test_bad_options(cli, source, case):
    options, expected, message = LINES[case]
    code, out, err = cli("select", source, "--label", "kind", *options)
    assert code == expected and out == "", err
    assert re.search(message, err), err
    assert "SieveSelector" not in err and "'y'" not in err


def test_classes_need_labels(cli, source):
    code, _, err = cli("select", source, "--supervision", "classes")
    assert code == 2 and "--supervision classes needs labels. Name their column with --label" in err


def test_other_columns_in_side_data_are_refused(cli, frame, tmp_path):
    plain = save(frame[GENES], tmp_path / "plain.csv")
    side = save(frame[GENES[1:]], tmp_path / "side.csv")
    code, _, err = cli("select", plain, "--side", side)
    assert code == 3 and "lacks 1 of the 40 features ('g0')" in err


@pytest.mark.parametrize("command", ["select", "map"])
def test_missing_values_of_side_data_are_handled_as_told(cli, frame, tmp_path, command):
    plain = save(frame.drop(columns=["kind", "run"]), tmp_path / "plain.csv")
    W = pd.DataFrame(np.random.default_rng(4).standard_normal((31, N_FEATURES)), columns=GENES)
    W.loc[3, "g7"] = np.nan
    filled, gaps = save(W.fillna(W.median()), tmp_path / "filled.csv"), save(W, tmp_path / "gaps.csv")
    run = (command, plain, "-n", 4, "--json", "--id", "sample")
    expected = document(cli(*run, "--side", filled))
    for how in ((), ("--missing", "median")):
        code, out, err = cli(*run, "--side", gaps, *how)
        assert code == 0 and "side data: 1 missing value in 1 feature filled in with the median" in err
        assert document((code, out, err)) == expected
    code, _, err = cli(*run, "--side", gaps, "--missing", "error")
    assert code == 3 and "gaps.csv' has missing or infinite values in 1 of 40 columns ('g7')" in err
    code, _, err = cli(*run, "--side", gaps, "--missing", "drop-features")
    assert code == 3 and "lacks 1 of the 40 features ('g7')" in err and "with values in them" in err


def test_a_sample_without_batch_is_refused(cli, frame, tmp_path):
    holes = frame.copy()
    holes.iloc[3:5, holes.columns.get_loc("run")] = ""
    code, _, err = cli("select", save(holes, tmp_path / "holes.csv"), "--label", "kind", "--batch", "run")
    assert code == 3 and "2 of 48 samples have no batch in column 'run'" in err


def test_batches_that_coincide_with_the_labels_are_refused_in_the_words_of_the_options(cli, frame, tmp_path):
    same = save(frame.assign(run=frame["kind"].str.upper()), tmp_path / "same.csv")
    code, _, err = cli("select", same, "--label", "kind", "--batch", "run")
    assert code == 3 and "--batch coincides with the label" in err and "Leave out --batch or --label" in err


def test_batches_that_nearly_coincide_with_the_labels_are_noted(cli, frame, tmp_path):
    run = np.where(frame["kind"] == "a", "first", "second")
    run[0] = "second"
    code, _, err = cli(
        "select", save(frame.assign(run=run), tmp_path / "near.csv"), "--label", "kind", "--batch", "run", "-n", 4
    )
    assert code == 0 and "note: the label and batches are confounded" in err


def _wide(rng):
    X = 5 + rng.standard_normal((30, 400))
    X[:, :100] += rng.normal(0, 3, (3, 100))[np.arange(30) % 3]
    return X


def _words(rng):
    rates = np.full((60, 80), 0.2)
    for k in range(3):
        rates[k::3, 10 * k : 10 * k + 10] = 2.0
    return rng.poisson(rates)


def _saved(X, path):
    return save(pd.DataFrame(X, columns=[f"g{i}" for i in range(X.shape[1])]), path)


@pytest.mark.parametrize(
    ("what", "make", "said"),
    [
        ("scale", _wide, "gave more weight to features that vary more"),
        ("profiles", _words, "compared samples by their profiles"),
    ],
)
def test_scale_and_profiles_are_used_or_ignored_as_told(cli, tmp_path, what, make, said):
    X = make(np.random.default_rng(0))
    path = _saved(X, tmp_path / "table.csv")
    for options, used in (((), True), ((f"--use-{what}",), True), ((f"--ignore-{what}",), False)):
        found = document(cli("select", path, "-n", 5, *options, "--json"))
        expected = SieveSelector(5, **{f"use_{what}": "auto" if not options else used}).fit(X)
        was = expected.scale_used_ if what == "scale" else expected.scored_by_ == "profiles"
        assert found["used"][what] is used is was
        assert found["selected"] == expected.selection_order_.tolist()
        assert (said in cli("select", path, "-n", 5, *options)[1]) == used
    code, _, err = cli("select", path, "-n", 5, "--method", "qalpha", f"--ignore-{what}")
    assert code == 2 and f"--use-{what}" in err


def test_profiles_of_negative_values_are_refused(cli, tmp_path):
    path = _saved(_words(np.random.default_rng(0)) - 1, tmp_path / "negative.csv")
    code, _, err = cli("select", path, "-n", 5, "--use-profiles")
    assert code == 3 and "negative values. Leave --use-profiles out." in err
