"""Features scaled by weights: the formula on every kind of data, and clusters of new samples."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import FeatureMap, QAlphaSelector, SieveSelector, WeightedFeatures, load_model, save_model
from support.backends import FEW, tolerance

rng = np.random.default_rng(0)
KIND = np.arange(60) % 3
X = rng.standard_normal((60, 30))
X[:, :6] += rng.normal(0, 4.0, (3, 6))[KIND]
NEW = rng.standard_normal((12, 30))
NEW[:, :6] += X[:3, :6][np.arange(12) % 3]


@parametrize_with_checks([WeightedFeatures()])
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("backend", FEW)
@pytest.mark.parametrize(("power", "floor"), [(1.0, 0.0), (0.5, 0.1)])
def test_features_are_scaled_by_the_formula(backend: str, power: float, floor: float) -> None:
    alpha = np.maximum(QAlphaSelector(6, 2).fit(X).weights_, 0.0)
    expected = X * (floor + (1 - floor) * alpha / alpha.max()) ** power
    data = FEW[backend](X)
    found = WeightedFeatures(QAlphaSelector(6, 2), power=power, floor=floor).fit(data).transform(data)
    assert sp.issparse(found) == sp.issparse(data)
    found = found.toarray() if sp.issparse(found) else np.asarray(found)
    np.testing.assert_allclose(found, expected, atol=tolerance(backend, double=1e-6, single=2e-3))


def test_names_and_labels_pass_through() -> None:
    frame = pd.DataFrame(X).add_prefix("g")
    model = (
        WeightedFeatures(SieveSelector(4)).set_output(transform="pandas").fit(frame, KIND, batches=np.arange(60) % 2)
    )
    assert list(model.transform(frame).columns) == list(frame.columns)
    assert model.selector_.supervised_
    assert model.scale_.max() == 1.0 and model.scale_[6:].max() < 0.5


def test_gaps_stay_where_the_selector_takes_them() -> None:
    gaps = X.copy()
    gaps[3, 2] = np.nan
    model = WeightedFeatures(SieveSelector(4)).fit(gaps)
    np.testing.assert_allclose(model.transform(gaps), gaps * model.scale_)
    with pytest.raises(ValueError, match="NaN"):
        WeightedFeatures(QAlphaSelector(4, 2)).fit(gaps)


def test_new_samples_have_the_coordinates_of_the_affinity() -> None:
    """With A = sum_i alpha_i m_i m_i' = Q Lambda Q', a sample with the features z is at z diag(alpha) M' Q / Lambda."""
    scaler = StandardScaler().fit(X)
    M, Z = scaler.transform(X), scaler.transform(NEW)
    model = make_pipeline(StandardScaler(), WeightedFeatures(QAlphaSelector(6, 2)), PCA(2, whiten=True)).fit(X)
    alpha = model[1].scale_ ** 2
    values, vectors = np.linalg.eigh((M * alpha) @ M.T)
    Q, Lambda = vectors[:, -2:], values[-2:]
    for given, rows in ((X, M), (NEW, Z)):
        expected = (rows * alpha) @ M.T @ Q / Lambda * np.sqrt(59.0)
        found = model.transform(given)[:, ::-1]
        np.testing.assert_allclose(found * np.sign(np.sum(found * expected, axis=0)), expected, atol=1e-8)
    fitted = model[1].selector_.embedding_
    np.testing.assert_allclose(Q @ Q.T, fitted @ fitted.T, atol=0.02)


def test_new_samples_get_the_cluster_of_the_nearest_centroid() -> None:
    steps = (StandardScaler(), WeightedFeatures(QAlphaSelector(6, 2)), PCA(2, whiten=True), KMeans(3, random_state=0))
    model = make_pipeline(*steps).fit(X)
    clusters = model[-1].labels_
    assert len({(a, b) for a, b in zip(KIND, clusters, strict=True)}) == 3
    np.testing.assert_array_equal(model.predict(NEW), clusters[np.arange(12) % 3])


def test_it_is_saved_and_loaded(tmp_path) -> None:
    model = WeightedFeatures(QAlphaSelector(4, 2), floor=0.2).fit(X)
    save_model(model, tmp_path / "weights.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "weights.skops").transform(NEW), model.transform(NEW))


def test_a_selector_without_one_weight_per_feature_is_refused() -> None:
    rounds = FeatureMap(4)
    with (
        pytest.warns(UserWarning, match="Use fewer rounds"),
        pytest.raises(ValueError, match=r"one weight per feature.*Got FeatureMap instead; use SieveSelector"),
    ):
        WeightedFeatures(rounds).fit(X)
