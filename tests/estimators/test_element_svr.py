"""ElementSelectedSVR: what a user sees."""

import ctypes
import re
import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import ElementSelectedSVR, load_model, save_model

pytestmark = pytest.mark.filterwarnings("ignore:.* elements were found", "ignore:n_elements=.* is more than")


@parametrize_with_checks([ElementSelectedSVR(random_state=0), ElementSelectedSVR(match="decision", random_state=0)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(n_samples=700, n_features=10, noise=0.5, random_state=0)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def svr(friedman):
    return SVR(C=50, gamma=1.0).fit(friedman[0], friedman[1])


@pytest.mark.parametrize("match", ["decision", "kernel", "labels"])
def test_predictions_follow_from_the_public_attributes(match, friedman, svr):
    X, y, X_test, _ = friedman
    search = "probabilistic" if match == "kernel" else "guided"
    model = ElementSelectedSVR(svr, n_elements=60, match=match, search=search, random_state=0).fit(X, y)
    gamma = 1.0 if match == "labels" else svr._gamma
    total = np.full(len(X_test), model.intercept_[0])
    for j in np.flatnonzero(model.widths_):
        seen = model.mask_[:, [j]].nonzero()[0]
        squares = ((X_test[:, seen] - model.support_vectors_[j, seen]) ** 2).sum(axis=1)
        z = gamma * model.widths_[j] * squares
        total += model.dual_coef_[0, j] * (np.maximum(1 - z / 4, 0) ** 4 if match == "labels" else np.exp(-z))
    np.testing.assert_allclose(model.predict(X_test), total, rtol=1e-4, atol=1e-4)
    assert not hasattr(model, "classes_") and not hasattr(model, "predict_proba")


def test_labels_are_matched_better_than_by_a_line_and_nearly_as_by_the_machine(friedman, svr):
    X, y, X_test, y_test = friedman
    for options in ({"match": "labels", "refine": True}, {"match": "decision", "refine": True}):
        model = ElementSelectedSVR(svr, n_elements=100, random_state=0, **options).fit(X, y)
        score = model.score(X_test, y_test)
        assert score > Ridge().fit(X, y).score(X_test, y_test) + 0.05
        assert score > svr.score(X_test, y_test) - 0.05


@pytest.mark.parametrize("match", ["labels", "decision"])
def test_units_of_the_target_do_not_matter(match, friedman):
    X, y, X_test, _ = friedman
    one, two = (
        ElementSelectedSVR(SVR(C=50 * unit, epsilon=0.1 * unit), n_elements=30, match=match, tol=0, random_state=0)
        .fit(X, unit * y + 3.0 * unit)
        .predict(X_test)
        for unit in (1.0, 1024.0)
    )
    np.testing.assert_allclose(two / 1024.0, one, rtol=1e-3 if match == "labels" else 0.02)


def test_auto_keeps_few_elements_for_noise(friedman):
    X, y, *_ = friedman
    noise = np.random.default_rng(0).permutation(y)
    sizes = [
        ElementSelectedSVR(match="labels", n_elements="auto", random_state=0).fit(X, target).n_elements_
        for target in (y, noise)
    ]
    assert sizes[1] < 10 < sizes[0]


@pytest.mark.parametrize("match", ["labels", "decision"])
def test_a_constant_target(match, friedman):
    X = friedman[0]
    model = ElementSelectedSVR(n_elements=5, match=match, random_state=0).fit(X, np.full(len(X), 7.0))
    np.testing.assert_allclose(model.predict(X), DummyRegressor().fit(X, [7.0] * len(X)).predict(X))


def test_a_fitted_machine_is_used_as_it_is(friedman, svr):
    X, y, X_test, _ = friedman
    model = clone(ElementSelectedSVR(FrozenEstimator(svr), n_elements=30, random_state=0)).fit(X, -y)
    assert np.corrcoef(model.predict(X_test), svr.predict(X_test))[0, 1] > 0.8


def test_saved_and_exported(friedman, svr, tmp_path):
    X, y, X_test, _ = friedman
    model = ElementSelectedSVR(svr, n_elements=60, match="labels", random_state=0).fit(X, y)
    save_model(model, tmp_path / "m.skops")
    expected = model.predict(X_test)
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").predict(X_test), expected)
    source = model.to_c("m")
    assert "predict" not in source
    (tmp_path / "m.c").write_text(source)
    try:
        subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "m.c", "-o", tmp_path / "m.so"], check=True)
    except FileNotFoundError:
        pytest.skip("no C compiler")
    library, out = ctypes.CDLL(str(tmp_path / "m.so")), (ctypes.c_float * 1)()
    bound = float(re.search(r"error +at most (\S+)", source).group(1))
    for t in range(40):
        library.m_decision((ctypes.c_float * 10)(*X_test[t]), out)
        assert out[0] == pytest.approx(expected[t], abs=2 * bound)


def test_onnx_agrees(friedman, svr):
    ort = pytest.importorskip("onnxruntime")
    X, y, X_test, _ = friedman
    model = ElementSelectedSVR(svr, n_elements=60, match="labels", random_state=0).fit(X, y)
    session = ort.InferenceSession(model.to_onnx().SerializeToString())
    (found,) = session.run(None, {"X": X_test.astype(np.float32)})
    np.testing.assert_allclose(found[:, 0], model.predict(X_test), rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "scale", "message"),
    [
        ({"estimator": SVC()}, 1.0, r"must be an SVR, fitted or not, or None. Got SVC\(\)"),
        ({"estimator": FrozenEstimator(SVR())}, 1.0, "The SVR inside FrozenEstimator is not fitted"),
        ({}, 1e13, "Input y has values of magnitude"),
        (
            {"n_elements": "auto", "match": "decision"},
            1.0,
            "parameter of ElementSelectedSVR must be an int for match='decision'",
        ),
    ],
)
def test_bad_input(options, scale, message, friedman):
    X, y, *_ = friedman
    with pytest.raises(ValueError, match=message):
        ElementSelectedSVR(**options).fit(X, scale * y)
