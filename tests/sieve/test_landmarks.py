"""Many samples: landmarks that are all samples change nothing, and some of them find the same features."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from eigensieve import SieveSelector
from eigensieve.data import as_data, corrected_data, without_feature_directions
from eigensieve.evidence import permuted_excess
from eigensieve.graphs import nearest_among
from eigensieve.sieve import landmarks as module
from eigensieve.sieve.embedding import sample_coordinates, shortened
from eigensieve.sieve.landmarks import combined, landmarks_at, landmarks_of, marginal_excess
from eigensieve.sieve.rounds import _Rounds, sieve
from reference import sieve as naive
from support.backends import BACKENDS, FEW, tolerance

RELEVANT = 8


@pytest.fixture(scope="module")
def clustered() -> np.ndarray:
    """Three clear clusters in the first features of 150 x 60, some zeros, a constant, and a feature of one sample."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 60))
    X[:, :RELEVANT] += rng.normal(0, 3.0, (3, RELEVANT))[np.arange(150) % 3]
    X[np.abs(X) < 0.3] = 0.0
    X[:, 50] = 2.0
    return X


@pytest.fixture
def few_landmarks(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(module, "MAX_LANDMARKS", 70)
    return 70


def _with_landmarks(rounds: _Rounds, rows: np.ndarray) -> _Rounds:
    rounds.__dict__["landmarks"] = landmarks_at(rounds.data, rows, centered=rounds.centered)
    return rounds


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("backend", FEW)
def test_landmarks_that_are_all_samples_change_nothing(clustered: np.ndarray, backend: str, centered: bool) -> None:
    X = np.delete(clustered, 50, axis=1)
    data = as_data(FEW[backend](X)).standardized("center" if centered else "unit")
    weights = np.linspace(0.1, 1.0, X.shape[1])
    settings = (data, np.ones(X.shape[1], dtype=bool), "auto", centered)
    Q, values, _ = _Rounds(*settings).embed(weights)
    found, values_found, _ = _with_landmarks(_Rounds(*settings), np.arange(150)).embed(weights)
    np.testing.assert_allclose(values_found, values, atol=tolerance(backend, double=1e-9, single=1e-3))
    np.testing.assert_allclose(found @ found.T, Q @ Q.T, atol=tolerance(backend, double=1e-6, single=2e-2))


@pytest.mark.parametrize("backend", BACKENDS)
def test_columns_are_standardised_among_the_landmarks(clustered: np.ndarray, backend: str) -> None:
    rows = np.arange(0, 150, 2)
    marks = landmarks_at(as_data(BACKENDS[backend](clustered)).standardized("center"), rows)
    expected = naive.standardise(np.delete(clustered[rows], 50, axis=1)).T
    close = {"atol": tolerance(backend, double=1e-10, single=1e-5)}
    found = marks.data.take(slice(None))
    np.testing.assert_allclose(np.delete(found, 50, axis=1), expected, **close)
    assert not found[:, 50].any()
    assert marks.factor[50] == 0


def test_columns_are_standardised_after_a_correction(clustered: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((150, 2)))[0]
    V = np.linalg.qr(rng.standard_normal((60, 2)))[0]
    data = as_data(clustered).standardized("center")
    data = corrected_data(data, data.project(U - U.mean(axis=0)), U - U.mean(axis=0))[0]
    data = without_feature_directions(data, V)[0]
    rows = np.arange(10, 90)
    Z = data.take(slice(None))[rows]
    Z -= Z.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    expected = np.divide(Z, norms, out=np.zeros_like(Z), where=norms > 1e-9)
    np.testing.assert_allclose(landmarks_at(data, rows).data.take(slice(None)), expected, atol=1e-8)


@pytest.mark.parametrize("layout", ["plain", "shortened"])
def test_samples_are_placed_by_the_landmarks_own_coordinates(clustered: np.ndarray, layout: str) -> None:
    """A copy of a landmark lies where the landmark lies; the landmarks lie as in their own layout."""
    X = np.vstack([clustered, clustered[:40]])
    rows = np.arange(150)
    marks = landmarks_at(as_data(X).standardized("center"), rows)
    weights = marks.allowed(np.linspace(0.1, 1.0, 60))
    coordinates = sample_coordinates(marks.data, weights)
    points = coordinates.points if layout == "plain" else shortened(coordinates, 1.0)
    kept = coordinates.eigenvalues > 1e-10 * coordinates.eigenvalues[0]
    points, values = points[:, kept], coordinates.eigenvalues[kept]
    places = combined(marks.everything, (weights * marks.factor)[:, None] * marks.data.project(points / values))
    places -= places[rows].mean(axis=0)
    np.testing.assert_allclose(places[:150], points, atol=1e-5)
    np.testing.assert_allclose(places[150:], points[:40], atol=1e-5)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((150, 2)))[0]
    assert marks.extended(Q, points, values, weights).shape == (190, 2)


def test_clear_clusters_are_carried_over_to_all_samples(clustered: np.ndarray, few_landmarks: int) -> None:
    data = as_data(clustered).standardized("center")
    usable = np.arange(60) != 50
    result = sieve(data, usable, 3)
    assert result.embedding.shape[0] == 150
    np.testing.assert_allclose(result.embedding.T @ result.embedding, np.eye(result.embedding.shape[1]), atol=1e-10)
    classes = np.eye(3)[np.arange(150) % 3]
    basis = np.linalg.qr(classes - classes.mean(axis=0))[0][:, :2]
    shares = np.linalg.svd(basis.T @ result.embedding, compute_uv=False)
    assert shares.min() > 0.95
    np.testing.assert_allclose(
        result.scores[usable],
        naive.agreement(naive.standardise(clustered[:, usable]), result.embedding),
        atol=1e-8,
    )


@pytest.mark.parametrize(
    ("backend", "count"),
    [("csr", "auto"), *((name, RELEVANT) for name in ("npy", "hdf5-rows", "h5ad-csr-rows", "dask-both", "dask-csr"))],
)
def test_every_backend_selects_the_same(
    clustered: np.ndarray, few_landmarks: int, backend: str, count: int | str
) -> None:
    plain = SieveSelector(count, random_state=0).fit(clustered)
    found = SieveSelector(count, random_state=0).fit(BACKENDS[backend](clustered))
    np.testing.assert_array_equal(found.selection_order_, plain.selection_order_)
    np.testing.assert_allclose(found.weights_, plain.weights_, atol=1e-6)
    assert set(range(RELEVANT)) == set(plain.selection_order_[:RELEVANT].tolist())


def test_the_selection_does_not_depend_on_the_random_state(clustered: np.ndarray, few_landmarks: int) -> None:
    first, second = (SieveSelector(20, random_state=seed).fit(clustered) for seed in (0, 1))
    np.testing.assert_array_equal(first.selection_order_, second.selection_order_)
    np.testing.assert_array_equal(first.weights_, second.weights_)


def test_a_feature_that_does_not_vary_among_the_landmarks_is_scored(clustered: np.ndarray, few_landmarks: int) -> None:
    X = clustered.copy()
    inside = module.chosen_rows(150)
    outside = np.delete(np.arange(150), inside)
    X[:, 20] = 0.0
    X[outside, 20] = (outside % 3 == 0) * 3.0
    model = SieveSelector(RELEVANT + 1).fit(X)
    assert model.weights_[20] > 0.1
    marks = landmarks_of(as_data(X).standardized("center"))
    assert marks is not None
    assert marks.allowed(np.ones(60))[[20, 50]].tolist() == [0.0, 0.0]
    assert (marks.allowed(np.eye(60)[20]) == (marks.factor > 0)).all()


def test_up_to_the_limit_all_samples_are_seen(clustered: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_data(clustered).standardized("center")
    assert landmarks_of(data) is None
    assert landmarks_of(data) is None
    usable = np.arange(60) != 50
    assert marginal_excess(data, usable) == permuted_excess(data, usable)
    monkeypatch.setattr(module, "MAX_LANDMARKS", 149)
    assert landmarks_of(data).data.n_samples == 149
    assert marginal_excess(data, usable) >= 1.0


def test_nearest_among_equals_a_peer() -> None:
    rng = np.random.default_rng(0)
    points, targets = rng.standard_normal((700, 20)) + 50.0, rng.standard_normal((300, 20)) + 50.0
    expected = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(targets)
    np.testing.assert_array_equal(
        np.sort(nearest_among(points, targets, 5), axis=1), np.sort(expected.kneighbors(points)[1], axis=1)
    )
    np.testing.assert_array_equal(
        np.sort(nearest_among(targets, targets, 5), axis=1), np.sort(expected.kneighbors()[1], axis=1)
    )
