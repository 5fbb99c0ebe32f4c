"""The compared samples: landmarks stand for all, keep small groups, and do not depend on the storage."""

from dataclasses import replace

import numpy as np
import pytest

from eigensieve import SieveSelector
from eigensieve.data import as_data, corrected_data, without_feature_directions
from eigensieve.sieve import compared_samples
from eigensieve.sieve import samples as module
from eigensieve.sieve.samples import landmark_rows
from eigensieve.sieve.settings import SETTINGS
from reference import sieve as naive
from support.backends import BACKENDS, tolerance

RELEVANT = 8


@pytest.fixture(scope="module")
def clustered() -> np.ndarray:
    """Three clear clusters in the first features of 150 x 60, some zeros and a constant."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((150, 60))
    X[:, :RELEVANT] += rng.normal(0, 3.0, (3, RELEVANT))[np.arange(150) % 3]
    X[np.abs(X) < 0.3] = 0.0
    X[:, 50] = 2.0
    return X


@pytest.fixture
def few_landmarks(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(module, "SETTINGS", replace(SETTINGS, landmarks=70))
    return 70


def test_up_to_the_limit_all_samples_are_compared(clustered: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_data(clustered).standardized("center")
    assert compared_samples(data).rows is None
    monkeypatch.setattr(module, "SETTINGS", replace(SETTINGS, landmarks=149))
    found = compared_samples(data)
    assert found.rows is not None and len(found.rows) == found.data.n_samples == 149


@pytest.mark.parametrize("backend", BACKENDS)
def test_columns_are_standardised_among_the_landmarks(clustered: np.ndarray, few_landmarks: int, backend: str) -> None:
    marks = compared_samples(as_data(BACKENDS[backend](clustered)).standardized("center"))
    assert marks.rows is not None
    expected = naive.standardise(np.delete(clustered[marks.rows], 50, axis=1)).T
    found = marks.data.take(slice(None))
    np.testing.assert_allclose(
        np.delete(found, 50, axis=1), expected, atol=tolerance(backend, double=1e-10, single=1e-5)
    )
    assert not found[:, 50].any()
    assert marks.factor[50] == 0
    assert marks.allowed(np.ones(60))[50] == 0.0
    assert (marks.allowed(np.eye(60)[50]) == (marks.factor > 0)).all()


def test_columns_are_standardised_after_a_correction(clustered: np.ndarray, few_landmarks: int) -> None:
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((150, 2)))[0]
    V = np.linalg.qr(rng.standard_normal((60, 2)))[0]
    data = as_data(clustered).standardized("center")
    data = corrected_data(data, data.project(U - U.mean(axis=0)), U - U.mean(axis=0))[0]
    data = without_feature_directions(data, V)[0]
    marks = compared_samples(data)
    Z = data.take(slice(None))[marks.rows]
    Z -= Z.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    expected = np.divide(Z, norms, out=np.zeros_like(Z), where=norms > 1e-9)
    np.testing.assert_allclose(marks.data.take(slice(None)), expected, atol=1e-8)


def test_samples_with_many_extreme_values_are_landmarks(few_landmarks: int) -> None:
    X = np.random.default_rng(0).standard_normal((400, 100))
    X[[7, 300], :30] += 8.0
    rows = landmark_rows(as_data(X).standardized("center"), as_data(X))
    assert {7, 300} <= set(rows.tolist())
    assert len(np.unique(rows)) == few_landmarks
    np.testing.assert_array_equal(rows, landmark_rows(as_data(X).standardized("center"), as_data(X)))


def test_a_sample_at_the_place_of_a_landmark_gets_its_structure(clustered: np.ndarray, few_landmarks: int) -> None:
    marks = compared_samples(as_data(clustered).standardized("center"))
    assert marks.rows is not None
    group = np.arange(150) % 3
    V = np.eye(3)[group[marks.rows]] - 1 / 3
    whole = marks.extended(V, 10.0 * np.eye(3)[group] + 0.01 * np.random.default_rng(0).standard_normal((150, 3)))
    same = group[:, None] == group
    assert (whole @ whole.T)[same].min() > (whole @ whole.T)[~same].max()
    assert np.linalg.norm(whole, 2) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("backend", "count"),
    [("csr", "auto"), *((name, RELEVANT) for name in ("npy", "hdf5-rows", "h5ad-csr-rows", "dask-both", "dask-csr"))],
)
def test_every_backend_selects_the_same(
    clustered: np.ndarray, few_landmarks: int, backend: str, count: int | str
) -> None:
    plain = SieveSelector(count).fit(clustered)
    found = SieveSelector(count).fit(BACKENDS[backend](clustered))
    np.testing.assert_array_equal(found.selection_order_, plain.selection_order_)
    np.testing.assert_allclose(found.weights_, plain.weights_, atol=1e-6)
    assert set(range(RELEVANT)) == set(plain.selection_order_[:RELEVANT].tolist())
    group = np.arange(150) % 3
    groups = np.linalg.qr(np.eye(3)[group] - 1 / 3)[0][:, :2]
    leading = np.linalg.svd(plain.embedding_, full_matrices=False)[0][:, :2]
    assert np.linalg.svd(groups.T @ leading, compute_uv=False).min() > 0.95


def test_a_small_group_in_many_samples_is_found() -> None:
    """20 of 6,000 samples differ in 20 features of their own, 1 in 300; 2,000 random landmarks would hold 7."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6_000, 300), dtype=np.float32)
    members = rng.choice(6_000, 20, replace=False)
    X[np.ix_(members, np.arange(20))] += 5.0
    model = SieveSelector(20).fit(X)
    assert np.mean(model.selection_order_ < 20) >= 0.85


@pytest.mark.parametrize(("own", "expected"), [(1.0, 11), (0.0, 47)])
def test_samples_of_a_donor_count_as_far_as_they_differ(own: float, expected: int) -> None:
    rng = np.random.default_rng(0)
    donors = np.repeat(np.arange(12), 4)
    X = own * rng.standard_normal((12, 4_000))[donors] + (1.0 - own) * rng.standard_normal((48, 4_000))
    data = as_data(X).standardized("center")
    assert abs(compared_samples(data, donors).dimensions - expected) <= 1
    assert compared_samples(data).dimensions == 47
