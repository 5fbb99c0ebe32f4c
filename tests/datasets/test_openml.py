"""Fetchers, with scikit-learn's own fetch_openml replaced: no test goes to the network."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from eigensieve.datasets import fetch_real, list_openml


@pytest.fixture
def openml(monkeypatch):
    """Answer for 'wine' (178 x 13), 'crx' and 'boston_housing' as OpenML would."""
    calls = []

    def fetch(*, data_id, as_frame, parser, data_home):
        calls.append({"data_id": data_id, "data_home": data_home})
        rng = np.random.default_rng(data_id)
        n_samples, n_features = {187: (178, 13), 29: (690, 15), 531: (506, 13), 41: (10, 9)}[data_id]
        target = rng.choice(["b", "a"], size=n_samples).astype(object)
        return Bunch(
            data=rng.normal(size=(n_samples, n_features)),
            target=rng.normal(size=n_samples) if data_id == 531 else target,
            feature_names=[f"f{i}" for i in range(n_features)],
            categories={"f1": ["x", "y"]} if data_id == 29 else {},
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return calls


def test_classes_become_integers(openml, tmp_path):
    bunch = fetch_real("wine", data_home=tmp_path)
    assert openml == [{"data_id": 187, "data_home": tmp_path}]
    assert bunch.data.shape == (178, 13) and bunch.data.dtype == np.float64
    assert bunch.class_names == ["a", "b"] and set(bunch.target) == {0, 1}
    assert bunch.source == "openml:187" and not bunch.categorical.any()


def test_categories_are_marked(openml):
    bunch = fetch_real("crx")
    assert np.flatnonzero(bunch.categorical).tolist() == [1]
    assert bunch.categories == {"f1": ["x", "y"]}


def test_regression_target_stays_float(openml):
    bunch = fetch_real("boston_housing")
    assert bunch.target.dtype == np.float64 and bunch.class_names is None


def test_same_keys_as_local_sets(openml, tmp_path, monkeypatch):
    from eigensieve.datasets import load_real

    np.savez(tmp_path / "tiny.npz", X=np.eye(2))
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    assert set(fetch_real("wine")) == set(load_real("tiny"))


def test_changed_public_copy_is_reported(openml):
    with pytest.raises(ValueError, match=r"should be 'glass' with shape \(214, 9\) but has shape \(10, 9\)"):
        fetch_real("glass")


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of arrhythmia, .*wine. Got 'nope' instead"):
        fetch_real("nope")
    assert list_openml() == sorted(list_openml()) and "wine" in list_openml()
