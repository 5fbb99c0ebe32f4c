"""The exported C file, compiled and run, against the plain evaluation of the same expansion."""

import ctypes
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC
from eigensieve.elements import Interface, expansion_to_c

pytestmark = pytest.mark.skipif(
    subprocess.run(["sh", "-c", "command -v cc"], capture_output=True).returncode != 0, reason="no C compiler"
)
STRICT = ["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror"]
TYPES = {"single": ctypes.c_float, "double": ctypes.c_double}


def two_classes():
    return make_classification(n_samples=400, n_features=12, n_informative=6, class_sep=1.2, random_state=0)


def three_classes():
    X, y = make_blobs(n_samples=240, n_features=6, centers=3, cluster_std=2.0, random_state=1)
    return X, np.array(["ash", "elm", "oak"])[y]


def six_classes():
    return make_blobs(n_samples=300, n_features=8, centers=6, cluster_std=3.0, random_state=1)


CASES = {
    "rbf": (ElementSelectedSVC(SVC(C=5), match="decision", n_elements=60, random_state=0), two_classes),
    "poly": (
        ElementSelectedSVC(SVC(kernel="poly", degree=2, gamma=0.1, coef0=1.0), match="decision", n_elements=30),
        two_classes,
    ),
    "linear": (ElementSelectedSVC(SVC(kernel="linear"), match="decision", n_elements=12), two_classes),
    "labels": (ElementSelectedSVC(match="labels", n_elements=60, random_state=0), two_classes),
    "whole vectors": (ElementSelectedSVC(SVC(C=5), shape="basis", n_elements=60, tol=0), two_classes),
    "three classes": (ElementSelectedSVC(SVC(C=2), match="decision", n_elements=60, random_state=0), three_classes),
    "thin weights": (ElementSelectedSVC(match="labels", n_elements=60, refine=True, random_state=0), six_classes),
}


def stated_error(source):
    found = re.search(r"error +at most (\S+)", source)
    return float(found.group(1)) if found else 1e-10


@pytest.mark.filterwarnings("ignore:.*elements were found")
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("case", list(CASES))
def test_c_file_agrees_within_its_stated_error(case, precision, tmp_path):
    model, make = CASES[case]
    X, y = make()
    model.fit(X, y)
    source = model.to_c("m", precision=precision)
    assert "#include" not in source
    assert f"{X.shape[1]} features" in source and f"{model.n_elements_} elements" in source
    (tmp_path / "m.c").write_text(source)
    library = tmp_path / "m.so"
    subprocess.run(
        ["cc", *STRICT, "-O3", "-nostdlib", "-fPIC", "-shared", str(tmp_path / "m.c"), "-o", str(library)], check=True
    )
    functions, real = ctypes.CDLL(str(library)), TYPES[precision]
    expected, labels = model._expansion.decision(X), model.predict(X)
    bound = stated_error(source)
    assert precision == "double" or bound < 0.01
    for t in range(0, len(X), 5):
        x, out = (real * X.shape[1])(*X[t]), (real * expected.shape[1])()
        functions.m_decision(x, out)
        np.testing.assert_allclose(list(out), expected[t], rtol=0, atol=bound)
        if np.abs(expected[t]).min() > bound and expected.shape[1] == 1:
            assert model.classes_[functions.m_predict(x)] == labels[t]


@pytest.mark.parametrize("case", ["labels", "thin weights"])
def test_the_stated_error_holds_under_the_sanitizers(case, tmp_path):
    model, make = CASES[case]
    X, y = make()
    source = model.fit(X, y).to_c("m")
    X, n_outputs = X[:40].astype(np.float32), model.intercept_.size
    samples = ", ".join(f"{value:.9e}f" for value in X.ravel())
    main = f"""
#include <stdio.h>
static const float samples[] = {{{samples}}};
int main(void)
{{
    float out[{n_outputs}];
    int t, m;
    for (t = 0; t < {len(X)}; t++) {{
        m_decision(samples + t * {X.shape[1]}, out);
        for (m = 0; m < {n_outputs}; m++) printf("%.9g ", (double)out[m]);
    }}
    return 0;
}}
"""
    (tmp_path / "m.c").write_text(source + main)
    program = tmp_path / "m"
    options = ["-O3", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
    built = subprocess.run(["cc", *options, str(tmp_path / "m.c"), "-o", str(program)], capture_output=True, text=True)
    if built.returncode:
        pytest.skip("the compiler has no sanitizers")
    quiet = {"ASAN_OPTIONS": "detect_leaks=0"}
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=True, env=quiet)
    found = np.array(ran.stdout.split(), dtype=float).reshape(len(X), n_outputs)
    np.testing.assert_allclose(found, model._expansion.decision(X), rtol=0, atol=stated_error(source))


def test_bad_names_and_precisions():
    X, y = two_classes()
    model = ElementSelectedSVC(n_elements=5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"'name' parameter of to_c must be a C identifier. Got 'a b'"):
        model.to_c("a b")
    with pytest.raises(ValueError, match=r"must be 'single', 'double', 'int8' or 'int16'. Got 'half'"):
        expansion_to_c(model._expansion, "m", 0.0, precision="half")


def compiled(source, folder):
    """Compile in the strictest way, and return the functions."""
    (folder / "m.c").write_text(source, encoding="utf-8")
    made = folder / "m.so"
    subprocess.run(["cc", *STRICT, "-fPIC", "-shared", str(folder / "m.c"), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def declared(source):
    """The functions that the head of the file tells to call, and those that the linker sees."""
    head, body = source.split("*/", 1)
    return re.findall(r"(\w+)\(const", head), re.findall(r"^(?:void|int) (\w+)\(const", body, re.MULTILINE)


@pytest.mark.parametrize("precision", ["single", "double", "int8"])
@pytest.mark.parametrize("raw", [True, False])
def test_the_head_names_the_functions_to_call_and_what_they_take(raw, precision, tmp_path):
    X, y = two_classes()
    X = 50 * X + 1000
    names = [f"gene {i}" for i in range(12)]
    table, labels = pd.DataFrame(X, columns=names), np.array(["ill", "well"])[y.astype(int)]
    scaler = StandardScaler().fit(table)
    Z = scaler.transform(table) if raw else table
    model = ElementSelectedSVC(match="labels", n_elements=30, random_state=0).fit(Z, labels)
    Z = np.asarray(Z)
    source = model.to_c("m", precision=precision, scaler=scaler if raw else None)
    told, visible = declared(source)
    assert told == visible == ["m_decision", "m_predict"]
    head = source.split("*/")[0]
    scaling = "levels 0 to 255" if precision == "int8" else "raw values" if raw else "none: give values as in training"
    assert f"scaling      {scaling}" in head and "missing      NaN" in head
    used = set(model.mask_.nonzero()[0].tolist())
    listed = re.findall(r'^ \*   x\[(\d+)\]  "(gene \d+)"(  \(not read\))?$', head, re.MULTILINE)
    assert listed == [(str(i), name, "" if i in used else "  (not read)") for i, name in enumerate(names)]
    assert re.findall(r'^ \*   (\d)  "(\w+)"$', head, re.MULTILINE) == [("0", "ill"), ("1", "well")]
    functions = compiled(source, tmp_path)
    if precision in TYPES:
        for x, expected in zip(X[:50], model._expansion.decision(Z[:50]), strict=True):
            out = (TYPES[precision] * 1)()
            functions.m_decision((TYPES[precision] * 12)(*x), out)
            assert out[0] == pytest.approx(expected[0], abs=1e-3 if precision == "single" else 1e-10)


def test_names_cannot_leave_the_comment(tmp_path):
    X, y = two_classes()
    names = ["*/ int a;", "/* b", "/*/", "c\nd", "e\\", "f??/", "\u202eg", "\udc80h", "µ", "*", "/", ""]
    labels = np.array(["no */", "yes\r\n"])[y]
    model = ElementSelectedSVC(n_elements=12, random_state=0).fit(pd.DataFrame(X, columns=names), labels)
    source = model.to_c("m")
    for shown in ('"* / int a;"', '"/ * b"', '"/ * /"', '"c?d"', '"e\\"', '"?g"', '"?h"', '"µ"', '"no * /"', '"yes??"'):
        assert shown in source.split("*/")[0]
    functions = compiled(source, tmp_path)
    found = [functions.m_predict((ctypes.c_float * 12)(*x)) for x in X]
    assert [model.classes_[k] for k in found] == list(model.predict(pd.DataFrame(X, columns=names)))


def test_of_very_many_features_only_those_that_are_read_are_listed():
    names = [f"g{i}" for i in range(5000)]
    listed = '\n *\n * features that are read\n *   x[7]  "g7"\n *   x[4321]  "g4321"'
    assert Interface(names).listing(np.array([7, 4321])) == listed
