"""RejectionCascade: threshold, the share that reaches the full classifier, the report."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import ElementSelectedSVC, RejectionCascade
from eigensieve.elements import false_negative_bound, rejection_rates, rejection_threshold


@parametrize_with_checks([RejectionCascade(ElementSelectedSVC(n_elements=5, random_state=0), SVC(), random_state=0)])
@pytest.mark.filterwarnings("ignore:n_elements=")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(n_samples=1200, n_features=10, n_informative=6, class_sep=1.5, random_state=0)
    return X[:800], X[800:], y[:800], y[800:]


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=200, unique=True),
    st.floats(0.001, 0.9),
)
def test_threshold_is_the_conformal_quantile(scores, rate):
    threshold = rejection_threshold(np.array(scores), rate)
    lost = (np.array(scores) < threshold).sum()
    n = len(scores)
    if threshold == -np.inf:
        assert rate * (n + 1) < 1 + 1e-9
    else:
        assert (lost + 1) / (n + 1) <= rate + 1e-9  # expected rate for a new positive
        assert (lost + 2) / (n + 1) > rate - 1e-9  # and no larger threshold keeps it


def test_threshold_keeps_its_promise_on_average():
    rng = np.random.default_rng(0)
    lost = [(rng.normal(size=2000) < rejection_threshold(rng.normal(size=100), 0.05)).mean() for _ in range(400)]
    assert np.mean(lost) == pytest.approx(5 / 101, abs=0.004)


@pytest.mark.parametrize(("n", "rate", "confidence"), [(150, 0.02, 0.95), (400, 0.05, 0.9), (30, 0.2, 0.8)])
def test_threshold_with_confidence_is_clopper_and_pearsons(n, rate, confidence):
    threshold = rejection_threshold(np.arange(n, dtype=float), rate, confidence)
    lost = int(threshold)
    # k or fewer of n positives lost has probability at most 1 - confidence if the true rate is the wanted one
    assert binom.cdf(lost, n, rate) <= 1 - confidence < binom.cdf(lost + 1, n, rate)
    bound = false_negative_bound(lost, n, confidence)
    assert binom.cdf(lost, n, bound) == pytest.approx(1 - confidence)


def test_confidence_needs_enough_positives():
    assert rejection_threshold(np.arange(148.0), 0.02, 0.95) == -np.inf
    assert rejection_threshold(np.arange(149.0), 0.02, 0.95) == 0.0


def test_threshold_keeps_its_promise_with_confidence():
    rng = np.random.default_rng(0)
    thresholds = np.array([rejection_threshold(rng.normal(size=200), 0.05, 0.9) for _ in range(500)])
    exceeded = (norm.cdf(thresholds) > 0.05).mean()
    assert exceeded < 0.1 + 0.03  # two standard errors


def test_cascade_with_confidence_loses_less(data):
    X, X_test, y, y_test = data
    rejector, classifier = LogisticRegression().fit(X, y), SVC().fit(X, y)
    average = RejectionCascade(rejector, classifier, 0.05).fit(X_test, y_test)
    sure = RejectionCascade(rejector, classifier, 0.05, confidence=0.95).fit(X_test, y_test)
    assert sure.threshold_ < average.threshold_
    assert sure.false_negative_bound_ <= 0.05 < average.false_negative_bound_
    none = RejectionCascade(rejector, classifier, 0.001, confidence=0.95).fit(X_test, y_test)
    assert none.rejection_rate_ == none.false_negative_bound_ == 0.0


def test_rates_by_hand():
    scores = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    positive = np.array([False, False, True, False, False, True, True, True])
    assert rejection_rates(scores, positive, 0.5) == (0.75, 0.25)


@pytest.mark.parametrize("classifier", [SVC(C=5), RandomForestClassifier(20, random_state=0), GaussianNB()])
@pytest.mark.parametrize("fitted", [True, False])
def test_only_what_was_not_rejected_reaches_the_classifier(data, classifier, fitted):
    X, X_test, y, _ = data
    if fitted:
        classifier = FrozenEstimator(classifier.fit(X, y))
    cascade = RejectionCascade(
        ElementSelectedSVC(SVC(C=5), n_elements=30, random_state=0), classifier, 0.05, random_state=0
    ).fit(X, y)
    rejected = cascade.rejected(X_test)
    assert 0.2 < rejected.mean() < 0.8
    expected = np.where(rejected, 0, cascade.classifier_.predict(X_test))
    np.testing.assert_array_equal(cascade.predict(X_test), expected)


def test_matrix_products_change_nothing(data):
    X, X_test, y, _ = data
    for svc in (SVC(C=5), SVC(kernel="poly", degree=2, coef0=1), SVC(kernel="linear")):
        one, two = (
            RejectionCascade(ElementSelectedSVC(SVC(), n_elements=20, random_state=0), svc, matrix_products=flag,
                             random_state=0).fit(X, y)
            for flag in (True, False)
        )  # fmt: skip
        assert one._full is not None and two._full is None
        np.testing.assert_array_equal(one.predict(X_test), two.predict(X_test))
        kept = X_test[:50]
        np.testing.assert_allclose(one._full.decision(kept)[:, 0], one.classifier_.decision_function(kept), atol=1e-9)


def test_classifier_sees_only_the_survivors(data):
    class Counting(SVC):
        seen = 0

        def predict(self, X):
            Counting.seen += len(X)
            return super().predict(X)

    X, X_test, y, _ = data
    cascade = RejectionCascade(
        ElementSelectedSVC(SVC(C=5), n_elements=30, random_state=0),
        Counting(C=5),
        matrix_products=False,
        random_state=0,
    ).fit(X, y)
    cascade.predict(X_test)
    assert Counting.seen == (~cascade.rejected(X_test)).sum() < len(X_test)


def test_held_out_threshold_and_rates(data):
    X, X_test, y, y_test = data
    rejector = ElementSelectedSVC(SVC(C=5), n_elements=40, random_state=0).fit(X, y)
    svc = SVC(C=5).fit(X, y)
    cascade = RejectionCascade(rejector, svc, 0.05).fit(X_test, y_test)
    assert cascade.rejector_ is rejector and cascade.classifier_ is svc
    scores = rejector.decision_function(X_test)
    assert cascade.threshold_ == rejection_threshold(scores[y_test == 1], 0.05)
    assert cascade.rejection_rate_ == (scores[y_test == 0] < cascade.threshold_).mean()
    assert cascade.false_negative_rate_ <= 0.05
    assert cascade.score(X_test, y_test) > svc.score(X_test, y_test) - 0.05


def test_report(data):
    X, X_test, y, _ = data
    cascade = RejectionCascade(random_state=0).fit(X, y)
    report = cascade.report(X_test)
    survivors = 1 - report["rejection_rate"]
    n_sv = len(cascade.classifier_.support_)
    columns = np.count_nonzero(cascade.rejector_.widths_)
    assert report["full_kernel_evaluations"] == n_sv
    assert report["kernel_evaluations"] == pytest.approx(columns + survivors * n_sv)
    assert report["speed_up"] > 0
    forest = RejectionCascade(LogisticRegression(), RandomForestClassifier(5), random_state=0).fit(X, y)
    assert np.isnan(forest.report(X_test)["kernel_evaluations"])


def test_probabilities_serve_as_scores(data):
    X, X_test, y, _ = data
    cascade = RejectionCascade(GaussianNB(), SVC(), random_state=0).fit(X, y)
    assert 0 < cascade.rejected(X_test).mean() < 1


def test_string_labels(data):
    X, X_test, y, _ = data
    names = np.array(["background", "face"])[y]
    cascade = RejectionCascade(ElementSelectedSVC(n_elements=20, random_state=0), SVC(), random_state=0).fit(X, names)
    assert set(cascade.predict(X_test)) == {"background", "face"}


class TestBadInput:
    def test_class_missing_from_the_calibration_data(self, data):
        X, X_test, y, y_test = data
        rejector, svc = ElementSelectedSVC(n_elements=10, random_state=0).fit(X, y), SVC().fit(X, y)
        one_class = X_test[y_test == 1]
        with pytest.raises(ValueError, match="is missing from the calibration data"):
            RejectionCascade(rejector, svc).fit(np.vstack([one_class, one_class]), np.repeat([1, 7], len(one_class)))

    def test_more_than_two_classes(self, data):
        X = data[0]
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            RejectionCascade().fit(X, np.arange(len(X)) % 3)

    def test_models_with_different_classes(self, data):
        X, _, y, _ = data
        with pytest.raises(ValueError, match="must know the same two classes"):
            RejectionCascade(LogisticRegression().fit(X, y), SVC().fit(X, y + 1)).fit(X, y)

    def test_rejector_without_scores(self, data):
        from sklearn.cluster import KMeans

        X, _, y, _ = data
        rejector = KMeans(2, n_init=1, random_state=0).fit(X)
        rejector.classes_ = np.array([0, 1])
        with pytest.raises(ValueError, match="decision_function or predict_proba"):
            RejectionCascade(rejector, SVC().fit(X, y)).fit(X, y)

    def test_feature_names(self, data):
        pd = pytest.importorskip("pandas")
        X, _, y, _ = data
        frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)])
        cascade = RejectionCascade(ElementSelectedSVC(n_elements=10), SVC(), random_state=0).fit(frame, y)
        with pytest.raises(ValueError, match="same order"):
            cascade.predict(frame[frame.columns[::-1]])
