"""One rule for all commands: which columns are labels, which names features have, which options are used."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from eigensieve import FeatureMap, load_model


@pytest.fixture
def batches(tmp_path):
    """Columns in this order: a name, a batch that is a number, eight features of which g0 to g2 matter, a label."""
    rng = np.random.default_rng(0)
    kind = np.arange(40) % 2
    X = rng.standard_normal((40, 8))
    X[:, :3] += 3 * kind[:, None]
    frame = pd.DataFrame(X.round(4), columns=[f"g{i}" for i in range(8)])
    frame.insert(0, "run", np.arange(40) % 3)
    frame.insert(0, "name", [f"s{i}" for i in range(40)])
    frame["kind"] = np.array(["a", "b"])[kind]
    frame.to_csv(tmp_path / "b.csv", index=False)
    return tmp_path / "b.csv"


def test_map_uses_the_label_and_says_so(cli, table, tmp_path):
    code, out, err = cli("map", table, "--label", "tissue", "-o", tmp_path / "map.csv", "--report", tmp_path / "m.html")
    assert code == 0 and "used the labels of column 'tissue': 2 classes" in out, err
    assert "used the labels of column &#x27;tissue&#x27;" in (tmp_path / "m.html").read_text() or (
        "used the labels of column 'tissue'" in (tmp_path / "m.html").read_text()
    )
    frame = pd.read_csv(table)
    X, y = frame.drop(columns=["sample", "tissue"]), frame["tissue"]
    found = pd.read_csv(tmp_path / "map.csv").set_index("feature").loc[X.columns]
    expected = FeatureMap(n_rounds=2, n_clusters=2).fit(X, y)
    np.testing.assert_allclose(found["weight_1"], expected.weights_[:, 0], atol=1e-6)
    plain = json.loads(cli("map", table, "--drop", "tissue", "--json")[1])
    labelled = json.loads(cli("map", table, "--label", "tissue", "--json")[1])
    assert plain["used"]["labels"] is None and labelled["used"]["labels"]["column"] == "tissue"
    assert plain["criteria"] != labelled["criteria"]


def test_inspect_calls_feature_names_so(cli, tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("Gene,s1,s2,s3\nTP53,1,2,3\nMYC,4,5,6\nKRAS,7,8,1\n")
    code, out, err = cli("inspect", path)
    assert code == 0 and re.search(r"feature names +column 'Gene'", out) and "sample names" not in out, err
    found = json.loads(cli("inspect", path, "--json")[1])
    assert found["feature_names"] == "Gene" and found["sample_names"] is None


@pytest.mark.parametrize("options", [(), ("--supervision", "ignore")])
def test_apply_treats_columns_as_select_did(cli, batches, tmp_path, options):
    model, first, again = tmp_path / "m.skops", tmp_path / "first.csv", tmp_path / "again.csv"
    known = ("--label", "kind", "--batch", "run", *options)
    assert cli("select", batches, *known, "-n", 3, "-m", model, "-o", first)[0] == 0
    code, out, err = cli("apply", model, batches, "-o", again)
    assert code == 0 and "3 of 8 features kept for 40 samples" in out, err
    assert again.read_text() == first.read_text()
    frame = pd.read_csv(batches)
    frame[["g7", *frame.columns[1:-2], "name"]].drop(columns="run").to_csv(tmp_path / "new.csv", index=False)
    code, out, err = cli("apply", model, tmp_path / "new.csv", "--id", "name", "-o", tmp_path / "new-few.csv")
    assert code == 0 and "3 of 8 features kept" in out, err
    columns = [name for name in pd.read_csv(first).columns if name not in ("run", "kind")]
    assert list(pd.read_csv(tmp_path / "new-few.csv").columns) == columns


def test_models_of_tables_without_names_know_none(cli, values, tmp_path):
    np.savez(tmp_path / "x.npz", X=values, y=np.arange(len(values)) // 20)
    np.savetxt(tmp_path / "x.csv", values, delimiter=",", fmt="%.6f")
    for command, source, more in (
        (("select", "-n", "6"), "x.npz", ("--label", "y")),
        (("select", "-n", "6"), "x.csv", ()),
        (("map", "--rounds", "2"), "x.npz", ("--label", "y")),
        (("compress", "-e", "20", "--no-compare"), "x.npz", ("--label", "y")),
    ):
        model = tmp_path / f"{command[0]}-{source}.skops"
        code, _, err = cli(command[0], tmp_path / source, *command[1:], *more, "-m", model)
        assert code == 0, err
        fitted = load_model(model)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (fitted.predict if command[0] == "compress" else fitted.transform)(values)
    result = json.loads(cli("select", tmp_path / "x.npz", "--label", "y", "-n", 6, "--json")[1])
    assert sorted(result["names"]) == [f"x{i}" for i in range(6)]
    code, out, err = cli(
        "apply", tmp_path / "select-x.npz.skops", tmp_path / "x.npz", "--label", "y", "-o", tmp_path / "o.npz"
    )
    assert code == 0 and "6 of 60 features" in out, err
    np.testing.assert_array_equal(np.load(tmp_path / "o.npz")["X"], values[:, :6])


def test_columns_left_out_keep_their_names(cli, values, tmp_path):
    """Without names the places would be those of another table."""
    X = values.copy()
    X[: len(X) - 3, 10] = np.nan
    np.savez(tmp_path / "x.npz", X=X)
    leave = ("--missing", "drop-features")
    assert cli("select", tmp_path / "x.npz", "-n", 6, "-m", tmp_path / "m.skops", *leave)[0] == 0
    assert list(load_model(tmp_path / "m.skops").feature_names_in_) == [f"x{i}" for i in range(60) if i != 10]


def test_compare_has_no_two_rows_that_are_the_same(cli, table):
    code, out, err = cli("compare", table, "--label", "tissue", "--folds", 2, "-n", "3,6", "--json")
    assert code == 0, err
    methods = {row["method"] for row in json.loads(out)["results"]}
    assert methods == {"sieve", "qalpha", "laplacian", "variance", "random", "sieve-labels", "f-test"}


def test_the_fisher_subset_is_that_of_the_f_test():
    """Why `compare` has one row for both: on standardised features the ratio of traces is monotone in each F."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.feature_selection import f_classif

    from eigensieve import TraceRatioSelector

    X, y = load_breast_cancer(return_X_y=True)
    best = np.argsort(-f_classif(X, y)[0])[:8]
    assert set(TraceRatioSelector(8, score="fisher", scale=True).fit(X, y).get_support(indices=True)) == set(best)


def test_sheets_and_comments_reach_the_reader(cli, table, tmp_path):
    frame = pd.read_csv(table)
    frame[["sample", "tissue"]].sample(frac=1, random_state=0).to_csv(tmp_path / "samples.csv", index=False)
    turned = frame.drop(columns="tissue").set_index("sample").T.rename_axis("Gene")
    (tmp_path / "genes.csv").write_text("# made by hand\n" + turned.to_csv())
    options = ("--comment", "#", "--sheet", tmp_path / "samples.csv", "--label", "tissue")
    code, out, err = cli("select", tmp_path / "genes.csv", *options, "-n", 6, "--json")
    assert code == 0, err
    expected = json.loads(cli("select", table, "--label", "tissue", "-n", 6, "--json")[1])
    found = json.loads(out)
    assert found["names"] == expected["names"] and found["used"]["labels"]["column"] == "tissue"
    code, _, err = cli("inspect", tmp_path / "genes.csv", *options[:4])
    assert code == 0, err
    code, _, err = cli("select", tmp_path / "genes.csv", *options, "-o", tmp_path / "samples.csv", "-f")
    assert code == 4 and "would replace the input" in err
    code, _, err = cli("compare", tmp_path / "genes.csv", *options, "--methods", "variance", "--folds", 2)
    assert code == 0, err


def test_a_summary_that_people_understand(cli, table, tmp_path):
    code, out, err = cli("select", table, "--label", "tissue", "-n", 6, "--stability", 4)
    assert code == 0, err
    for word in ("criterion", "sparsity gap", "negative weight", "data passes", "converged"):
        assert word not in out
    assert re.search(r"a selected feature was selected again \d+ % of times", out)
    assert json.loads(cli("select", table, "--method", "qalpha", "-n", 6, "--json")[1])["diagnostics"]["converged"] in (
        True,
        False,
    )
    tall = tmp_path / "tall.csv"
    pd.DataFrame(np.random.default_rng(0).standard_normal((150, 4)), columns=list("abcd")).to_csv(tall)
    code, out, err = cli("inspect", tall)
    assert code == 0 and "--samples" not in out + err and "''" not in out + err
    assert "sample names from the index column, which has no name (--id names another column)" in re.sub(
        r"\s+", " ", out
    )
