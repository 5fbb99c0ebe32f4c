"""A newcomer's table through the commands: text and gaps, quantities as labels, reports, words of the command line."""

import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from eigensieve import load_model
from eigensieve.cli.errors import in_options


@pytest.fixture
def cars(tmp_path):
    """A table like the cars of vega_datasets: names that repeat, dates, an origin, and missing values."""
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    frame = pd.DataFrame({"Name": [f"car {i % 40}" for i in range(60)]})
    for number, name in enumerate(("Miles_per_Gallon", "Displacement", "Horsepower", "Acceleration")):
        frame[name] = 10.0**number * (5 + 3 * group + rng.standard_normal(60))
    frame["Year"] = pd.date_range("1970-01-01", periods=60, freq="30D").strftime("%Y-%m-%d")
    frame["Origin"] = np.array(["USA", "Europe", "Japan"])[group]
    frame.loc[[3, 7], "Horsepower"] = np.nan
    frame.loc[5, "Origin"] = ""
    path = tmp_path / "cars.csv"
    frame.to_csv(path, index=False)
    return path


def test_inspect_and_select_take_the_table_as_it_is(cli, cars):
    code, out, err = cli("inspect", cars, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["features"] == 5 and found["text_columns"] == ["Name", "Origin"]
    assert any("--categories one-hot" in note for note in found["notes"])
    date = "column 'Year' holds dates and is used as a number: days since 1970-01-01 (--drop leaves it out)"
    assert date in found["notes"]
    code, out, err = cli("select", cars, "-n", 2, "--json")
    assert code == 0 and "left out 2 columns of text" in err, err
    assert any("2 missing values in 1 feature left as they are" in note for note in json.loads(out)["input"]["notes"])
    code, out, err = cli("select", cars, "--categories", "one-hot", "-n", 8, "--json")
    assert code == 0 and "Origin=USA" in json.loads(out)["names"], err


def test_notes_name_the_option(cli, table, tmp_path):
    err = cli("select", table, "-n", 3)[2]
    assert "sample names from column 'sample' (--id names another column)" in err
    path = tmp_path / "t.csv"
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 4)), columns=list("abcd"))
    frame.assign(target=np.arange(20) % 2).to_csv(path, index=False)
    note = "column 'target' may be the label and was taken for a feature (--label target uses it)"
    assert note in cli("select", path)[2]


def test_columns_and_marks_are_told_by_options(cli, cars, tmp_path):
    """The options reach the reader: which columns, which words mean missing, how numbers are written."""

    def features(path, *options):
        code, out, err = cli("inspect", path, *options, "--json")
        assert code == 0, err
        return json.loads(out)

    assert features(cars, "--keep", "Displacement", "--keep", "Horsepower")["features"] == 2
    dropped = features(cars, "--drop", "Name", "--drop", "Displacement")
    assert dropped["features"] == 4 and dropped["text_columns"] == ["Origin"]
    path, out = tmp_path / "marks.csv", tmp_path / "out.csv"
    path.write_text("a;b;c\n" + "".join(f"{i}.000,5;{'gone' if i == 4 else i % 7};{i % 5},25\n" for i in range(1, 30)))
    marks = ("--decimal", ",", "--thousands", ".", "--na-values", "gone")
    found = features(path, *marks)
    assert found["features"] == 3 and found["missing_values"] == 1 and found["text_columns"] == []
    code, _, err = cli("select", path, "-n", 3, *marks, "-o", out)
    assert code == 0, err
    written = pd.read_csv(out, sep=";", decimal=",")  # as the file that was read
    np.testing.assert_allclose(written["a"], 1000 * np.arange(1, 30) + 0.5)
    np.testing.assert_allclose(written["c"], np.arange(1, 30) % 5 + 0.25)


def test_compare_adapts_to_small_tables_and_quantities(cli, cars, tmp_path):
    code, out, err = cli("compare", cars, "--label", "Origin", "--folds", 2, "--report", tmp_path / "r.html", "--json")
    assert code == 0 and "1 sample without label left out" in err, err
    assert {row["features"] for row in json.loads(out)["results"]} == {1, 2}
    assert "Selectors compared" in (tmp_path / "r.html").read_text()
    code, out, err = cli("compare", cars, "--label", "Acceleration", "--folds", 2, "--json")
    assert code == 0, err
    results = {(row["method"], row["features"]): row["r2"] for row in json.loads(out)["results"]}
    assert results["f-test", 1] > 0.5 and ("fisher", 1) not in results
    code, _, err = cli("compare", cars, "--label", "Acceleration", "--methods", "qalpha-labels")
    assert code == 3 and "the label is a quantity" in err


ORIGIN = ("--label", "Origin", "--drop", "Year", "--seed", 0)


def test_compress_standardises_what_it_writes(cli, cars, tmp_path):
    places = ("--report", tmp_path / "r.html", "-m", tmp_path / "m.skops", "--c", tmp_path / "m.c")
    code, out, err = cli("compress", cars, *ORIGIN, "-e", 40, *places, "--no-compare", "--json")
    assert code == 0, err
    measured = json.loads(out)
    assert measured["scaled"] and measured["small_accuracy"] > 0.8 and measured["features_used"] <= 4
    as_it_is = ("--no-scale", "--no-compare", "--json")
    raw = json.loads(cli("compress", cars, *ORIGIN, "-e", 40, *as_it_is)[1])
    assert raw["full_accuracy"] < measured["full_accuracy"]  # Acceleration is a thousand times as wide
    model, frame = (
        load_model(tmp_path / "m.skops"),
        pd.read_csv(cars)[["Miles_per_Gallon", "Displacement", "Horsepower"]],
    )
    X = pd.read_csv(cars)[[*frame.columns, "Acceleration"]].dropna()
    assert np.mean(model.predict(X) == pd.read_csv(cars).loc[X.index, "Origin"]) > 0.8
    head = (tmp_path / "m.c").read_text().split("*/")[0]
    assert re.findall(r"(\w+)\(const", head) == ["eigensieve_decision", "eigensieve_predict"] and "raw values" in head
    assert re.findall(r'x\[\d\]  "(\w+)"', head) == list(X.columns)
    assert re.findall(r'^ \*   \d  "(\w+)"', head, re.MULTILINE) == list(model[-1].classes_)
    _check_c(tmp_path, X.to_numpy(), model.predict(X), model[-1].classes_)
    single = ("--c", tmp_path / "m.c", "--precision", "single", "--force", "--no-compare")
    assert cli("compress", cars, *ORIGIN, "-e", 40, *single)[0] == 0
    _check_c(tmp_path, X.to_numpy(), model.predict(X), model[-1].classes_, "float")


def test_compress_says_what_it_kept_and_why(cli, cars, tmp_path):
    code, out, err = cli("compress", cars, *ORIGIN, "-e", 30, "--no-compare", "--report", tmp_path / "r.html")
    assert code == 0, err
    for said in (re.sub(r"\s+", " ", out), (tmp_path / "r.html").read_text()):
        assert re.search(r"\d+, those that predict the labels best", said), said
        assert re.search(r"[1-4] of 4: \w+", said) and "standardised by the training samples" in said
    out = cli("compress", cars, "--label", "Origin", "-e", 30, "--seed", 0, "--no-compare", "--no-scale")[1]
    assert "taken as they are" in out


def test_compress_predicts_a_quantity(cli, cars, tmp_path):
    places = ("--report", tmp_path / "r.html", "-m", tmp_path / "m.skops", "--c", tmp_path / "m.c")
    options = ("--match", "labels", "-e", 40, "--seed", 0, "--json")
    code, out, err = cli("compress", cars, "--label", "Acceleration", "--drop", "Year", *options, *places)
    assert code == 0, err
    found = json.loads(out)
    assert found["estimator"] == "ElementSelectedSVR" and found["small_r2"] > found["full_r2"] - 0.15
    assert [row["name"].split(",")[0] for row in found["machines"]] == [
        "full SVM", "compressed", "40 elements", "60 trees of 4 leaves", "ridge regression", "Nystroem",
        "network of 4 units",
    ]  # fmt: skip
    assert all(row["area"] is None for row in found["machines"])
    frame = pd.read_csv(cars)
    model = load_model(tmp_path / "m.skops")
    X = frame[list(model.feature_names_in_)].apply(pd.to_numeric, errors="coerce").dropna()
    assert np.corrcoef(model.predict(X), frame.loc[X.index, "Acceleration"])[0, 1] > 0.9
    assert "ridge regression" in (tmp_path / "r.html").read_text()
    assert "predict" not in (tmp_path / "m.c").read_text()
    if shutil.which("cc"):
        subprocess.run(["cc", "-c", tmp_path / "m.c", "-o", tmp_path / "m.o"], check=True)
    code, _, err = cli("compress", cars, "--label", "Acceleration", "--cascade")
    assert code == 2 and "Drop --cascade" in err


def _check_c(folder, X, labels, classes, real="double"):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    main = "#include <stdio.h>\n" + (folder / "m.c").read_text()
    rows = ", ".join("{" + ", ".join(map(repr, row)) + "}" for row in X.tolist())
    main += f"\nint main(void) {{ static const {real} rows[][{X.shape[1]}] = {{{rows}}}; int i;\n"
    main += f'for (i = 0; i < {len(X)}; i++) printf("%d ", eigensieve_predict(rows[i])); return 0; }}\n'
    (folder / "main.c").write_text(main)
    subprocess.run(["cc", folder / "main.c", "-o", folder / "main"], check=True)
    found = subprocess.run([folder / "main"], check=True, capture_output=True, text=True).stdout.split()
    assert [classes[int(code)] for code in found] == list(labels)


def test_map_writes_a_report(cli, cars, tmp_path):
    code, _, err = cli("map", cars, "--report", tmp_path / "r.html", "-n", 3)
    page = (tmp_path / "r.html").read_text()
    assert code == 0 and "no other structure" in err, err
    assert "No map is drawn" in page and "<svg" not in page


def test_the_note_about_the_header_names_the_option(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("400,402\n.1,.2\n.3,.5\n")
    code, out, _ = cli("inspect", path, "--json")
    found = json.loads(out)
    assert code == 0 and found["samples"] == 3
    assert "no header line: columns are named x0, x1, ... (--header takes the first line as names)" in found["notes"]
    assert json.loads(cli("inspect", path, "--json", "--header")[1])["samples"] == 2
    path.write_text("sample,400,402\ns0,.1,.2\ns1,.3,.5\n")
    found = json.loads(cli("inspect", path, "--json")[1])
    assert found["samples"] == 2 and any(note.endswith("(--no-header reads it as a sample)") for note in found["notes"])
    assert json.loads(cli("inspect", path, "--json", "--no-header")[1])["samples"] == 3


def test_the_note_about_commas_names_the_option(cli, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("reads\tumis\n556\t423\n1,539\t1,615\n")
    notes = json.loads(cli("inspect", path, "--json")[1])["notes"]
    assert notes[0].endswith("'1,539' was read as 1.539 (--thousands , or --decimal , says it)")
    assert json.loads(cli("inspect", path, "--json", "--thousands", ",")[1])["notes"] == []


def test_the_note_about_numbered_samples_names_the_option(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,a\n7,1\n3,2\n")
    notes = json.loads(cli("inspect", path, "--json")[1])["notes"]
    assert notes[0].endswith("is used as a feature (--id takes it as the samples' names, --drop leaves it out)")


def test_quoted_decimal_commas_name_the_option(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"1,5",2\n"2,25",3\n')
    notes = json.loads(cli("inspect", path, "--json")[1])["notes"]
    assert any("whose numbers have commas" in note and "--decimal" in note for note in notes)
    assert json.loads(cli("inspect", path, "--json", "--decimal", ",")[1])["features"] == 2


def test_inspect_says_what_select_does_with_infinity(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(20)) + "inf,\n")
    found = json.loads(cli("inspect", path, "--json")[1])
    assert (found["missing_values"], found["infinite_values"], found["features_with_infinite"]) == (1, 1, 1)
    assert any("select would refuse the infinite values" in sentence for sentence in found["would"])
    code, _, err = cli("select", path, "-n", 1)
    assert code == 3 and "infinite values in 1 column" in err
    assert cli("select", path, "-n", 1, "--missing", "median")[0] == 0


def test_inspect_of_a_full_sparse_matrix(cli, tmp_path):
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_matrix(np.arange(1.0, 13).reshape(4, 3)))
    assert "sparse (100 % filled)" in cli("inspect", tmp_path / "x.npz")[1]


def test_errors_speak_of_options(cli, cars):
    code, _, err = cli("select", cars, "--method", "qalpha", "--label", "Acceleration")
    assert code == 3 and "use --supervision ignore" in err
    code, _, err = cli("select", cars, "--thousands", "xy")
    assert code == 2 and "--thousands must be one character" in err
    code, _, err = cli("inspect", cars, "--decimal", "ab")
    assert code == 2 and "--decimal must be one character" in err
    code, _, err = cli("inspect", cars, "--decimal", ",", "--thousands", ",")
    assert code == 2 and "--thousands must differ from the decimal mark ','. Got ',' instead." in err
    code, _, err = cli("select", cars, "--fdr", 3)
    assert code == 2 and "--fdr must be" in err
    for message in (err, in_options("n_features_to_select=5 asks"), in_options("Use score='laplacian' or scale=True.")):
        assert not re.search(r"n_features_to_select|fdr=|score=|scale=|parameter", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "qalpha", "--clusters", 80), "--clusters must be at most .* Got --clusters 80 for 40 samples"),
        (("--method", "trace-ratio", "--score", "laplacian", "--neighbors", 400), "lower --neighbors"),
        (("--fdr", 2), "--fdr must be a number in the range"),
        (("--method", "qalpha", "--spectrum", "odd"), "--spectrum must be one of"),
    ],
)
def test_problems_are_told_in_options(cli, table, arguments, message):
    code, _, err = cli("select", table, "--drop", "tissue", *arguments)
    assert code in (2, 3)
    assert re.search(message, err), err
    assert not re.search(r"\b(n_\w+|X|y|\w+Selector\()", err.splitlines()[-1])


def test_constant_columns_and_penalties_are_told_in_options(cli, table):
    assert "the table" in in_options("Check that X holds samples in rows.")
    code, _, err = cli("compress", table, "--label", "tissue", "--penalty", -1)
    assert code == 2 and "--penalty must be a number" in err
