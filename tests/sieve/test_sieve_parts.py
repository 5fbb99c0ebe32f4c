"""The sieve's parts against their naive transcription and against mathematics."""

import numpy as np
import pytest

from eigensieve.data import as_data
from eigensieve.evidence.scores import agreement
from eigensieve.sieve.embedding import (
    N_NEIGHBORS,
    SMOOTHING,
    _eigenpairs,
    clear_columns,
    excess_over_cloud,
    graph_spectrum,
    sample_affinity,
)
from eigensieve.sieve.picking import POWER, RIDGE, pick
from eigensieve.sieve.rounds import _Rounds, sieve, sieve_embedding
from eigensieve.sieve.start import screened
from reference import sieve as naive
from support.backends import FEW, tolerance


@pytest.fixture
def clustered() -> np.ndarray:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((45, 80))
    X[:, :10] += rng.normal(0, 2.5, (3, 10))[np.arange(45) % 3]
    X[np.abs(X) < 0.3] = 0.0
    return X


@pytest.mark.parametrize("backend", FEW)
def test_agreement_equals_the_sum_over_pairs_of_different_samples(clustered: np.ndarray, backend: str) -> None:
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((45, 3)))[0]
    data = as_data(FEW[backend](clustered)).standardized("center")
    expected = naive.agreement(naive.standardise(clustered), V)
    np.testing.assert_allclose(agreement(data, V), expected, atol=tolerance(backend, double=1e-10, single=1e-5))


def test_agreement_of_a_single_extreme_sample_is_nothing() -> None:
    """A feature with one outlier explains that sample and no pair of samples."""
    X = np.zeros((40, 1))
    X[7] = 1.0
    V = np.zeros((40, 1))
    V[7] = 1.0
    m = naive.standardise(X)
    assert (m @ V).item() ** 2 > 0.97
    assert abs(agreement(as_data(X).standardized("center"), V)[0]) < 1e-12


def test_embedding_equals_the_naive_one(clustered: np.ndarray) -> None:
    points = clustered[:, :12]
    spectrum = graph_spectrum(points, 4)
    Q = spectrum.embedding(4)
    expected, values = naive.embedding(points, 4, N_NEIGHBORS, SMOOTHING)
    np.testing.assert_allclose(Q @ Q.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(spectrum.eigenvalues, values, atol=1e-10)
    np.testing.assert_allclose(_eigenpairs(points, 4, vectors=False)[0], values, atol=1e-10)
    np.testing.assert_allclose(Q.sum(axis=0), 0.0, atol=1e-10)


def test_embedding_by_lanczos_equals_the_dense_one() -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((420, 5)) + 6.0 * rng.standard_normal((6, 5))[np.arange(420) % 6]
    Q = graph_spectrum(points, 5).embedding(5)
    expected = naive.embedding(points, 5, N_NEIGHBORS, SMOOTHING)[0]
    np.testing.assert_allclose(Q @ Q.T, expected @ expected.T, atol=1e-3)


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("backend", FEW)
def test_rounds_equal_the_naive_ones(clustered: np.ndarray, backend: str, centered: bool) -> None:
    if "float32" in backend:
        pytest.skip("neighbours at nearly equal distance may swap in single precision")
    data = as_data(FEW[backend](clustered)).standardized("center" if centered else "unit")
    usable = np.ones(80, dtype=bool)
    result = _Rounds(data, usable, 3, centered).run(np.ones(80), "equal", 3)
    M = naive.standardise(clustered, centered)
    expected = naive.rounds(M, np.ones(80), 3, 3, N_NEIGHBORS, SMOOTHING, centered)
    np.testing.assert_allclose(result.scores, expected, atol=1e-8)


def _clusters(n_clusters: int, n_samples: int = 90) -> np.ndarray:
    """Clear clusters at the corners of a simplex."""
    noise = np.random.default_rng(0).standard_normal((n_samples, 8))
    return noise + 12.0 * np.eye(8)[np.arange(n_samples) % n_clusters]


@pytest.mark.parametrize("n_clusters", [2, 3, 5, 8])
@pytest.mark.parametrize("n_samples", [96, 400])
def test_k_clear_clusters_have_k_minus_1_columns_that_stand_out(n_clusters: int, n_samples: int) -> None:
    points = _clusters(n_clusters, n_samples)
    excess = excess_over_cloud(graph_spectrum(points, 20), 20)
    assert (excess[: n_clusters - 1] > 0).all()
    assert clear_columns(excess) == n_clusters - 1


def test_excess_is_that_over_the_largest_of_three_normal_clouds_of_the_same_deviations() -> None:
    points = _clusters(3) @ np.diag([5.0, 1, 1, 1, 1, 1, 0, 0])
    spectrum = graph_spectrum(points, 6)
    rng = np.random.default_rng(0)
    clouds = [rng.standard_normal(points.shape) * points.std(axis=0) for _ in range(3)]
    expected = spectrum.eigenvalues - np.max([graph_spectrum(c, 6).eigenvalues for c in clouds], axis=0)
    np.testing.assert_allclose(excess_over_cloud(spectrum, 6), expected, atol=1e-10)


def test_a_normal_cloud_stands_out_from_normal_clouds_by_chance_only() -> None:
    """Beyond all of three clouds in one of four draws: 40 of 100 is a surprise of one in a thousand."""
    rng = np.random.default_rng(1)
    lengths = np.array([9.0, 3.0, 2.0, 1.0, 1.0])
    clouds = [rng.standard_normal((60, 5)) * lengths for _ in range(100)]
    assert sum(excess_over_cloud(graph_spectrum(cloud, 1), 1)[0] > 0 for cloud in clouds) < 40


def test_columns_stop_where_the_excess_falls_below_half_the_mean_before() -> None:
    assert clear_columns(np.array([0.2, 0.2, 0.2, 0.05, 0.0, 0.0])) == 3
    assert clear_columns(np.array([0.2, 0.2, 0.2, 0.11, 0.0, 0.0])) == 4
    assert clear_columns(np.array([0.1, -0.1, -0.1])) == 1
    assert clear_columns(np.full(6, 0.1)) is None
    assert clear_columns(np.array([-0.1, -0.2, -0.1])) is None


def test_a_manifold_has_no_number_of_clusters() -> None:
    turn = np.linspace(0.0, 2 * np.pi, 200, endpoint=False)
    points = np.hstack([f(turn[:, None] * np.arange(1, 4)) for f in (np.cos, np.sin)])
    assert clear_columns(excess_over_cloud(graph_spectrum(points, 10), 10)) is None


def test_given_k_is_cut_to_k_minus_1_columns_where_the_last_does_not_stand_out() -> None:
    data = as_data(_clusters(3)).standardized("center")
    rounds = _Rounds(data, np.ones(8, dtype=bool), 3, True)
    assert rounds._columns_given([_clusters(3)], 3)[1] == 2
    assert rounds._columns_given([_clusters(4, 120)], 3)[1] == 3


def test_the_graph_alone_shows_ten_clusters_at_most() -> None:
    """Sixteen clear clusters, of which the features' spectrum shows some."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((240, 4)) + 40.0 * rng.standard_normal((16, 4))[np.arange(240) % 16]
    data = as_data(np.random.default_rng(1).standard_normal((240, 6))).standardized("center")
    rounds = _Rounds(data, np.ones(6, dtype=bool), "auto", True)
    assert [rounds._columns_found([points], shown)[1] for shown in (2, 10, 12, 15, 20)] == [10, 10, 12, 15, 15]


@pytest.mark.parametrize("count", [5, 60])
def test_pick_equals_the_naive_one(clustered: np.ndarray, count: int) -> None:
    """Also for more features than samples, where a plain projection has nothing left to judge by."""
    data = as_data(clustered).standardized("center")
    scores = np.random.default_rng(1).random(80)
    order = pick(data, scores, np.arange(80), count)
    assert order.tolist() == naive.pick(naive.standardise(clustered), scores**POWER, count, RIDGE)


def test_pick_leaves_copies_for_later() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    X = np.hstack([X[:, :1]] * 5 + [X[:, 1:]])
    order = pick(as_data(X).standardized("center"), np.full(10, 0.5), np.arange(10), 10)
    assert set(order[:6]) >= {5, 6, 7, 8, 9}


@pytest.mark.parametrize(("score", "order"), [(0.72, [0, 2, 1]), (0.70, [0, 1, 2])])
def test_an_unrelated_feature_goes_before_a_copy_from_one_over_root_two_of_its_score(score: float, order: list) -> None:
    a, b = np.linalg.qr(np.column_stack([np.ones(40), np.random.default_rng(0).standard_normal((40, 2))]))[0].T[1:]
    data = as_data(np.column_stack([a, a, b])).standardized("center")
    assert pick(data, np.array([1.0, 1.0, score]), np.arange(3), 3).tolist() == order


def test_screen_equals_halving_by_squared_correlations(clustered: np.ndarray) -> None:
    M = naive.standardise(clustered)
    kept = np.arange(80)
    for size in (40, 20):
        scores = ((M[kept] @ M[kept].T) ** 2).sum(axis=1)
        kept = np.sort(kept[np.argsort(-scores)[:size]])
    data = as_data(clustered).standardized("center")
    np.testing.assert_array_equal(screened(data, np.ones(80, dtype=bool), keep=20), kept)


def test_screen_takes_a_known_affinity(clustered: np.ndarray) -> None:
    data = as_data(clustered).standardized("center")
    usable = np.arange(80) % 7 > 0
    known = data.gram(usable.astype(float))
    np.testing.assert_array_equal(screened(data, usable, 20, known), screened(data, usable, 20))


@pytest.mark.parametrize("backend", FEW)
@pytest.mark.parametrize("carrying", [5, 60])
def test_affinity_is_the_weighted_sum(clustered: np.ndarray, backend: str, carrying: int) -> None:
    """From the features that carry weight alone, when they are few."""
    weights = np.where(np.arange(80) < carrying, np.linspace(0.1, 1.0, 80), 0.0)
    M = naive.standardise(clustered)
    A = sample_affinity(as_data(FEW[backend](clustered)).standardized("center"), weights)
    np.testing.assert_allclose(A, M.T @ np.diag(weights) @ M, atol=tolerance(backend, double=1e-10, single=1e-4))


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_embedding_alone_is_that_of_the_whole(clustered: np.ndarray, n_clusters: int | str) -> None:
    data, usable = as_data(clustered).standardized("center"), np.arange(80) % 5 > 0
    Q = sieve_embedding(data, usable, n_clusters)  # type: ignore[arg-type]
    np.testing.assert_array_equal(Q, sieve(data, usable, n_clusters).embedding)  # type: ignore[arg-type]


def test_screen_by_passes_equals_the_screen_in_memory(clustered: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_data(clustered).standardized("center")
    usable = np.ones(80, dtype=bool)
    expected = screened(data, usable, keep=20)
    monkeypatch.setattr("eigensieve.sieve.start._IN_MEMORY", 0)
    np.testing.assert_array_equal(screened(data, usable, keep=20), expected)


def test_features_outside_the_mask_influence_nothing(clustered: np.ndarray) -> None:
    usable = np.arange(80) % 4 > 0
    other = clustered.copy()
    other[:, ~usable] = np.random.default_rng(9).standard_normal((45, 20)) * 50
    first = sieve(as_data(clustered).standardized("center"), usable, 3)
    second = sieve(as_data(other).standardized("center"), usable, 3)
    np.testing.assert_allclose(first.scores[usable], second.scores[usable], atol=1e-8)
    assert first.start == second.start
