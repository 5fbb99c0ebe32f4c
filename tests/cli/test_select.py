"""select, inspect and apply do what the Python estimators do, through files."""

import csv
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from cli.conftest import N_FEATURES, N_RELEVANT, write_csv
from eigensieve import QAlphaSelector
from eigensieve.cli.app import run

RELEVANT = [f"g{i}" for i in range(N_RELEVANT)]
SELECT = ("select", "--method", "qalpha")


def names_in(path, **options):
    return [name for name in pd.read_csv(path, **options).columns if name.startswith("g")]


def test_selects_what_the_estimator_selects(cli, table, values, tmp_path):
    code, out, err = cli(
        *SELECT, table, "--label", "tissue", "-o", tmp_path / "o.csv", "-w", tmp_path / "w.csv", "--json"
    )
    assert code == 0, err
    y = np.repeat(["a", "b"], len(values) // 2)
    model = QAlphaSelector().fit(pd.read_csv(table, index_col=0).drop(columns="tissue"), y)
    document = json.loads(out)
    assert document["selected"] == model.selection_order_.tolist()
    np.testing.assert_allclose(document["weights"], model.weights_[document["selected"]])
    chosen = pd.read_csv(tmp_path / "o.csv", index_col="sample")
    pd.testing.assert_frame_equal(
        chosen[RELEVANT], pd.read_csv(table, index_col=0)[RELEVANT], check_exact=False, rtol=1e-12
    )
    assert list(chosen["tissue"]) == list(y)


def test_weights_table_holds_every_feature_best_first(cli, table, tmp_path):
    assert cli(*SELECT, table, "--label", "tissue", "-n", 6, "--weights", tmp_path / "w.tsv")[0] == 0
    weights = pd.read_csv(tmp_path / "w.tsv", sep="\t")
    assert list(weights.columns) == ["feature", "weight", "rank", "selected", "null_quantile"]
    assert len(weights) == N_FEATURES and weights["weight"].is_monotonic_decreasing
    assert sorted(weights["feature"][weights["selected"]]) == RELEVANT
    assert list(weights["rank"]) == list(range(1, N_FEATURES + 1))


@pytest.mark.parametrize(
    "suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".feather", ".npy", ".npz", ".mat", ".svm", ".mtx", ".h5ad"]
)
def test_every_format_goes_in_and_comes_out(cli, table, values, tmp_path, suffix):
    from eigensieve.tables import read_table, write_table

    if suffix == ".h5ad":
        pytest.importorskip("anndata", reason=".h5ad needs anndata")
    source = tmp_path / f"in{suffix}"
    write_table(source, read_table(table, label="tissue"))
    target = tmp_path / f"out{suffix}"
    code, _, err = cli(*SELECT, source, "-n", N_RELEVANT, "-o", target, *label_for(suffix))
    assert code == 0, err
    chosen = read_table(
        target, **({"label": "label"} if suffix == ".svm" else {"label": "tissue"} if label_for(suffix) else {})
    )
    X = chosen.X.toarray() if hasattr(chosen.X, "toarray") else chosen.X
    np.testing.assert_allclose(X, values[:, :N_RELEVANT], rtol=1e-5)


def label_for(suffix):
    if suffix in {".npy", ".mtx"}:
        return ()
    return ("--label", "label" if suffix == ".svm" else "tissue")


def test_samples_in_columns(cli, table, tmp_path):
    wide = pd.read_csv(table, index_col=0).drop(columns="tissue").T
    wide.index.name = "gene"
    wide.to_csv(tmp_path / "wide.csv")
    code, _, err = cli(*SELECT, tmp_path / "wide.csv", "-n", N_RELEVANT, "-o", tmp_path / "o.csv")
    assert code == 0 and "samples in columns" in err
    assert list(pd.read_csv(tmp_path / "o.csv", index_col=0).index) == RELEVANT


def test_standard_input_and_output(cli, table, monkeypatch):
    class Stdin(io.TextIOWrapper):
        pass

    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(table.read_bytes())))
    code, out, err = cli(*SELECT, "-", "--label", "tissue", "-n", N_RELEVANT, "-o", "-")
    assert code == 0
    rows = list(csv.reader(io.StringIO(out)))
    assert len(rows) == 41 and set(RELEVANT) < set(rows[0])
    assert "6 of 60 features" in err  # messages for people go elsewhere


def test_trace_ratio_with_labels_and_without(cli, table):
    code, out, _ = cli("select", table, "--label", "tissue", "--method", "trace-ratio", "-n", N_RELEVANT, "--json")
    assert code == 0 and sorted(json.loads(out)["names"]) == RELEVANT
    options = ("--score", "laplacian", "--neighbors", 8)
    code, out, _ = cli("select", table, "--label", "tissue", "--method", "trace-ratio", "-n", 6, *options, "--json")
    assert code == 0 and json.loads(out)["labels_used"] is False


def test_labels_are_used_only_where_said(cli, table):
    used = json.loads(cli(*SELECT, table, "--label", "tissue", "--json")[1])
    ignored = json.loads(cli(*SELECT, table, "--label", "tissue", "--supervision", "ignore", "--json")[1])
    assert used["labels_used"] is True and ignored["labels_used"] is False


def test_model_report_and_selection_are_written_together(cli, table, tmp_path):
    places = {"model": tmp_path / "m.skops", "report": tmp_path / "r.html", "selected": tmp_path / "s.json"}
    arguments = [part for role, place in places.items() for part in (f"--{role}", place)]
    code, _, err = cli(*SELECT, table, "--label", "tissue", "-n", 6, "--stability", 3, *arguments)
    assert code == 0, err
    assert sorted(json.loads(places["selected"].read_text())["names"]) == RELEVANT
    page = places["report"].read_text()
    assert "6 of 60 features selected from 40 samples" in page and "100 %" in page
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_apply_finds_columns_by_name_whatever_their_order(cli, table, tmp_path):
    assert cli(*SELECT, table, "--label", "tissue", "-n", 6, "-m", tmp_path / "m.skops")[0] == 0
    other = pd.read_csv(table, index_col=0)
    other = other[["tissue", *(f"g{i}" for i in reversed(range(N_FEATURES)))]]
    other.to_csv(tmp_path / "other.csv")
    code, out, err = cli("apply", tmp_path / "m.skops", tmp_path / "other.csv", "--label", "tissue")
    assert code == 0, err
    chosen = pd.read_csv(io.StringIO(out), index_col=0)
    pd.testing.assert_frame_equal(chosen[RELEVANT], other[RELEVANT], check_exact=False)
    assert set(chosen.columns) == {*RELEVANT, "tissue"}


def test_missing_values_are_handled_as_told(cli, values, tmp_path):
    X = values.copy()
    X[3, 10] = np.nan
    X[5, 0] = np.nan
    path = tmp_path / "holes.csv"
    write_csv(path, X, [f"g{i}" for i in range(N_FEATURES)])
    base = (*SELECT, path, "--label", "tissue", "-n", 5, "--json", "--missing")
    for how, samples, features in (
        ("mean", 40, 60),
        ("median", 40, 60),
        ("drop-features", 40, 58),
        ("drop-samples", 38, 60),
    ):
        code, out, err = cli(*base, how)
        assert code == 0, err
        document = json.loads(out)
        assert (document["input"]["samples"], document["input"]["features"]) == (samples, features)
        assert any("missing values" in note for note in document["input"]["notes"])
        assert set(document["names"]) <= set(RELEVANT)


def test_side_data_and_pairs_steer_qalpha(cli, table, values, tmp_path):
    rng = np.random.default_rng(1)
    side = rng.standard_normal((20, N_FEATURES)) * 0.1
    side[:, :3] *= 100
    write_csv(tmp_path / "side.csv", side, [f"g{i}" for i in range(N_FEATURES)])
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("first,second,link\ns0,s39,cannot\ns0,s1,must\n")
    data = pd.read_csv(table, index_col=0).drop(columns="tissue")
    data.to_csv(tmp_path / "plain.csv")
    pd.read_csv(tmp_path / "side.csv", index_col=0).drop(columns="tissue").to_csv(tmp_path / "side.csv")
    code, out, err = cli(*SELECT, tmp_path / "plain.csv", "--side", tmp_path / "side.csv", "-n", 3, "--json")
    assert code == 0, err
    assert set(json.loads(out)["names"]) == {"g3", "g4", "g5"}
    code, out, err = cli(*SELECT, tmp_path / "plain.csv", "--pairs", pairs, "-n", 6, "--json")
    assert code == 0, err


def test_inspect_counts_types_missing_and_constant(cli, values, tmp_path):
    X = values.copy()
    X[:, 0] = 7
    X[:, 1] = np.arange(40) % 2
    X[:, 2] = np.arange(40)
    X[4, 3] = np.nan
    write_csv(tmp_path / "t.csv", X, [f"g{i}" for i in range(N_FEATURES)])
    code, out, _ = cli("inspect", tmp_path / "t.csv", "--label", "tissue", "--json")
    found = json.loads(out)
    assert code == 0 and (found["samples"], found["features"]) == (40, 60)
    assert found["types"] == {"constant": 1, "binary": 1, "whole numbers": 1, "real numbers": 57}
    assert found["missing_values"] == 1 and found["constant_features"] == ["g0"]
    assert found["label"]["counts"] == {"a": 20, "b": 20}
    assert any("--missing" in sentence for sentence in found["would"])
    code, out, _ = cli("inspect", tmp_path / "t.csv", "--label", "tissue")
    assert "1 constant, 1 binary, 1 whole numbers, 57 real numbers" in out


def test_demo_finds_the_real_measurements_and_says_where_the_report_is(cli, tmp_path):
    code, out, _ = cli("demo", "-o", tmp_path / "demo.html", "--features", 300, "--json")
    found = json.loads(out)
    assert code == 0 and found["report"] == str(tmp_path / "demo.html")
    assert found["relevant_found"] >= 20 and (tmp_path / "demo.html").stat().st_size > 20_000


def test_piped_output_has_no_colour_codes_and_quiet_prints_nothing(cli, table):
    code, out, err = cli(*SELECT, table, "--label", "tissue")
    assert code == 0 and "\x1b" not in out + err
    code, out, err = cli(*SELECT, table, "--label", "tissue", "--quiet")
    assert (code, out, err) == (0, "", "")


def test_control_characters_in_names_do_not_reach_the_terminal(cli, values, tmp_path):
    names = [f"g{i}" for i in range(N_FEATURES)]
    names[0] = "g0\x1b[31m[bold red]x[/]"
    write_csv(tmp_path / "t.csv", values, names)
    _, out, _ = cli(*SELECT, tmp_path / "t.csv", "--label", "tissue", "-n", 6)
    assert "\x1b" not in out and "[bold red]x[/]" in out


def test_help_has_examples_and_exit_codes(cli):
    code, out, _ = cli("--help")
    assert code == 0 and "Exit codes" in out and "130" in out
    for command in ("select", "inspect", "apply", "compare", "score", "map", "compress", "demo"):
        code, out, _ = cli(command, "--help")
        assert code == 0 and "Example" in out


def test_version(cli):
    import eigensieve

    assert cli("--version")[1] == f"eigensieve {eigensieve.__version__}\n"


@pytest.mark.parametrize(
    ("line", "number", "expected"),
    [("eigensieve com", 1, ["compare", "compress"]), ("eigensieve select --method tr", 3, ["trace-ratio"])],
)
def test_the_shell_completes_commands_and_methods(capsys, monkeypatch, line, number, expected):
    monkeypatch.setenv("_EIGENSIEVE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(number))
    with pytest.raises(SystemExit) as stop:
        run([])
    assert stop.value.code == 0 and capsys.readouterr().out.split() == expected


def test_sieve_is_the_default_and_may_select_nothing(cli, tmp_path):
    rng = np.random.default_rng(5)
    pd.DataFrame(rng.standard_normal((40, 30))).add_prefix("n").to_csv(tmp_path / "noise.csv", index=False)
    places = ("-o", tmp_path / "o.csv", "-r", tmp_path / "r.html", "-w", tmp_path / "w.csv")
    code, out, err = cli("select", tmp_path / "noise.csv", "--seed", 0, "--json", *places)
    document = json.loads(out)
    assert document["method"] == "sieve" and document["selected"] == []
    assert code == 0 and "no feature that follows" in err and "No table was written" in err
    assert not (tmp_path / "o.csv").exists() and len(pd.read_csv(tmp_path / "w.csv")) == 30
    places = ("-r", tmp_path / "r2.html", "-m", tmp_path / "m.skops")
    code, out, err = cli("select", tmp_path / "noise.csv", "--seed", 0, "--stability", 5, *places)
    assert code == 0 and "--stability was not measured: nothing is selected" in err
    assert "No feature stands out from" in (tmp_path / "r2.html").read_text()
    code, out, err = cli("apply", tmp_path / "m.skops", tmp_path / "noise.csv")
    assert code == 0 and not out and "No table was written: the model" in err


def test_stability_of_few_samples_is_refused_before_the_fit(cli, values, tmp_path, monkeypatch):
    write_csv(tmp_path / "few.csv", values[17:24], [f"g{i}" for i in range(N_FEATURES)])
    monkeypatch.setattr(QAlphaSelector, "fit", None)
    code, _, err = cli(*SELECT, tmp_path / "few.csv", "-n", 3, "--stability", 5)
    assert code == 2 and "--stability needs at least 8 samples, and" in err and "has 7" in err


def test_the_rate_of_false_selections_is_passed_on(cli, values, tmp_path):
    write_csv(tmp_path / "t.csv", values, [f"g{i}" for i in range(N_FEATURES)])
    for method in ("qalpha", "sieve"):
        code, _, err = cli(
            "select", "--method", method, tmp_path / "t.csv", "--label", "tissue", "--fdr", 2, "-o", tmp_path / "o.csv"
        )
        assert code == 2 and "--fdr must be" in err


def test_fewest_takes_a_few_of_the_relevant_features(cli, table):
    code, out, err = cli("select", table, "--label", "tissue", "-n", "fewest", "--seed", 0, "--json")
    assert code == 0, err
    assert 1 <= len(json.loads(out)["selected"]) < N_RELEVANT
    assert max(json.loads(out)["selected"]) < N_RELEVANT
    code, _, err = cli(*SELECT, table, "--method", "qalpha", "-n", "fewest")
    assert code == 2
    assert "--n-features must be 'auto', a whole number" in err


def test_many_features_by_default_are_told_how_to_become_few(cli, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 220)) + 3.0 * np.outer(np.arange(40) < 20, np.ones(220))
    write_csv(tmp_path / "many.csv", X, [f"g{i}" for i in range(220)])
    code, out, err = cli("select", tmp_path / "many.csv", "--label", "tissue", "--seed", 0)
    assert code == 0, err
    assert "--n-features fewest" in out
    assert "fewest" not in cli("select", tmp_path / "many.csv", "--label", "tissue", "-n", 210)[1]


@pytest.mark.parametrize(
    ("flag", "begins", "ends"),
    [
        ("-o", "sample,", "\n"),
        ("-w", "feature,", "\n"),
        ("-r", "<!doctype html>", "</html>"),
        ("--selected", "{", "}\n"),
    ],
)
def test_what_goes_to_standard_output_stands_there_alone(cli, table, flag, begins, ends):
    code, out, err = cli(*SELECT, table, "-n", N_RELEVANT, flag, "-")
    assert code == 0 and out.lower().startswith(begins) and out.rstrip("\n").endswith(ends.rstrip("\n"))
    assert "6 of 60 features" in err and "Selected features" in err


@pytest.mark.parametrize("pair", [("--json", "-r", "-"), ("--json", "-m", "-"), ("-w", "-", "-r", "-")])
def test_two_things_do_not_go_to_standard_output(cli, table, pair):
    code, out, err = cli(*SELECT, table, "-n", N_RELEVANT, *pair)
    assert code == 2 and not out and "Name a file for" in err


@pytest.mark.parametrize("command", ["select", "apply"])
def test_standard_output_keeps_the_delimiter_of_standard_input(cli, values, tmp_path, monkeypatch, command):
    path = tmp_path / "t.tsv"
    write_csv(path, values, [f"g{i}" for i in range(N_FEATURES)], delimiter="\t")
    assert cli(*SELECT, path, "-n", N_RELEVANT, "-m", tmp_path / "m.skops")[0] == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    start = (*SELECT, "-", "-n", N_RELEVANT) if command == "select" else ("apply", tmp_path / "m.skops", "-")
    code, out, err = cli(*start, "-o", "-")
    assert code == 0, err
    assert list(pd.read_csv(io.StringIO(out), sep="\t").columns) == ["sample", *RELEVANT]
