"""ElementSelectedSVC with match="labels": what a user sees."""

import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC


def moons(seed, n=600, noise=6):
    """Two half moons among features of noise."""
    X, y = make_moons(n, noise=0.3, random_state=seed)
    return np.hstack([X, np.random.default_rng(seed).normal(size=(n, noise))]), y


@pytest.fixture(scope="module")
def fitted():
    X, y = moons(0)
    return ElementSelectedSVC(match="labels", n_elements=40, refine=True, random_state=0).fit(X, y)


def test_decisions_follow_from_the_public_attributes(fitted):
    X, _ = moons(1)
    total = np.full(len(X), fitted.intercept_[0])
    for j, width in enumerate(fitted.widths_):
        seen = fitted.mask_[:, [j]].nonzero()[0]
        squares = ((X[:, seen] - fitted.support_vectors_[j, seen]) ** 2).sum(axis=1)
        total += fitted.dual_coef_[0, j] * np.maximum(1 - width * squares / 4, 0) ** 4
    np.testing.assert_allclose(fitted.decision_function(X), total, atol=3e-6)
    assert fitted.n_elements_ == fitted.mask_.sum() == 40 == fitted.path_.size


def test_it_is_as_good_as_the_machine_and_its_probabilities_are_honest(fitted):
    X, y = moons(1, n=4000)
    svc = SVC().fit(*moons(0))
    assert roc_auc_score(y, fitted.decision_function(X)) > roc_auc_score(y, svc.decision_function(X)) - 0.01
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    seen, said = calibration_curve(y, p[:, 1], n_bins=5, strategy="quantile")
    assert np.abs(seen - said).max() < 0.1
    assert ((seen - said) * (seen - 0.5)).sum() > 0  # mixtures make them cautious, not too sure
    np.testing.assert_array_equal(fitted.predict(X), p[:, 1] > 0.5)


def test_classes_share_columns():
    X, y = make_blobs(n_samples=600, n_features=6, centers=4, cluster_std=3.0, random_state=1)
    names = np.array(["ash", "elm", "oak", "yew"])[y]
    model = ElementSelectedSVC(match="labels", n_elements=40, random_state=0).fit(X[:400], names[:400])
    serves = np.count_nonzero(model.dual_coef_, axis=0)  # three classes per column on average, and at least one
    assert model.dual_coef_.shape[0] == 4 and serves.min() >= 1 and serves.sum() == 3 * len(serves)
    assert model.score(X[400:], names[400:]) > SVC().fit(X[:400], names[:400]).score(X[400:], names[400:]) - 0.05
    p = model.predict_proba(X[400:])
    assert log_loss(names[400:], p) < 0.6
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[400:]))


def test_auto_keeps_few_elements_for_noise():
    X, y = moons(0)
    sizes = []
    for labels in (y, np.random.default_rng(0).permutation(y)):
        sizes.append(ElementSelectedSVC(match="labels", n_elements="auto", random_state=0).fit(X, labels).n_elements_)
    assert sizes[1] < 20 < sizes[0] <= 400


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": "joint"}, "'shape' parameter .* must be 'element' for match='labels'. Got 'joint'"),
        ({"search": "exact"}, "'search' parameter"),
        ({"match": "decision", "n_elements": "auto"}, "must be an int for match='decision'"),
    ],
)
def test_options_that_do_not_go_together(options, message):
    X, y = moons(0, n=60)
    with pytest.raises(ValueError, match=message):
        ElementSelectedSVC(**{"match": "labels", **options}).fit(X, y)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "labels"),
        ({"estimator": SVC(C=3)}, "labels"),
        ({"estimator": SVC(kernel="linear")}, "labels"),
        ({"shape": "joint"}, "decision"),
        ({"search": "exact"}, "decision"),
        ({"match": "decision"}, "decision"),
    ],
)
def test_an_unfitted_machine_is_matched_to_the_labels_and_only_then_has_probabilities(options, match):
    X, y = moons(0, n=60)
    model = ElementSelectedSVC(n_elements=5, random_state=0, **options)
    assert hasattr(model, "predict_proba") == (match == "labels")
    assert model.fit(X, y).match_ == match
    assert hasattr(model, "predict_proba") == (match == "labels")


def test_a_fitted_machine_is_imitated_unless_the_labels_are_asked_for():
    X, y = moons(0, n=60)
    svc = SVC().fit(X, y)
    for given in (svc, FrozenEstimator(svc)):
        assert ElementSelectedSVC(given, n_elements=5).fit(X, y).match_ == "decision"
    assert ElementSelectedSVC(svc, match="labels", n_elements=5).fit(X, y).match_ == "labels"


def test_a_machine_is_used_if_it_is_fitted_and_never_trained_for_the_labels():
    X, y = moons(0, n=60)
    models = {}
    for name, one in (("none", None), ("unfitted", SVC(C=1e3)), ("fitted", SVC(C=1e3).fit(X, y))):
        models[name] = ElementSelectedSVC(one, match="labels", n_elements=5, random_state=0).fit(X, y)
        assert hasattr(models[name], "estimator_") == (name == "fitted")
    values = {name: model.decision_function(X) for name, model in models.items()}
    np.testing.assert_array_equal(values["none"], values["unfitted"])
    assert not np.allclose(values["none"], values["fitted"])


def test_what_an_earlier_fit_learned_is_forgotten():
    X, y = moons(0, n=60)
    model = ElementSelectedSVC(SVC(), match="decision", shape="prototypes", n_elements=40, random_state=0).fit(X, y)
    assert hasattr(model, "estimator_") and hasattr(model, "prototypes_")
    model.set_params(match="labels", shape="element", n_elements=5).fit(X, y)
    assert not hasattr(model, "estimator_") and not hasattr(model, "prototypes_")


def test_probabilities_cannot_be_calibrated_much_further():
    X, y = moons(0, n=800, noise=20)
    X_held, y_held = moons(1, n=1000, noise=20)
    X_test, y_test = moons(2, n=3000, noise=20)
    model = ElementSelectedSVC(match="labels", n_elements=100, refine=True, random_state=0).fit(X, y)
    peer = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(X_held, y_held)
    ours, best = (log_loss(y_test, one.predict_proba(X_test)) for one in (model, peer))
    assert ours < best + 0.02


@pytest.mark.parametrize("options", [{"match": "labels", "refine": True}, {"match": "decision"}])
def test_more_elements_are_not_worse(options):
    X, digits = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X / 16, digits == 8, train_size=500, random_state=0)
    svc = SVC(C=10).fit(train, y_train)
    areas = []
    for n_elements in (100, 500):
        model = ElementSelectedSVC(svc, n_elements=n_elements, random_state=0, **options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(train, y_train)
        assert bool(caught) == (model.n_elements_ < n_elements), "an early stop warns"
        areas.append(roc_auc_score(y_test, model.decision_function(test)))
    # The standard error of either area is about 0.002 here.
    assert areas[1] > areas[0] - 0.002
