"""map, compress and compare, through files."""

import ctypes
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from eigensieve import load_model
from eigensieve.datasets import make_two_solutions


@pytest.fixture
def two_solutions(tmp_path):
    data = make_two_solutions(random_state=0)
    path = tmp_path / "two.csv"
    pd.DataFrame(data.X, columns=data.feature_names).to_csv(path, index=False)
    return path


@pytest.fixture
def classes(tmp_path):
    X, y = make_classification(n_samples=300, n_features=12, n_informative=6, random_state=0)
    path = tmp_path / "classes.csv"
    pd.DataFrame(X, columns=[f"f{i}" for i in range(12)]).assign(kind=np.where(y, "yes", "no")).to_csv(
        path, index=False
    )
    return path, X, y


def test_map_finds_the_two_sets_of_the_paper(cli, two_solutions, tmp_path):
    places = ("-o", tmp_path / "map.csv", "--figure", tmp_path / "map.svg", "-m", tmp_path / "map.skops")
    code, out, err = cli("map", two_solutions, "-n", 9, *places, "--json")
    assert code == 0, err
    taken = {name for chosen in json.loads(out)["rounds"] for name in chosen}
    assert taken == {"1", "2", "3", "A", "B", "C", "1A", "2B", "3C"}
    table = pd.read_csv(tmp_path / "map.csv", dtype={"feature": str})
    assert list(table.columns[:5]) == ["feature", "weight_1", "coordinate_1", "weight_2", "coordinate_2"]
    np.testing.assert_allclose((table[["weight_1", "weight_2"]] ** 2).sum(), 1, rtol=1e-6)
    assert (tmp_path / "map.svg").read_text().lstrip().startswith("<?xml")
    assert type(load_model(tmp_path / "map.skops")).__name__ == "FeatureMap"


def test_map_refuses_a_picture_of_one_round(cli, two_solutions):
    code, _, err = cli("map", two_solutions, "--rounds", 1, "--figure", "x.png")
    assert code == 2 and "use --rounds 2" in err
    code, _, err = cli("map", two_solutions, "--figure", "x.gif")
    assert code == 2 and ".png, .svg, .pdf" in err


def test_compress_writes_c_onnx_and_a_model_that_agree(cli, classes, tmp_path):
    path, X, _ = classes
    places = ("--c", tmp_path / "m.c", "--onnx", tmp_path / "m.onnx", "-m", tmp_path / "m.skops")
    code, out, err = cli(
        "compress", path, "--label", "kind", "--elements", 100, "--seed", 0, "--no-compare", *places, "--json"
    )
    assert code == 0 and "Warning" not in err, err
    measured = json.loads(out)
    assert measured["elements"] == 100 and measured["small_accuracy"] > measured["full_accuracy"] - 0.15
    model = load_model(tmp_path / "m.skops")
    assert list(model.feature_names_in_) == [f"f{i}" for i in range(12)]
    assert [type(step).__name__ for _, step in model.steps] == ["StandardScaler", "ElementSelectedSVC"]
    frame = pd.DataFrame(X, columns=model.feature_names_in_)
    runtime = pytest.importorskip("onnxruntime", reason="ONNX models are compared with onnxruntime")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    (labels,) = session.run(["label"], {session.get_inputs()[0].name: X.astype(np.float32)})
    assert np.mean(np.ravel(labels).astype(str) == model.predict(frame)) > 0.99
    if shutil.which("cc"):
        subprocess.run(["cc", "-c", tmp_path / "m.c", "-o", tmp_path / "m.o"], check=True)


def test_compress_takes_an_svm_of_the_users_own(cli, classes, tmp_path):
    skops = pytest.importorskip("skops.io", reason="model files need skops")
    path, X, y = classes
    skops.dump(SVC(C=3).fit(X, np.where(y, "yes", "no")), tmp_path / "svc.skops")
    code, out, err = cli(
        "compress", path, "--label", "kind", "--svm", tmp_path / "svc.skops", "--no-compare", "--json", "-e", 30
    )
    assert code == 0, err
    assert json.loads(out)["elements"] == 30
    skops.dump(SVC().fit(X[:, :5], y), tmp_path / "other.skops")
    code, _, err = cli("compress", path, "--label", "kind", "--svm", tmp_path / "other.skops")
    assert code == 5 and "fitted on 5 features" in err
    (tmp_path / "other.skops").write_bytes(b"nothing")
    code, _, err = cli("compress", path, "--label", "kind", "--svm", tmp_path / "other.skops")
    assert code == 5 and "skops.io.dump" in err


def test_compress_to_a_cascade(cli, classes, tmp_path):
    path, _, _ = classes
    options = ("--cascade", "--elements", 40, "--seed", 0, "--no-compare", "-m", tmp_path / "c.skops", "--json")
    code, out, err = cli("compress", path, "--label", "kind", *options)
    assert code == 0, err
    assert json.loads(out)["estimator"] == "RejectionCascade"
    assert type(load_model(tmp_path / "c.skops")[-1]).__name__ == "RejectionCascade"
    code, _, err = cli("compress", path, "--label", "kind", "--cascade", "--c", tmp_path / "c.c")
    assert code == 2 and "Drop --cascade" in err


def test_compress_compares_small_machines(cli, classes, tmp_path):
    path, X, y = classes
    options = ("--label", "kind", "-e", 60, "--seed", 0)
    code, out, err = cli("compress", path, *options, "--report", tmp_path / "r.html")
    assert code == 0, err
    page = (tmp_path / "r.html").read_text()
    for name in ("full SVM", "60 elements, --match decision", "60 trees of 4 leaves", "logistic regression", "network"):
        assert name in out and name in page
    found = json.loads(cli("compress", path, *options, "--json")[1])["machines"]
    rows = {row["name"]: row for row in found}
    train, held_out = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X[train])
    peer = LogisticRegression(max_iter=300).fit(scaler.transform(X[train]), y[train])
    line = rows["logistic regression"]
    assert line["score"] == pytest.approx(peer.score(scaler.transform(X[held_out]), y[held_out]))
    assert line["area"] == pytest.approx(
        roc_auc_score(y[held_out], peer.decision_function(scaler.transform(X[held_out])))
    )
    assert line["numbers"] == 13 and line["features"] == 12
    assert rows["60 trees of 4 leaves"]["numbers"] == 60 * 7
    assert rows["network of 4 units, distilled"]["numbers"] == 12 * 4 + 4 + 4 + 1
    code, out, _ = cli("compress", path, *options, "--no-compare", "--json")
    assert [row["name"] for row in json.loads(out)["machines"]] == ["full SVM", "compressed"]


def test_compress_says_how_many_landmarks_there_are(cli, table):
    code, out, err = cli("compress", table, "--label", "tissue", "-e", 8, "--seed", 0, "--json")
    assert code == 0, err
    assert "Nystroem, 30 samples" in [row["name"] for row in json.loads(out)["machines"]]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_compress_writes_whole_numbers_for_raw_values(cli, classes, tmp_path):
    path, X, _ = classes
    options = ("-e", 60, "--match", "labels", "--seed", 0, "--no-compare", "--precision", "int16")
    code, _, err = cli(
        "compress", path, "--label", "kind", *options, "--c", tmp_path / "m.c", "-m", tmp_path / "m.skops"
    )
    assert code == 0, err
    source = (tmp_path / "m.c").read_text()
    rule = re.findall(r"^ \* +(\d+) +(\S+) +(\S+)$", source, re.MULTILINE)
    levels = np.zeros(X.shape, dtype=np.uint16)
    for i, low, step in rule:
        levels[:, int(i)] = np.clip(np.rint((X[:, int(i)] - float(low)) / float(step)), 0, 16383)
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "m.c", "-o", tmp_path / "m.so"], check=True)
    predict = ctypes.CDLL(str(tmp_path / "m.so")).eigensieve_predict
    found = [predict(row.ctypes.data_as(ctypes.POINTER(ctypes.c_ushort))) for row in levels]
    model = load_model(tmp_path / "m.skops")
    expected = model.predict(pd.DataFrame(X, columns=model.feature_names_in_))
    assert np.mean(model[-1].classes_[found] == expected) > 0.99


def test_compress_refuses_bad_requests(cli, classes):
    path, _, _ = classes
    code, _, err = cli("compress", path, "--label", "kind", "--match", "kernels")
    assert code == 2 and "--match must be one of auto, labels, decision" in err
    code, _, err = cli("compress", path, "--label", "kind", "--precision", "int8")
    assert code == 2 and "with --c" in err
    assert cli("compress", path)[0] == 2
    code, _, err = cli("compress", path, "--label", "kind", "--test", 2)
    assert code == 2 and "between 0 and 1" in err
    code, _, err = cli("compress", path, "--label", "kind", "--shape", "round")
    assert code == 2 and "--shape must be" in err


def test_compare_chooses_on_the_training_folds(cli, table, tmp_path):
    options = ("--methods", "qalpha,random,f-test", "-n", "3,6", "--folds", 4, "-o", tmp_path / "t.csv", "--json")
    code, out, err = cli("compare", table, "--label", "tissue", *options)
    assert code == 0, err
    rows = pd.read_csv(tmp_path / "t.csv")
    assert len(rows) == 3 * 2 * 4
    mean = rows[rows.features == 6].groupby("method")["accuracy_1nn"].mean()
    assert mean["qalpha"] > 0.9 and mean["f-test"] > 0.9 and mean["random"] < mean["qalpha"]
    assert len(json.loads(out)["results"]) == 6


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--methods", "magic"), 2, "--methods knows sieve"),
        (("-n", "few"), 2, "whole numbers, comma separated"),
        (("-n", "1000"), 3, "fewer than --n-features 1000"),
        (("--folds", "30"), 3, "Use fewer folds"),
    ],
)
def test_compare_refuses_bad_requests(cli, table, options, code, message):
    found, _, err = cli("compare", table, "--label", "tissue", *options)
    assert found == code and message in err


@pytest.mark.parametrize("command", ["compare", "compress"])
def test_one_class_is_refused_by_name(cli, table, tmp_path, command):
    """No advice that cannot help: fewer folds do not make a second class."""
    frame = pd.read_csv(table)
    frame["tissue"] = "liver"
    frame.to_csv(tmp_path / "one.csv", index=False)
    code, _, err = cli(command, tmp_path / "one.csv", "--label", "tissue")
    assert code == 3 and "one.csv" in err and "two classes or more" in err and "Check --label" in err


@pytest.mark.parametrize("command", ["compare", "compress"])
def test_a_label_that_names_the_samples_is_refused(cli, table, tmp_path, command):
    code, _, err = cli(command, table, "--label", "sample")
    assert code == 3 and "the labels name the samples" in err and "Check --label sample" in err
    frame = pd.read_csv(table).head(12).assign(number=range(12))  # few whole numbers are classes
    frame.to_csv(tmp_path / "few.csv", index=False)
    code, _, err = cli(command, tmp_path / "few.csv", "--label", "number")
    assert code == 3 and "at least 2 samples" in err and "report it" not in err


@pytest.mark.parametrize(
    ("command", "flag", "ends"),
    [
        ("compress", "--c", "}"),
        ("compress", "-r", "</html>"),
        ("compare", "-r", "</html>"),
        ("map", "-r", "</html>"),
        ("score", "-r", "</html>"),
    ],
)
def test_what_goes_to_standard_output_stands_there_alone(cli, table, command, flag, ends):
    quick = {
        "compress": ("-e", 8, "--no-compare"),
        "compare": ("--methods", "variance"),
        "map": (),
        "score": ("-p", "g0,g1"),
    }[command]
    label = () if command == "map" else ("--label", "tissue")
    code, out, err = cli(command, table, *label, *quick, flag, "-")
    assert code == 0 and out.rstrip().endswith(ends), err
    assert any(said in err for said in ("values kept", "variance", "features taken", "adds nothing"))
    code, out, err = cli(command, table, *label, *quick, flag, "-", "--json")
    assert code == 2 and not out and "--json prints to standard output" in err
