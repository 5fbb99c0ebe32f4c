"""FeatureMap as an estimator, a selector and a picture."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import FeatureMap
from eigensieve.datasets import make_two_solutions, make_weston_linear
from eigensieve.estimators.feature_map import overlaps
from eigensieve.plotting import FeatureMapDisplay

pytestmark = [
    pytest.mark.filterwarnings("ignore:FeatureMap found no other structure"),
]

mpl.use("Agg")


@parametrize_with_checks([FeatureMap()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_two_solutions(random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return FeatureMap().fit(pd.DataFrame(data.X, columns=data.feature_names))


def test_shapes_and_units(fitted):
    assert fitted.weights_.shape == fitted.relevance_.shape == fitted.coordinates_.shape == (20, 2)
    np.testing.assert_allclose(np.linalg.norm(fitted.weights_, axis=0), 1.0)
    np.testing.assert_allclose(np.linalg.norm(fitted.relevance_, axis=0), 1.0)
    assert np.abs(fitted.coordinates_).max() <= np.pi
    assert fitted.embeddings_.shape == (2, 150, 2)


def test_the_rounds_cover_both_solutions(data, fitted):
    assert set(fitted.get_feature_names_out()) == {"1", "2", "3", "A", "B", "C", "1A", "2B", "3C"}
    assert set(np.asarray(data.feature_names)[fitted.rounds_ == 1]) == {"A", "B", "C"}
    assert (fitted.rounds_[~fitted.support_] == -1).all()


def test_hybrids_are_relevant_in_both_rounds(fitted):
    relative = fitted.relevance_[6:9] / fitted.relevance_.max(axis=0)
    assert relative.min() > 0.3
    assert fitted.relevance_[9:].max() < 0.1


def test_a_number_is_taken_from_the_rounds_in_turn(data):
    model = FeatureMap(4).fit(data.X)
    first, second = (np.argsort(-column) for column in model.weights_.T)
    assert model.ranking_[first[0]] == 1
    assert model.ranking_[second[0]] == 2
    assert np.bincount(model.rounds_[model.support_]).tolist() == [2, 2]
    assert sorted(model.ranking_) == list(range(1, 21))


def test_features_on_one_round_are_qalpha(data):
    from eigensieve import QAlphaSelector

    one = FeatureMap(6, n_rounds=1, solver_options={"tol": 1e-7}).fit(data.X)
    plain = QAlphaSelector(6, n_clusters=2, solver_options={"tol": 1e-7}).fit(data.X)
    np.testing.assert_allclose(one.weights_[:, 0], plain.weights_, atol=1e-5)
    np.testing.assert_allclose(one.relevance_, one.weights_, atol=1e-5)


def test_the_frame_holds_what_is_drawn(fitted):
    frame = fitted.to_frame()
    assert frame.loc["2B", "selected"]
    np.testing.assert_array_equal(frame["weight_2"], fitted.weights_[:, 1])
    np.testing.assert_array_equal(frame["relevance_2"], fitted.relevance_[:, 1])
    np.testing.assert_array_equal(frame["coordinate_1"], fitted.coordinates_[:, 0])


def test_the_picture(fitted):
    display = fitted.plot(n_labels=9)
    assert isinstance(display, FeatureMapDisplay)
    assert len(display.ellipses_) == 20
    centers = np.array([ellipse.center for ellipse in display.ellipses_])
    np.testing.assert_allclose(centers, fitted.coordinates_)
    widths = np.array([ellipse.width for ellipse in display.ellipses_])
    assert widths.argmax() == fitted.relevance_[:, 0].argmax()
    names = {text.get_text() for text in display.ax_.texts}
    assert names == {"1", "2", "3", "A", "B", "C", "1A", "2B", "3C"}
    swapped = FeatureMapDisplay.from_estimator(fitted, rounds=(1, 0))
    assert swapped.ellipses_[0].center == tuple(fitted.coordinates_[0, ::-1])
    with pytest.raises(ValueError, match="must be two numbers from 0 to 1"):
        fitted.plot(rounds=(0, 2))


def test_side_data_and_sparse_input(data):
    side = np.zeros((30, 20))
    side[:, :3] = 5 * np.random.default_rng(0).standard_normal((30, 3))
    model = FeatureMap().fit(data.X, side=side)
    assert np.argmax(model.weights_[:, 0]) >= 3
    dense, sparse = (
        FeatureMap(solver_options={"tol": 1e-7}).fit(data.X),
        FeatureMap(solver_options={"tol": 1e-7}).fit(sp.csr_array(data.X)),
    )
    np.testing.assert_allclose(sparse.weights_, dense.weights_, atol=1e-5)


def test_in_a_pipeline(data):
    labels = make_pipeline(FeatureMap(), KMeans(9, n_init=2, random_state=0)).fit_predict(data.X)
    assert len(np.unique(labels)) == 9


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_rounds": 0}, "'n_rounds' parameter of FeatureMap"),
        ({"round_strength": 0.0}, "'round_strength' parameter of FeatureMap"),
        ({"n_clusters": 151}, "'n_clusters' parameter of FeatureMap must be at most the number of samples"),
        ({"solver_options": {"shift": "moving"}}, "'solver_options' parameter .* hold only 'init', 'n_init'"),
    ],
)
def test_bad_input(data, options, match):
    with pytest.raises(ValueError, match=match):
        FeatureMap(**options).fit(data.X)


def test_labelled_rounds_find_both_groups_that_tell_the_classes_apart():
    X, y, _ = make_weston_linear(100, random_state=0)
    model = FeatureMap(4, round_strength=0.1).fit(X, np.where(y > 0, "up", "down"))
    chosen = model.get_support(indices=True)
    assert (chosen < 6).all()
    assert (chosen < 3).any()
    assert (chosen >= 3).any()
    assert model.embeddings_.shape == (2, 100, 1)


def test_labels_can_be_ignored_and_partly_unknown(data):
    ignored = FeatureMap(supervision="ignore").fit(data.X, data.y[:, 1])
    np.testing.assert_array_equal(ignored.weights_, FeatureMap().fit(data.X).weights_)
    few = np.where(np.arange(150) % 5 == 0, data.y[:, 1], -1)
    assert set(np.argsort(-FeatureMap().fit(data.X, few).weights_[:, 0])[:6]) == {3, 4, 5, 6, 7, 8}


def test_a_second_round_of_the_same_structure_is_said_to_be_one(data):
    copies = np.repeat(np.random.default_rng(0).standard_normal((60, 2)), 10, axis=1)
    copies += 0.1 * np.random.default_rng(1).standard_normal(copies.shape)
    with pytest.warns(UserWarning, match="no other structure: round 2 groups the samples as an earlier round does"):
        model = FeatureMap().fit(copies)
    assert model.overlaps_[0] == 0.0
    assert model.overlaps_[1] > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FeatureMap().fit(data.X).overlaps_[1] < 0.5


def test_overlap_is_the_mean_squared_canonical_correlation():
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 5)))[0]
    U -= U.mean(axis=0)
    U = np.linalg.qr(U)[0]
    angle = 0.3
    turned = np.column_stack([np.cos(angle) * U[:, 0] + np.sin(angle) * U[:, 2], U[:, 3]])
    found = overlaps(np.stack([U[:, :2], turned, 5 * turned[:, ::-1] + 7]))
    np.testing.assert_allclose(found, [0, np.cos(angle) ** 2 / 2, 1], atol=1e-12)
