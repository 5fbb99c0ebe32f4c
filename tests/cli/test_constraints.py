"""Constraints on the command line: names or files, refused by name before anything is written."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def genes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    X[:, :10] += rng.normal(0, 3.0, (3, 10))[np.arange(60) % 3]
    pd.DataFrame(X.round(4), columns=[f"g{i}" for i in range(30)]).to_csv(tmp_path / "genes.csv", index=False)
    return tmp_path / "genes.csv"


def chosen(cli, genes, *options) -> list[str]:
    code, out, err = cli("select", genes, "-n", "6", "--json", *options)
    assert code == 0, err
    return list(json.loads(out)["names"])


def test_features_are_kept_and_excluded_by_names_or_files(cli, genes, tmp_path):
    free = chosen(cli, genes)
    (tmp_path / "keep.txt").write_text("g20\ng21\n")
    found = chosen(cli, genes, "--must-keep", tmp_path / "keep.txt", "--exclude", f"{free[0]},{free[1]}")
    assert found[:2] == ["g20", "g21"]
    assert not set(free[:2]) & set(found)
    (tmp_path / "keep.txt").write_text("g20, g21,\n")
    assert chosen(cli, genes, "--must-keep", tmp_path / "keep.txt")[:2] == ["g20", "g21"]


def test_groups_and_costs_come_from_files(cli, genes, tmp_path):
    (tmp_path / "groups.csv").write_text("feature,group\n" + "".join(f"g{i},{i % 2}\n" for i in range(10)))
    found = chosen(cli, genes, "--groups", tmp_path / "groups.csv")
    assert sum(int(name[1:]) < 10 for name in found) == 2
    more = chosen(cli, genes, "--groups", tmp_path / "groups.csv", "--max-per-group", "2")
    assert sum(int(name[1:]) < 10 for name in more) == 4
    (tmp_path / "costs.tsv").write_text("".join(f"g{i}\t{2.5}\n" for i in range(30)))
    assert len(chosen(cli, genes, "--costs", tmp_path / "costs.tsv", "--max-cost", "8")) == 3


def test_a_file_of_names_is_never_replaced(cli, genes, tmp_path):
    (tmp_path / "keep.csv").write_text("g20\n")
    code, _, err = cli(
        "select", genes, "-n", "6", "--must-keep", tmp_path / "keep.csv", "-o", tmp_path / "keep.csv", "-f"
    )
    assert code != 0 and "would replace the input" in " ".join(err.split())
    assert (tmp_path / "keep.csv").read_text() == "g20\n"


@pytest.mark.parametrize("known", [[], ["--label", "kind"]])
@pytest.mark.parametrize("count", ["6", "auto", "fewest"])
def test_the_report_tells_what_constraints_cost(cli, genes, tmp_path, count, known):
    table = pd.read_csv(genes).assign(kind=np.array(["a", "b", "c"])[np.arange(60) % 3])
    table.to_csv(tmp_path / "labelled.csv", index=False)
    options = ("-n", count, "--must-keep", "g20", "--exclude", "g0", "--json", "--report", tmp_path / "report.html")
    code, out, err = cli("select", tmp_path / "labelled.csv", *options, *known)
    assert code == 0, err
    names = json.loads(out)["names"]
    assert names[0] == "g20" and "g0" not in names
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What do the constraints cost?" in page and "1 feature kept, 1 feature excluded" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--must-keep", "nobody"], "'nobody', which is no feature"),
        (["--max-cost", "3"], "does nothing without --costs"),
        (["--groups", "missing.csv"], "There is no file 'missing.csv'"),
        (["--method", "qalpha", "--exclude", "g1"], "does nothing with --method qalpha"),
        (
            ["--must-keep", "g1", "--exclude", "g1"],
            "--must-keep must not share features with --exclude. Got feature 'g1'",
        ),
    ],
)
def test_impossible_constraints_are_refused(cli, genes, tmp_path, options, message):
    code, _, err = cli("select", genes, "-n", "6", "-o", tmp_path / "out.csv", *options)
    assert code != 0 and message in " ".join(err.split())
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*(f"g{i},2" for i in range(30)), "g4,3"], "gives two values for 'g4'"),
        ([f"g{i},{i - 7}" for i in range(30)], "--costs must hold positive numbers. Got -7 for feature 'g0'"),
        (
            [f"g{i},dear" for i in range(30)],
            "--costs must hold numbers. Got other values (could not convert string to float: 'dear') instead",
        ),
        ([f"g{i},2" for i in range(29)], "gives no cost for 'g29'"),
        ([f"g{i},20" for i in range(30)], "--max-cost must cover the cheapest feature, which costs 20. Got 8"),
        (["g0"], "has 1 column. --costs needs lines 'feature,value'"),
        (["g\xe4,2"], "is not UTF-8 text"),
    ],
)
def test_a_file_of_costs_that_cannot_be_used_is_refused(cli, genes, tmp_path, lines, message):
    (tmp_path / "costs.csv").write_text("\n".join(lines), encoding="latin-1")
    code, _, err = cli("select", genes, "-n", "6", "--costs", tmp_path / "costs.csv", "--max-cost", "8")
    assert code == 3 and message in " ".join(err.split())
