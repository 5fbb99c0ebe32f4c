"""One rule for NaN: Python refuses it, exported machines give NaN. No value is undefined behaviour."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC, SVR

from eigensieve import ElementSelectedSVC, ElementSelectedSVR

CHECKS = ["-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error"]
pytestmark = pytest.mark.filterwarnings("ignore:.* elements were found")  # a linear machine may be exact before


def two_classes() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_normal((80, 9))
    X[:, 8] = 1.0  # a constant is never read
    return X, X[:, 0] + X[:, 1] > 0


def six_classes() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(300, 8, centers=6, cluster_std=3.0, random_state=1)
    return np.column_stack([X, np.ones(len(X))]), y


CASES = {
    "labels": (ElementSelectedSVC(n_elements=20, random_state=0), two_classes),
    "thin weights": (ElementSelectedSVC(n_elements=40, random_state=0), six_classes),
    "decision": (ElementSelectedSVC(match="decision", n_elements=12, random_state=0), two_classes),
    "poly": (ElementSelectedSVC(SVC(kernel="poly"), match="decision", n_elements=12, random_state=0), two_classes),
    "linear": (ElementSelectedSVC(SVC(kernel="linear"), match="decision", n_elements=6, random_state=0), two_classes),
    "numbers": (ElementSelectedSVR(SVR(), n_elements=20, random_state=0), two_classes),
}


def rows_for(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """Return a plain sample, and copies with an odd value in a feature that is read or in one that is not."""
    read = np.unique(model.mask_.nonzero()[0])
    other = np.setdiff1d(np.arange(X.shape[1]), read)
    rows = {"plain": X[0].copy()}
    for name, value in {"nan": np.nan, "inf": np.inf, "huge": -3e38}.items():
        rows[name] = X[0].copy()
        rows[name][read[-1]] = value
    rows["not read"] = X[0].copy()
    rows["not read"][other] = np.nan
    return rows


def run_in_c(model: Any, rows: dict[str, np.ndarray], precision: str, folder: Path) -> dict[str, list[float]]:
    """Return decision values and class of each row, from a program that traps undefined behaviour."""
    real, d = "float" if precision == "single" else "double", model.n_features_in_
    n_outputs, classes = model.intercept_.size, hasattr(model, "classes_")
    values = ", ".join(
        {"nan": "NAN", "inf": "INFINITY"}.get(str(v), repr(float(v))) for row in rows.values() for v in row
    )
    label = 'printf("%d\\n", m_predict(x + i * D));' if classes else 'printf("0\\n");'
    main = f"""
#include <math.h>
#include <stdio.h>
#define D {d}
int main(void)
{{
    static const {real} x[{d * len(rows)}] = {{{values}}};
    {real} decision[{n_outputs}];
    int i, m;
    for (i = 0; i < {len(rows)}; i++) {{
        m_decision(x + i * D, decision);
        for (m = 0; m < {n_outputs}; m++) printf("%.17g ", (double)decision[m]);
        {label}
    }}
    return 0;
}}
"""
    (folder / "m.c").write_text(model.to_c("m", precision=precision) + main)
    try:
        built = subprocess.run(["cc", *CHECKS, "-O1", "-o", folder / "m", folder / "m.c"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("no C compiler")
    if built.returncode:
        pytest.skip("the compiler has no checks for undefined behaviour")
    ran = subprocess.run([folder / "m"], capture_output=True, text=True)
    assert ran.returncode == 0, "undefined behaviour"
    lines = ran.stdout.splitlines()
    return {name: [float(cell) for cell in line.split()] for name, line in zip(rows, lines, strict=True)}


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("case", list(CASES))
def test_nan_in_a_feature_that_is_read_has_no_decision_in_c(case: str, precision: str, tmp_path: Path) -> None:
    model, make = CASES[case]
    X, y = make()
    rows = rows_for(model.fit(X, y), X)
    found = run_in_c(model, rows, precision, tmp_path)
    *plain, label = found["plain"]
    np.testing.assert_allclose(plain, model._decisions(X[:1])[0], atol=1e-4)
    assert np.isnan(found["nan"][:-1]).all()
    if hasattr(model, "classes_"):
        assert model.classes_[int(label)] == model.predict(X[:1])[0]
        assert found["nan"][-1] == -1
    assert found["not read"] == found["plain"]
    if case not in ("poly", "linear"):  # an infinite value is far from every centre
        assert np.isfinite(found["inf"]).all() and found["inf"] == found["huge"]


@pytest.mark.parametrize("case", list(CASES))
def test_nan_in_a_feature_that_is_read_has_no_decision_in_onnx(case: str) -> None:
    ort = pytest.importorskip("onnxruntime")
    model, make = CASES[case]
    X, y = make()
    rows = rows_for(model.fit(X, y), X)
    session = ort.InferenceSession(model.to_onnx().SerializeToString())
    values = session.run(["decision"], {"X": np.array(list(rows.values()), dtype=np.float32)})[0]
    found = dict(zip(rows, values, strict=True))
    assert np.isnan(found["nan"]).all()
    np.testing.assert_array_equal(found["not read"], found["plain"])
    if case not in ("poly", "linear"):
        np.testing.assert_array_equal(found["inf"], found["huge"])


@pytest.mark.parametrize("case", list(CASES))
def test_nan_is_refused_in_python(case: str) -> None:
    model, make = CASES[case]
    X, y = make()
    row = rows_for(model.fit(X, y), X)["nan"]
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict([row])
    if case not in ("poly", "linear"):
        with pytest.raises(ValueError, match="contains NaN"):
            model.to_levels([row])


def test_the_head_of_the_file_says_so() -> None:
    model, make = CASES["labels"]
    model.fit(*make())
    assert "every decision value is NaN, the class -1" in model.to_c()
    assert "NaN has no level" in model.to_c(precision="int8")
