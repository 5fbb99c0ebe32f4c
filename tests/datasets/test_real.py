"""Access to real data sets in a folder of the user's own."""

import numpy as np
import pytest
from scipy.sparse import issparse, random_array

from eigensieve.datasets import list_real, load_real, real_data_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with one dense, one sparse and one unlabelled set."""
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "dense.npz",
        X=rng.normal(size=(4, 6)).astype(np.float32),
        y=np.array([0, 1, 0, 1]),
        feature_names=np.array(list("abcdef")),
        class_names=np.array(["no", "yes"]),
        image_shape=np.array([2, 3]),
        image_order=np.array("F"),
        is_train=np.array([True, False, True, False]),
        categorical=np.array([False] * 5 + [True]),
        categories=np.array('{"f": ["x", "y"]}'),
        source=np.array("made up"),
    )
    csr = random_array((5, 7), density=0.4, format="csr", random_state=rng)
    np.savez(
        tmp_path / "sparse.npz",
        X_data=csr.data,
        X_indices=csr.indices,
        X_indptr=csr.indptr,
        X_shape=np.array(csr.shape),
        format=np.array("csr"),
        barcodes=np.array(list("vwxyz")),
    )
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    return tmp_path, csr


def test_dense_set(folder):
    bunch = load_real("dense")
    assert bunch.data.shape == (4, 6)
    assert bunch.data.dtype == np.float32
    assert bunch.target.tolist() == [0, 1, 0, 1]
    assert bunch.feature_names == list("abcdef")
    assert bunch.class_names == ["no", "yes"]
    assert bunch.image_shape == (2, 3)
    assert bunch.image_order == "F"
    assert bunch.is_train.tolist() == [True, False, True, False]
    assert bunch.categories == {"f": ["x", "y"]}
    assert bunch.source == "made up"
    assert bunch.name == "dense"


def test_sparse_set_is_csr_and_missing_entries_are_none(folder):
    _, csr = folder
    bunch = load_real("sparse")
    assert issparse(bunch.data) and bunch.data.format == "csr"
    np.testing.assert_array_equal(bunch.data.toarray(), csr.toarray())
    assert bunch.barcodes.tolist() == list("vwxyz")
    for key in ("target", "feature_names", "class_names", "image_shape", "is_train", "source"):
        assert bunch[key] is None


def test_names_are_listed_sorted(folder):
    assert list_real() == ["dense", "sparse"]


def test_unknown_name_lists_the_known_ones(folder):
    with pytest.raises(FileNotFoundError, match=r"no data set 'nope'.*dense, sparse"):
        load_real("nope")


def test_folder_that_does_not_exist_names_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError, match=r"EIGENSIEVE_DATA names .*missing.*Set it to a folder"):
        real_data_folder()


def test_no_folder_at_all_names_the_fix(monkeypatch, tmp_path):
    monkeypatch.delenv("EIGENSIEVE_DATA", raising=False)
    monkeypatch.setattr("eigensieve.datasets.real.__file__", str(tmp_path / "a/b/c/d/real.py"))
    with pytest.raises(FileNotFoundError, match=r"Set the environment variable EIGENSIEVE_DATA.*fetch_real"):
        real_data_folder()


def test_pickled_content_is_refused(folder):
    path, _ = folder
    np.savez(path / "evil.npz", X=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load_real("evil")


def test_every_real_set_loads_consistently():
    try:
        names = list_real()
    except FileNotFoundError as error:
        pytest.skip(f"no real data: {error}")
    for name in names:
        bunch = load_real(name)
        n_samples, n_features = bunch.data.shape
        assert bunch.target is None or bunch.target.shape == (n_samples,)
        assert bunch.feature_names is None or len(bunch.feature_names) == n_features
        assert bunch.image_shape is None or np.prod(bunch.image_shape) == n_features
        assert bunch.is_train is None or bunch.is_train.shape == (n_samples,)
