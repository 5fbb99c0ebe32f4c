"""The machine in whole numbers: the C file against a plain evaluation, its stated error, and its own emulation."""

import ctypes
import re
import subprocess

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC, ElementSelectedSVR
from eigensieve.elements import FixedPoint
from eigensieve.elements.fixed_point import FAR, powers

LEVELS = {"int8": (ctypes.c_ubyte, 255), "int16": (ctypes.c_ushort, 16383)}
STRICT = ["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
CHECKED = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
needs_compiler = pytest.mark.skipif(
    subprocess.run(["sh", "-c", "command -v cc"], capture_output=True).returncode != 0, reason="no C compiler"
)


def two_classes():
    return make_classification(n_samples=300, n_features=10, n_informative=6, random_state=0)


def three_classes():
    return make_blobs(n_samples=200, n_features=5, centers=3, cluster_std=3.0, random_state=1)


def six_classes():
    return make_blobs(n_samples=300, n_features=8, centers=6, cluster_std=3.0, random_state=1)


def wide_range():
    """One value far away: most samples share few levels."""
    X, y = two_classes()
    X[0] *= 40
    return X, y


def numbers():
    X = np.random.default_rng(0).uniform(-2, 2, size=(300, 4))
    return X, 1e4 * np.sin(X[:, 0]) + 5e5


CASES = {
    "labels": (ElementSelectedSVC(match="labels", n_elements=60, refine=True, random_state=0), two_classes),
    "decision": (ElementSelectedSVC(SVC(C=5), match="decision", n_elements=60, random_state=0), two_classes),
    "three classes": (ElementSelectedSVC(match="labels", n_elements=40, random_state=0), three_classes),
    "thin weights": (ElementSelectedSVC(match="labels", n_elements=60, refine=True, random_state=0), six_classes),
    "whole vectors": (ElementSelectedSVC(SVC(), shape="basis", n_elements=60, tol=0), two_classes),
    "outlier": (ElementSelectedSVC(match="labels", n_elements=40, random_state=0), wide_range),
    "regression": (ElementSelectedSVR(match="labels", n_elements=30, random_state=0), numbers),
}


def stated(source):
    unit, error, rounding = (
        float(re.search(pattern, source).group(1))
        for pattern in (r"times (\S+) in the units", r"error +at most (\S+)", r"adds at most (\S+)")
    )
    return unit, error, rounding


@pytest.fixture(scope="module", params=list(CASES))
def fitted(request):
    model, make = CASES[request.param]
    X, y = make()
    return model.fit(X, y), X


def test_powers_of_two():
    z = np.arange(FAR + 1)
    # Half a unit of the table, half of the interpolation, the chord's distance, and one unit that the shift drops.
    allowed = (0.5 + 0.5 + (np.log(2) / 64) ** 2 / 8 * 2**15 + 1) * 2.0**-15
    np.testing.assert_allclose(powers(z) * 2.0**-15, 2.0 ** (-z / 4096), rtol=0, atol=allowed)


@pytest.mark.parametrize("precision", LEVELS)
def test_the_bounds_hold_for_any_level_and_any_sample(fitted, precision):
    model, X = fitted
    fixed = FixedPoint.of(model._expansion, model._low, model._high, precision)
    rng = np.random.default_rng(1)
    anywhere = rng.integers(0, fixed.top + 1, size=(400, X.shape[1]))
    corners = rng.choice([0, fixed.top], size=(100, X.shape[1]))
    for levels in (anywhere, corners, fixed.levels(X)):
        exact = model._expansion.decision(fixed.low + fixed.step * levels)
        assert np.abs(fixed.unit * fixed.decision(levels) - exact).max() <= fixed.error_bound
    moved = model._expansion.decision(fixed.low + fixed.step * fixed.levels(X)) - model._expansion.decision(X)
    assert np.abs(moved).max() <= fixed.input_error_bound


@needs_compiler
@pytest.mark.parametrize("precision", LEVELS)
def test_the_c_file_computes_the_same_whole_numbers(fitted, precision, tmp_path):
    model, X = fitted
    source = model.to_c("m", precision=precision)
    assert "#include" not in source and "float" not in source and "double" not in source
    (tmp_path / "m.c").write_text(source)
    subprocess.run(
        ["cc", *STRICT, "-nostdlib", "-fPIC", "-shared", str(tmp_path / "m.c"), "-o", str(tmp_path / "m.so")],
        check=True,
    )
    library, (kind, _) = ctypes.CDLL(str(tmp_path / "m.so")), LEVELS[precision]
    levels = model.to_levels(X, precision=precision)
    expected = FixedPoint.of(model._expansion, model._low, model._high, precision).decision(levels.astype(np.int64))
    unit, error, rounding = stated(source)
    exact = model._expansion.decision(X)
    for t in range(0, len(X), 4):
        x, out = (kind * X.shape[1])(*map(int, levels[t])), (ctypes.c_long * exact.shape[1])()
        library.m_decision(x, out)
        assert list(out) == list(expected[t])
        assert np.abs(unit * np.array(out) - exact[t]).max() <= error + rounding
        if hasattr(model, "classes_") and exact.shape[1] == 1 and abs(exact[t, 0]) > error + rounding:
            assert library.m_predict(x) == int(exact[t, 0] > 0)
    assert hasattr(model, "classes_") == ("m_predict" in source)


@needs_compiler
@pytest.mark.parametrize("precision", LEVELS)
def test_no_undefined_behaviour(precision, tmp_path):
    X, y = two_classes()
    model = ElementSelectedSVC(match="labels", n_elements=40, random_state=0).fit(X, y)
    kind = "unsigned char" if precision == "int8" else "unsigned short"
    main = f"""
#include <stdio.h>
int main(void)
{{
    {kind} x[10];
    long out[1], sum = 0;
    unsigned long seed = 1;
    int k, i;
    for (k = 0; k < 2000; k++) {{
        for (i = 0; i < 10; i++) {{
            seed = (seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
            x[i] = k == 0 ? 0 : k == 1 ? ({kind})-1 : ({kind})(seed >> 12);
        }}
        m_decision(x, out);
        sum += out[0] > 0 ? m_predict(x) : -m_predict(x);
    }}
    printf("%ld\\n", sum);
    return 0;
}}
"""
    (tmp_path / "m.c").write_text(model.to_c("m", precision=precision) + main)
    built = subprocess.run(["cc", *CHECKED, str(tmp_path / "m.c"), "-o", str(tmp_path / "m")], capture_output=True)
    if built.returncode:
        pytest.skip("the compiler has no sanitizers")
    # Leak detection does not work under every tracer; there is no heap to leak from.
    ran = subprocess.run([str(tmp_path / "m")], capture_output=True, text=True, env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 0


def test_it_is_as_good_and_small():
    X, y = make_classification(n_samples=900, n_features=20, n_informative=8, random_state=0)
    model = ElementSelectedSVC(match="labels", n_elements=80, random_state=0).fit(X[:500], y[:500])
    exact = roc_auc_score(y[500:], model.decision_function(X[500:]))
    for precision, allowed in (("int8", 0.005), ("int16", 0.0005)):
        fixed = FixedPoint.of(model._expansion, model._low, model._high, precision)
        assert abs(roc_auc_score(y[500:], fixed.decision(fixed.levels(X[500:]))[:, 0]) - exact) < allowed
    assert fixed.error_bound < 0.01 * np.ptp(model.decision_function(X))


def test_only_the_rbf_kernel_and_numbers_that_exist():
    X, y = two_classes()
    model = ElementSelectedSVC(SVC(kernel="linear"), match="decision", n_elements=5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"for the linear kernel. Got 'int8' instead. Hand over an 'estimator' with"):
        model.to_c(precision="int8")
    model = ElementSelectedSVC(n_elements=5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.to_levels(np.full((1, 10), np.nan))
