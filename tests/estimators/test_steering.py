"""Knowledge through scikit-learn: pipelines, metadata routing, cloning, interruption."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from eigensieve import QAlphaSelector
from eigensieve.datasets import make_two_solutions, make_weston_linear


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_side_data_through_a_pipeline(routing):
    data = make_two_solutions(random_state=0)
    side = np.random.default_rng(0).standard_normal((40, 20)) * np.where(np.arange(20) < 3, 5.0, 0.1)
    selector = QAlphaSelector(6, n_clusters=2, solver_options={"tol": 1e-7}).set_fit_request(side=True)
    direct = QAlphaSelector(6, n_clusters=2, solver_options={"tol": 1e-7}).fit(data.X, side=side)
    assert (direct.support_ != QAlphaSelector(6).fit(data.X).support_).any()
    piped = make_pipeline(selector).fit(data.X, side=side)
    np.testing.assert_array_equal(piped[-1].support_, direct.support_)
    scaled = Pipeline([("scale", MaxAbsScaler()), ("select", selector)], transform_input=["side"])
    scaled.fit(data.X, side=side)
    np.testing.assert_allclose(scaled[-1].weights_, direct.weights_, atol=1e-5)


def test_side_data_through_a_search(routing):
    X, y, _ = make_weston_linear(60, 40, random_state=0)
    side = np.random.default_rng(0).standard_normal((30, 40))
    pipeline = make_pipeline(QAlphaSelector().set_fit_request(side=True), LogisticRegression())
    search = GridSearchCV(pipeline, {"qalphaselector__n_features_to_select": [3, 6]}, cv=3)
    search.fit(X, (y > 0).astype(int), side=side)
    assert search.best_score_ > 0.6


def test_an_unsupervised_selection_sits_in_a_supervised_pipeline():
    X, y, _ = make_weston_linear(80, random_state=0)
    pipeline = make_pipeline(QAlphaSelector(6, supervision="ignore"), LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(pipeline[0].support_, QAlphaSelector(6).fit(X).support_)


def test_a_pipeline_uses_labels_by_default():
    X, y, relevant = make_weston_linear(100, random_state=1)
    pipeline = make_pipeline(QAlphaSelector(2), LogisticRegression()).fit(X, y > 0)
    assert relevant[pipeline[0].support_].all()


def test_clone_keeps_every_parameter():
    model = QAlphaSelector(3, criterion="blocks", strength=0.5, solver_options={"n_init": 3})
    assert clone(model).get_params() == model.get_params()


def test_interruption_leaves_the_estimator_as_it_was(monkeypatch):
    data = make_two_solutions(random_state=0)
    model = QAlphaSelector(6).fit(data.X, data.y[:, 0])
    before = model.weights_

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigensieve.qalpha.search.solve_steered", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data.X, data.y[:, 1])
    assert model.weights_ is before


def test_progress_is_shown_for_every_kind_of_knowledge(capsys):
    data = make_two_solutions(random_state=0)
    few = np.where(np.arange(150) % 5 == 0, data.y[:, 1], -1)
    for y, criterion in ((data.y[:, 1], "energy"), (data.y[:, 1], "blocks"), (few, "energy")):
        QAlphaSelector(6, verbose=2, criterion=criterion).fit(data.X, y)
        assert "step 1: criterion" in capsys.readouterr().err
